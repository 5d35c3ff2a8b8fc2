package vertex

import (
	"strings"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/mistral"
	"github.com/modelgateway/modelgateway/extproc/openai"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// mistralCodec translates to Mistral's language. The body names the model without its version, which only the address has.
type mistralCodec struct{ mistral.Driver }

// Encode writes a request.
func (c mistralCodec) Encode(r *wire.Request, t driver.Target) ([]byte, error) {
	t.Model, _, _ = strings.Cut(t.Model, "@")
	return c.Driver.Encode(r, t)
}

// openCodec translates to OpenAI's language of chats. A model at an endpoint of the project's has no name.
type openCodec struct{ openai.Driver }

// Encode writes a request.
func (c openCodec) Encode(r *wire.Request, t driver.Target) ([]byte, error) {
	if of, _ := familyOf(t.Model); of == own {
		t.Model = ""
	}
	return c.Driver.Encode(r, t)
}
