// Package message has the HTTP messages of an exchange in a form that belongs to no
// transport: what the stages change of a request or a response, and the responses that
// they make themselves. An attachment translates it for its proxy; package frame encodes it
// for Envoy.
package message

// Header is one header to set. It replaces all headers of its name.
type Header struct {
	Name  string
	Value string
}

// Edit is a change of a request or a response.
type Edit struct {
	Set     []Header
	Remove  []string
	Body    []byte // the new body, if Replace
	Replace bool   // Body takes the place of the old body; empty means that none is left
}

// Response is a response that the gateway makes itself.
type Response struct {
	Status int
	Set    []Header
	Body   []byte
	Reason string // for the proxy's log; empty for none
}
