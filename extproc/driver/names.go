package driver

import "github.com/modelgateway/modelgateway/extproc/wire"

// Namer is a Codec that sends some tools under other names than the caller's. Implementations are safe for
// concurrent use and do not block.
type Namer interface {
	// ToolName returns the caller's name of a tool that the provider names.
	ToolName(r *wire.Request, sent string) string
}

// Names gives calls the names that the caller has for their tools. The zero Names changes none.
type Names struct {
	of      Namer // nil if the names are the same
	request *wire.Request
}

// NamesOf returns the names of the tools of a request, which may be nil, that went through a codec, which may be nil.
func NamesOf(c Codec, r *wire.Request) Names {
	if of, ok := c.(Namer); ok && r != nil {
		return Names{of, r}
	}
	return Names{}
}

// Response changes the names in a response.
func (n Names) Response(reply *wire.Response) {
	if n.of == nil {
		return
	}
	for i := range reply.Choices {
		for j := range reply.Choices[i].ToolCalls {
			call := &reply.Choices[i].ToolCalls[j]
			call.Name = n.of.ToolName(n.request, call.Name)
		}
	}
}

// Chunk changes the name in a step of a stream.
func (n Names) Chunk(c *wire.Chunk) {
	if n.of != nil && c.Tool != nil && c.Tool.Name != "" {
		c.Tool.Name = n.of.ToolName(n.request, c.Tool.Name)
	}
}
