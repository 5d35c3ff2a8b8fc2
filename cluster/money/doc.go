// Package money counts in whole pico-dollars (1e-12 USD), the finest unit in
// which a list price per token is a whole number. An int64 of them holds
// 9.2 million dollars. Sums saturate instead of wrapping around. Nothing here
// is a float: a decimal text comes in and a decimal text goes out.
package money
