package gemini

import (
	"github.com/modelgateway/modelgateway/extproc/driver"
)

// Rewrites reports whether Codec rewrites the requests of an endpoint.
func Rewrites(e driver.Endpoint) bool {
	return e == driver.Images || e == driver.Transcriptions
}

// Method returns the end of the path of a request to a model: the method for an operation other than embeddings.
func Method(model string, op driver.Operation) string {
	switch {
	case op.Endpoint == driver.Images && IsImagen(model):
		return ":predict"
	case op.Stream && !Rewrites(op.Endpoint):
		return ":streamGenerateContent?alt=sse"
	}
	return ":generateContent"
}

// Rewrite writes a request for embeddings, and those that Codec rewrites.
func (Driver) Rewrite(r *driver.Original, t driver.Target) (driver.Rewritten, error) {
	if r.Endpoint == driver.Embeddings {
		return embed(r, t)
	}
	return Codec{}.Rewrite(r, t)
}

// Restore writes a response in OpenAI's form.
func (Driver) Restore(r *driver.Original, body []byte, model string) (driver.Restored, error) {
	if r.Endpoint == driver.Embeddings {
		return RestoreEmbeddings(body, model)
	}
	return Codec{}.Restore(r, body, model)
}

// Rewrite writes a request that is neither a chat nor for embeddings: for pictures, or a transcription.
func (c Codec) Rewrite(r *driver.Original, t driver.Target) (driver.Rewritten, error) {
	if r.Endpoint == driver.Transcriptions {
		body, err := c.hear(r, t)
		return driver.Rewritten{Body: body, Media: "application/json"}, err
	}
	body, err := c.draw(r, t)
	return driver.Rewritten{Body: body}, err
}

// Restore writes the response to such a request in OpenAI's form.
func (c Codec) Restore(r *driver.Original, body []byte, model string) (driver.Restored, error) {
	if r.Endpoint == driver.Transcriptions {
		return c.heard(r, body)
	}
	return c.drawn(r, body, model)
}
