package operation

import (
	"github.com/modelgateway/modelgateway/dataplane"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Passed returns the operations of requests that are passed on unread, by the prefix of their path. Their language is that
// of the errors that the gateway itself sends.
func Passed() map[string]*Operation {
	out := make(map[string]*Operation)
	for _, prefix := range dataplane.PassedPrefixes() {
		language := dataplane.Language(prefix + "/")
		if language == "" {
			language = string(wire.OpenAI)
		}
		out[prefix] = &Operation{
			CallType: dataplane.Passthrough, Language: languages()[language], Endpoint: driver.Passed, Blob: true, Reader: Reader{Free: true},
		}
	}
	return out
}

// Passes reports whether requests are passed on unread.
func (o *Operation) Passes() bool { return o.CallType == dataplane.Passthrough }
