package contents

import "github.com/modelgateway/modelgateway/extproc/splice"

// Array turns the events of a stream into the elements of an array, as Google does for clients that do not
// ask for events. The zero value is ready.
type Array struct {
	split splice.Splitter
	begun bool
	out   []byte
}

// Add takes whole events, and returns what goes out in their place. It is valid until the next call.
func (a *Array) Add(events []byte) []byte {
	a.out = a.out[:0]
	a.split.Push(events)
	var e splice.Event
	for a.split.Next(&e) {
		if len(e.Data) == 0 {
			continue
		}
		a.out = append(append(a.out, a.separator()...), e.Data...)
	}
	return a.out
}

// End is Add for the events that end the stream.
func (a *Array) End(events []byte) []byte {
	a.Add(events)
	if !a.begun {
		a.out = append(a.out, a.separator()...)
	}
	a.out = append(a.out, "]\n"...)
	return a.out
}

// separator returns what stands before the next element.
func (a *Array) separator() string {
	if a.begun {
		return ",\r\n"
	}
	a.begun = true
	return "["
}
