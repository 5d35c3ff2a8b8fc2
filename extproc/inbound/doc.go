// Package inbound reads what a caller says to the gateway itself: its headers, and the gateway's
// own fields of the body. What it keeps is bounded, and errors name the header or the field. It
// decides nothing: whether the caller may do what it asks for is up to the pipeline.
package inbound
