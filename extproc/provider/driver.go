package provider

import (
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Driver speaks with one sort of provider. Implementations are safe for
// concurrent use and do not block.
type Driver interface {
	// Address says where a request goes and with which headers, credentials
	// included. It is all that is needed where the body is passed through. The
	// error is a *fault.Error of kind Unsupported if the provider has no such endpoint.
	Address(t Target, op Operation) (Call, error)
	// Encode writes a chat request's body. The error is a *fault.Error that
	// names the field of the caller's request that the provider cannot take.
	Encode(ask *wire.Ask, t Target) ([]byte, error)
	// Decode reads a whole chat answer that came with status 200. The error is a *wire.Failure.
	Decode(body []byte) (*wire.Reply, error)
	// Stream returns a decoder for one streamed chat answer.
	Stream() Stream
	// Classify says what an answer with another status means. header returns
	// the first value of a header by its lower-case name, empty if there is none.
	Classify(status int, header func(string) string, body []byte) *wire.Failure
}

// Stream decodes one streamed answer. It is not safe for concurrent use.
type Stream interface {
	// Event takes one complete server-sent event and appends what it means to
	// dst. After a failure, which is a *wire.Failure, nothing more is to be
	// fed. Events after the provider's last word are ignored. The chunks do not
	// alias data.
	Event(dst []wire.Chunk, name string, data []byte) ([]wire.Chunk, error)
	// Complete reports whether the answer is whole. A stream that ends before
	// was cut.
	Complete() bool
	// Usage returns what has been reported so far.
	Usage() wire.Usage
	// Model returns the model that the provider says answers; empty if it has not said.
	Model() string
}

// Target is the deployment that a request goes to.
type Target struct {
	Model           string       // the provider's name of the model
	BasePath        string       // path part of the deployment's base address, such as /v1; may be empty
	APIKey          vault.Secret // empty if the provider needs none
	Headers         []Header     // set last, so that they replace the driver's own
	MaxOutputTokens int64        // most that the model can write; 0 if not known
	DropParams      bool         // drop parameters that the provider lacks, instead of refusing them
	Features        Features
}

// Features is how a model differs from others of its provider.
type Features struct {
	NoSampling       bool // refuses temperature, top_p and their like: they are dropped
	AdaptiveThinking bool // decides by itself how much to think, given an effort
	HighEfforts      bool // knows the efforts xhigh and max
	JSONSchema       bool // holds itself to a JSON schema natively
}

// Header is a header to set. Values may be credentials and are treated as such.
type Header struct {
	Name     string // lower case
	Value    vault.Secret
	IfAbsent bool // leave the caller's own value, if there is one
}

// Endpoint is what is asked of a provider, named by OpenAI's path.
type Endpoint string

// The endpoints. Messages and CountTokens are Anthropic's and have no path of OpenAI's.
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
	Messages       Endpoint = "/messages"
	CountTokens    Endpoint = "/messages/count_tokens"
)

// Operation is one request, as far as its address depends on it.
type Operation struct {
	Endpoint Endpoint
	Stream   bool // no driver here needs it; providers that stream at another path do
}

// Call is a request to a provider.
type Call struct {
	Path    string
	Headers []Header
	Body    []byte
}

// Provider is what is known of a provider without asking it.
type Provider struct {
	Name      string       // as in a deployment's configuration
	Speaks    wire.Dialect // callers of this dialect are passed through
	BaseURL   string       // default base address; empty if a deployment must give one
	NeedsKey  bool
	NeedsBase bool
	Like      string // name of the provider whose driver and goldens it shares; empty if its own
	Driver    Driver

	// Features returns the features of a model by the provider's name for it.
	// nil means that all models of the provider have the zero Features.
	Features func(model string) Features
}

// Providers lists every provider. It is written out, so that the list of what
// is supported can be read in one place.
func Providers() []Provider {
	rows := []Provider{
		{Name: "openai", BaseURL: "https://api.openai.com/v1", NeedsKey: true, Driver: openAI{newLimit: true}},
		{Name: "anthropic", Speaks: wire.Anthropic, BaseURL: "https://api.anthropic.com", NeedsKey: true, Driver: anthropic{}, Features: claudeFeatures},
	}
	for _, c := range []struct {
		name, base string
		driver     openAI
	}{
		{"groq", "https://api.groq.com/openai/v1", openAI{}},
		{"together_ai", "https://api.together.xyz/v1", openAI{}},
		{"fireworks_ai", "https://api.fireworks.ai/inference/v1", openAI{}},
		{"deepseek", "https://api.deepseek.com", openAI{givesThinkingBack: true}},
		{"xai", "https://api.x.ai/v1", openAI{}},
		{"openrouter", "https://openrouter.ai/api/v1", openAI{}},
		{"perplexity", "https://api.perplexity.ai", openAI{}},
		{"ollama", "", openAI{underV1: true}},
		{"hosted_vllm", "", openAI{underV1: true}},
		{"openai_compatible", "", openAI{}},
	} {
		rows = append(rows, Provider{
			Name: c.name, BaseURL: c.base, NeedsKey: c.base != "", NeedsBase: c.base == "", Like: "openai", Driver: c.driver,
		})
	}
	for i := range rows {
		if rows[i].Speaks == "" {
			rows[i].Speaks = wire.OpenAI
		}
	}
	return rows
}

// ByName returns the provider of that name.
func ByName(name string) (Provider, bool) {
	for _, p := range Providers() {
		if p.Name == name {
			return p, true
		}
	}
	return Provider{}, false
}

// Translate makes the whole call for a chat request.
func Translate(d Driver, ask *wire.Ask, t Target) (Call, error) {
	call, err := d.Address(t, Operation{Endpoint: Chat, Stream: ask.Stream})
	if err != nil {
		return Call{}, err
	}
	call.Headers = withHeaders([]Header{plain("content-type", "application/json")}, call.Headers)
	call.Body, err = d.Encode(ask, t)
	return call, err
}

// plain is a header that is no secret.
func plain(name, value string) Header {
	return Header{Name: name, Value: vault.NewSecret(value)}
}

// withHeaders returns own with more, where more replaces headers of the same name.
func withHeaders(own, more []Header) []Header {
	out := make([]Header, 0, len(own)+len(more))
	for _, h := range own {
		replaced := false
		for _, m := range more {
			replaced = replaced || strings.EqualFold(m.Name, h.Name)
		}
		if !replaced {
			out = append(out, h)
		}
	}
	return append(out, more...)
}

// endpointPath puts an endpoint behind a base path. Operators like to configure
// the whole address of the chat endpoint; it is taken for what they mean.
func endpointPath(base string, e Endpoint) string {
	base = strings.TrimRight(base, "/")
	if strings.HasSuffix(base, string(e)) {
		return base
	}
	return base + string(e)
}

// codeUnsupported is the code of what a provider lacks.
const codeUnsupported = "unsupported_parameter"

// unsupported refuses a parameter that the provider lacks.
func unsupported(param, provider string) error {
	return fault.Field(param, codeUnsupported, "%s is not supported by %s; leave it out, or set drop_params on the deployment.", param, provider)
}

// unsendable refuses a piece of content that the provider cannot take.
// drop_params does not help there: content is never dropped.
func unsendable(param, what, provider string) error {
	return fault.Field(param, codeUnsupported, "%s: %s cannot be sent to %s.", param, what, provider)
}
