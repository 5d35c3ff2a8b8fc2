package driver

import "github.com/modelgateway/modelgateway/extproc/wire"

// Rewriter is a Driver whose provider has a language of its own for endpoints other than chats. Their
// requests and responses have no canonical form: a request is rewritten from OpenAI's form, or Cohere's for
// rankings, and its response back. It serves those for which Serves returns another language than OpenAI's.
// Sound that a provider generates passes as it comes, unless it is a Speaker. Implementations are safe for concurrent use and do not block.
type Rewriter interface {
	// Rewrite returns the provider's request. The error is a *fault.Error that names the member of
	// the caller's request that the provider cannot take.
	Rewrite(r *Original, t Target) (Rewritten, error)
	// Restore returns a response that came with status 200 in OpenAI's form. model is the provider's name
	// of the model. The error is a *wire.Failure.
	Restore(r *Original, body []byte, model string) (Restored, error)
}

// Speaker is a Rewriter whose provider sends speech within a response of another type, which Restore turns into sound. Implementations are
// safe for concurrent use and do not block.
type Speaker interface {
	// SpeechIn returns the media type of such a response, if it is whole.
	SpeechIn() string
	// SpeechStream returns what turns the events of such a response into those of OpenAI's API.
	SpeechStream(r *Original) SpeechStream
}

// SpeechStream turns the events of one response with speech into OpenAI's. It is not safe for concurrent use.
type SpeechStream interface {
	// Event takes the data of an event, and appends what the caller gets in its place. It must not be called after a failure, which is
	// a *wire.Failure.
	Event(dst, data []byte) ([]byte, error)
	// End appends the last event of a complete response.
	End(dst []byte) []byte
	// Complete reports whether the response is complete.
	Complete() bool
	// Usage returns what has been reported so far.
	Usage() wire.Usage
}

// Rewritten is a request in a provider's language.
type Rewritten struct {
	Body  []byte // may be a part of the original's bytes
	Media string // its content type; empty if it is that of the original
	Place string // what the address depends on besides the endpoint; Operation.Place in Address
}

// Restored is a response in OpenAI's form.
type Restored struct {
	Body  []byte
	Media string     // its content type; empty if it is JSON
	Usage wire.Usage // what the provider reports and Body does not
}
