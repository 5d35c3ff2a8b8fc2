package driver

import (
	"time"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Driver is one kind of provider. Implementations are safe for concurrent use and do not block.
type Driver interface {
	// Serves returns the language in which the provider takes the requests of an endpoint for a
	// target, and false if it takes none. In the endpoint's own language a request is passed
	// through. Chat, Messages and Responses are one operation in several languages: in another
	// one than the caller's it is translated, with Codec.
	Serves(t Target, e Endpoint) (wire.Dialect, bool)
	// Codec returns the translator of a language of chats that Serves returns.
	Codec(language wire.Dialect) Codec
	// Address returns where a request goes and with which headers, credentials included. It
	// suffices if the body is passed through. The error is a *fault.Error of kind Unsupported
	// if the provider does not serve the endpoint.
	Address(t Target, op Operation) (Call, error)
	// Classify returns what a response with another status means. header returns
	// the first value of a header by its lower-case name, empty if there is none.
	Classify(status int, header func(string) string, body []byte) *wire.Failure
}

// Signer is a Driver that signs its requests. Implementations are safe for concurrent use and do
// not block.
type Signer interface {
	// Sign adds the headers that prove who sends a call. It is called last: with the final path, headers
	// and body. host is the request's :authority. The error is a *fault.Error.
	Sign(c *Call, t Target, host string, at time.Time) error
}

// Framer is a Driver with streams that are not server-sent events. Implementations are safe for
// concurrent use and do not block.
type Framer interface {
	// Framing returns how the streams of a language that Serves returns are split into events.
	Framing(language wire.Dialect) Framing
}

// Framing is how a stream is split into events, whatever these mean.
type Framing uint8

// The framings.
const (
	ServerSent Framing = iota // server-sent events
	AWSEvents                 // AWS's binary events; the type of a frame is the name of its event
	AWSChunks                 // the same, around the events of a model's own API
)

// Passer is a Driver whose provider has a vendor's language with differences, which requests that are passed on get as
// well. Implementations are safe for concurrent use and do not block.
type Passer interface {
	// InsteadOfModel returns what a JSON body has in place of what the address says.
	InsteadOfModel(t Target, e Endpoint, asked *Asked) Instead
	// VendorHeader returns the value of a header that the vendor's clients send; empty if the provider does not get it.
	VendorHeader(name, value string, e Endpoint) string
}

// Asked is what a request that is passed on says of the vendor's API.
type Asked struct {
	Version string // of the API that the caller asks for; empty for none
	Betas   string // features of the API that are not stable yet, with commas between them
	Body    []byte // as the caller sends it
}

// Instead is what a JSON body has in place of what the address says.
type Instead struct {
	Members string          // in place of the model; empty if the body names it
	Remove  splice.FieldSet // what else the address says, or the provider lacks
}

// Codec translates chats to one language of providers. Implementations are safe for concurrent
// use and do not block.
type Codec interface {
	// Encode writes a request's body. The error is a *fault.Error that
	// names the field of the caller's request that the provider cannot take.
	Encode(r *wire.Request, t Target) ([]byte, error)
	// Decode reads a whole response that came with status 200. The error is a *wire.Failure.
	Decode(body []byte) (*wire.Response, error)
	// Stream returns a decoder for one streamed response.
	Stream() Stream
}

// Stream decodes one streamed response. It is not safe for concurrent use.
type Stream interface {
	// Event takes one complete event and appends what it means to dst. Events of AWS that
	// are failures have names that end with Exception. It must not be called after a failure, which is a
	// *wire.Failure. Events after the provider's last one are ignored. The chunks
	// do not alias data.
	Event(dst []wire.Chunk, name string, data []byte) ([]wire.Chunk, error)
	// Complete reports whether the response is complete. A stream that ends
	// before it was cut.
	Complete() bool
	// Ended reports whether nothing more follows that counts: neither content nor usage.
	Ended() bool
	// Usage returns what has been reported so far.
	Usage() wire.Usage
	// Model returns the provider's name of the model; empty if it has sent none.
	Model() string
}

// Target is the deployment that a request goes to.
type Target struct {
	Deployment      string         // its id
	Model           string         // the provider's name of the model
	BasePath        string         // path part of the deployment's base address, such as /v1; may be empty
	APIKey          vault.Secret   // empty if the provider needs none
	Settings        cloud.Settings // of the deployment's account at a cloud
	Token           cloud.Token    // the credential that is made of them; zero if there is none
	Headers         []Header       // set last, so that they replace the driver's own
	MaxOutputTokens int64          // most that the model can write; 0 if not known
	DropParams      bool           // drop parameters that the provider lacks, instead of rejecting them
	API             API            // the interface that chats go to; AnyAPI if the driver chooses
	Features        Features
}

// Features is how a model differs from others of its provider.
type Features struct {
	NoSampling       bool // rejects temperature, top_p and top_k: they are dropped
	OneSampling      bool // takes temperature or top_p, and rejects both
	AdaptiveThinking bool // decides by itself how much to think, given an effort
	AlwaysThinks     bool // cannot turn thinking off: no effort, or the least, becomes the least that it takes
	Speaks           bool // can respond in sound
	SignedCalls      bool // requires the ids and signatures of the calls in the history
	HighEfforts      bool // has the efforts xhigh and max
	JSONSchema       bool // supports a JSON schema natively
	NoReasoning      bool // does not think, and rejects an effort or a budget for it: these are dropped
	ResponsesOnly    bool // has no endpoint for chats but /responses
	ChatOnly         bool // has no endpoint for completions
	LongCache        bool // can keep what it caches for an hour

	// Family names models that are alike, at providers that have models of several makers.
	Family string
}

// Header is a header to set. Values may be credentials and are treated as such.
type Header struct {
	Name     string // lower case
	Value    vault.Secret
	IfAbsent bool // keep the caller's own value, if there is one
}

// Endpoint is an endpoint of a provider, named by OpenAI's path.
type Endpoint string

// The endpoints. Messages and CountTokens are Anthropic's, Contents and ContentsCount are Google's, Converse and ConverseCount are
// Bedrock's, Turns is Cohere's, and have no path of OpenAI's. Rerank is
// Cohere's, and compatible providers have it under this path.
const (
	Chat           Endpoint = "/chat/completions"
	Completions    Endpoint = "/completions"
	Embeddings     Endpoint = "/embeddings"
	Images         Endpoint = "/images/generations"
	ImageEdits     Endpoint = "/images/edits"
	Speech         Endpoint = "/audio/speech"
	Transcriptions Endpoint = "/audio/transcriptions"
	Translations   Endpoint = "/audio/translations"
	Moderations    Endpoint = "/moderations"
	Rerank         Endpoint = "/rerank"
	Responses      Endpoint = "/responses"
	InputTokens    Endpoint = "/responses/input_tokens"
	Messages       Endpoint = "/messages"
	CountTokens    Endpoint = "/messages/count_tokens"
	Contents       Endpoint = "/generateContent"
	ContentsCount  Endpoint = "/countTokens"
	Converse       Endpoint = "/converse"
	ConverseCount  Endpoint = "/count-tokens"
	Turns          Endpoint = "/v2/chat"
)

// Passed stands for the paths of a provider that the gateway does not serve itself. No driver serves it; see Through.
const Passed Endpoint = "passed"

// IsChat reports whether requests of the endpoint are chats, which can be translated.
func (e Endpoint) IsChat() bool {
	return e == Chat || e == Messages || e == Responses || e == Contents || e == Converse || e == Turns
}

// Operation is one request, as far as its address depends on it.
type Operation struct {
	Endpoint Endpoint
	Stream   bool   // some providers stream at another path
	Place    string // as Rewrite has returned it; empty if the request is not rewritten
}

// Call is a request to a provider.
type Call struct {
	Method  string // empty for POST
	Path    string
	Headers []Header
	Body    []byte
	Bare    bool // the caller's query does not go with it
}
