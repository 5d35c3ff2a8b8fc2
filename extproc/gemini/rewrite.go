package gemini

import (
	"github.com/modelgateway/modelgateway/extproc/driver"
)

// Rewrites reports whether Codec rewrites the requests of an endpoint for a model.
func Rewrites(model string, e driver.Endpoint) bool {
	switch e { //nolint:exhaustive // Google has no form for the others
	case driver.ImageEdits:
		return !IsImagen(model)
	case driver.Images, driver.Speech, driver.Transcriptions, driver.Translations, driver.CountTokens, driver.InputTokens, driver.ConverseCount:
		return true
	}
	return false
}

// Method returns the end of the path of a request to a model: the method for an operation other than embeddings.
func Method(model string, op driver.Operation) string {
	switch {
	case op.Endpoint == driver.Images && IsImagen(model):
		return ":predict"
	case isCount(op.Endpoint):
		return ":countTokens"
	case op.Stream && !Rewrites(model, op.Endpoint), op.Place == streamed:
		return ":streamGenerateContent?alt=sse"
	}
	return ":generateContent"
}

// SpeechIn returns the media type of responses with speech in them.
func (Driver) SpeechIn() string { return mediaJSON }

// SpeechStream returns what turns the events of a response with speech into OpenAI's.
func (Driver) SpeechStream(r *driver.Original) driver.SpeechStream { return newSpeechStream(r) }

// mediaJSON is the media type of responses.
const mediaJSON = "application/json"

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

// isCount reports whether an endpoint counts the tokens of a chat.
func isCount(e driver.Endpoint) bool {
	return e == driver.CountTokens || e == driver.InputTokens || e == driver.ConverseCount || e == driver.ContentsCount
}

// isHeard reports whether an endpoint has a recording written down.
func isHeard(e driver.Endpoint) bool { return e == driver.Transcriptions || e == driver.Translations }

// Rewrite writes a request that is neither a chat nor for embeddings: for pictures, speech, a transcription, or a count of tokens.
func (c Codec) Rewrite(r *driver.Original, t driver.Target) (out driver.Rewritten, err error) {
	switch {
	case isCount(r.Endpoint):
		out.Body, err = c.count(r, t)
	case isHeard(r.Endpoint):
		out.Body, err = c.hear(r, t)
		out.Media = mediaJSON
	case r.Endpoint == driver.Speech:
		return c.speak(r, t)
	default:
		out.Body, err = c.draw(r, t)
		out.Media = mediaJSON
	}
	return out, err
}

// Restore writes the response to such a request in OpenAI's form; a count in the caller's.
func (c Codec) Restore(r *driver.Original, body []byte, model string) (driver.Restored, error) {
	switch {
	case isCount(r.Endpoint):
		return restoreCount(r, body)
	case isHeard(r.Endpoint):
		return c.heard(r, body)
	case r.Endpoint == driver.Speech:
		return c.restoreSpeech(r, body)
	}
	return c.drawn(r, body, model)
}
