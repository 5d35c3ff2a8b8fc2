package bedrock

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/extproc/anthropic"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// claudeVersion is the version of Anthropic's API in the bodies of InvokeModel.
const claudeVersion = "bedrock-2023-05-31"

// Claude translates chats to and from Anthropic's language, for InvokeModel. The operation, and not the body, says
// whether the response is streamed.
type Claude struct{ anthropic.Driver }

// Encode writes a request of InvokeModel.
func (c Claude) Encode(in *wire.Request, t driver.Target) ([]byte, error) {
	whole := *in
	whole.Stream, whole.Messages = false, withProofs(in.Messages)
	whole.Extra = slices.DeleteFunc(slices.Clone(in.Extra), func(f wire.Field) bool { return f.Name == "service_tier" }) // it is a header there
	return c.Driver.Encode(&whole, t)
}

// withProofs returns messages in which the proofs that Converse has given are Anthropic's: they are the same.
func withProofs(in []wire.Message) []wire.Message {
	var out []wire.Message
	for i := range in {
		for j := range in[i].Parts {
			proof, ok := wire.Unmark(wire.Converse, in[i].Parts[j].Signature)
			if !ok {
				continue
			}
			if out == nil {
				out = slices.Clone(in)
			}
			if &out[i].Parts[0] == &in[i].Parts[0] {
				out[i].Parts = slices.Clone(in[i].Parts)
			}
			out[i].Parts[j].Signature = proof
		}
	}
	if out == nil {
		return in
	}
	return out
}

// Stream returns a decoder of Anthropic's events, which come in frames of AWS's.
func (c Claude) Stream() driver.Stream { return &invokedStream{c.Driver.Stream()} }

// invokedStream is a stream of a model's own events.
type invokedStream struct{ driver.Stream }

// Event reads an event. A failure may be one of AWS's.
func (s *invokedStream) Event(dst []wire.Chunk, name string, data []byte) ([]wire.Chunk, error) {
	if strings.HasSuffix(name, "Exception") {
		return dst, failureIn(name, data)
	}
	return s.Stream.Event(dst, name, data)
}

// betas lists the beta features of Anthropic's API that Claude has at Bedrock: others end a request with an error.
func betas() []string {
	return []string{
		"claude-code-20250219", "compact-2026-01-12", "computer-use-2024-10-22", "computer-use-2025-01-24", "computer-use-2025-11-24", "context-1m-2025-08-07",
		"context-management-2025-06-27", "dev-full-thinking-2025-05-14", "effort-2025-11-24", "fine-grained-tool-streaming-2025-05-14",
		"interleaved-thinking-2025-05-14", "output-128k-2025-02-19", "token-efficient-tools-2025-02-19", "tool-examples-2025-10-29", "tool-search-tool-2025-10-19",
	}
}

// InsteadOfModel returns what bodies of InvokeModel have and Anthropic's own do not: the version of the API, and the beta
// features, which are in a header there. The operation says whether the response is streamed. The tier is a header here, with
// other names.
func (d Driver) InsteadOfModel(t driver.Target, e driver.Endpoint, asked *driver.Asked) driver.Instead {
	switch language, _ := d.Serves(t, e); language { //nolint:exhaustive // no body of another one is passed on
	case wire.OpenAI, wire.Responses:
		return insteadOfModel(t)
	case wire.Anthropic:
	default:
		return driver.Instead{}
	}
	in := driver.Instead{
		Members: `"anthropic_version":"` + anthropic.CloudVersion(claudeVersion, asked.Version) + `"`,
		Remove:  splice.Set(splice.Stream, splice.ServiceTier),
	}
	if list := betasOf(asked.Betas); list != "" && splice.Lookup(asked.Body, "anthropic_beta") == nil {
		in.Members += `,"anthropic_beta":` + list
	}
	return in
}

// VendorHeader returns nothing: Bedrock takes Anthropic's version and beta features in the body, and none of OpenAI's.
func (Driver) VendorHeader(string, string, driver.Endpoint) string { return "" }

// betasOf returns those of a header's beta features that Claude has at Bedrock, as a JSON array; empty if there are none.
func betasOf(header string) string {
	var kept []string
	for flag := range strings.SplitSeq(header, ",") {
		flag = strings.TrimSpace(flag)
		if flag == "advanced-tool-use-2025-11-20" { // its name at Bedrock
			flag = "tool-search-tool-2025-10-19"
		}
		if slices.Contains(betas(), flag) && !slices.Contains(kept, flag) {
			kept = append(kept, flag)
		}
	}
	if len(kept) == 0 {
		return ""
	}
	return `["` + strings.Join(kept, `","`) + `"]`
}

// countRequest is the body of CountTokens.
type countRequest struct {
	Input struct {
		Invoke struct {
			Body string `json:"body"` // base64 of a body of InvokeModel
		} `json:"invokeModel"`
	} `json:"input"`
}

// count writes a count of a chat's tokens, around the chat. That must have a limit, which does not change the count.
func count(o *splice.Object) any {
	for _, name := range []string{"stream", "service_tier"} { // the address and a header say them
		o.Remove(name)
	}
	o.Set("anthropic_version", []byte(`"`+claudeVersion+`"`))
	if o.Get("max_tokens") == nil {
		o.Set("max_tokens", []byte("1"))
	}
	var out countRequest
	out.Input.Invoke.Body = base64.StdEncoding.EncodeToString(o.Append(nil))
	return &out
}

// counted reads a count.
func counted(body []byte) (any, error) {
	var in struct {
		Tokens driver.Count `json:"inputTokens"`

		looseProblem
	}
	if f := driver.ReadResponse(bytes.TrimSpace(body), &in); f != nil {
		return nil, f
	}
	switch {
	case in.Tokens.Given && !(driver.Counts{in.Tokens}).Bad():
		return map[string]int64{"input_tokens": in.Tokens.N}, nil
	case driver.Given(in.Message):
		return nil, failureIn(driver.Text(in.Type), body)
	}
	return nil, driver.InvalidResponse("has no count of tokens")
}
