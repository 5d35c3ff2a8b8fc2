package pipeline

import (
	"github.com/modelgateway/modelgateway/dataplane"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/estimate"
	"github.com/modelgateway/modelgateway/extproc/openai"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// operation is a row of the table of operations, with the code that reads its requests.
type operation struct {
	callType string
	language dialect.Dialect
	endpoint driver.Endpoint
	request  dataplane.Form
	response string // media type
	stream   string // media type
	streamed string // content type that the caller's stream has
	reader
}

// reader reads the requests of an operation.
type reader struct {
	scan  func(body []byte, facts *splice.Request) error
	bound func(facts *splice.Request, body []byte, model string) int64 // at most this many tokens of input
	rough func(facts *splice.Request) int64                            // about this many
}

// name returns the call type. It is empty before the request is decoded.
func (o *operation) name() string {
	if o == nil {
		return ""
	}
	return o.callType
}

// readers returns the reader of each operation, by call type.
func readers() map[string]reader {
	return map[string]reader{
		dataplane.Chat: {scan: splice.Scan, bound: estimate.ChatInput, rough: estimate.RoughChatInput},
	}
}

// languages returns the languages of callers, by name.
func languages() map[string]dialect.Dialect {
	return map[string]dialect.Dialect{string(wire.OpenAI): openai.Dialect{}}
}

// operations returns the operations by path.
func operations() map[string]*operation {
	out := make(map[string]*operation)
	for _, row := range dataplane.Operations() {
		op := &operation{
			callType: row.CallType, language: languages()[row.Language], endpoint: driver.Endpoint(row.Path),
			request: row.Request, response: row.Response, stream: row.Stream, streamed: row.Stream + "; charset=utf-8", reader: readers()[row.CallType],
		}
		for _, path := range row.Paths() {
			out[path] = op
		}
	}
	return out
}
