// Package message has the HTTP messages of an exchange in a form that belongs to no
// transport: what the stages change of a request or a response, and the responses that
// they make themselves. An attachment translates it for its proxy; package frame encodes it
// for Envoy.
package message

import "github.com/modelgateway/modelgateway/extproc/splice"

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

	// Splices are what is still to change in Body, in order. A long body can be sent around them,
	// and is then in memory once.
	Splices []splice.Edit
}

// Length returns the length of the new body.
func (e *Edit) Length() int { return splice.Length(e.Body, e.Splices) }

// Splice changes in Body what is still to change.
func (e *Edit) Splice() {
	e.Body, e.Splices = splice.Apply(nil, e.Body, e.Splices), nil
}

// Response is a response that the gateway makes itself.
type Response struct {
	Status int
	Set    []Header
	Body   []byte
	Reason string // for the proxy's log; empty for none
}

// Has reports whether a list has a header, by its name in lower case.
func Has(list []Header, name string) bool {
	for i := range list {
		if list[i].Name == name {
			return true
		}
	}
	return false
}
