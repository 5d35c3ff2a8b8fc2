package fake

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/examples/upstream/fake/bedrock"
)

// invoke serves POST …/model/{model}/invoke and …/invoke-with-response-stream for Claude: Anthropic's messages, with the
// version in the body and the model in the path.
func (s *Server) invoke(x *exchange) {
	q, problem := invoked(x.body, bedrockModel(x.r.URL.Path), true)
	if problem != "" {
		x.dialect.fail(x.w, failure{status: http.StatusBadRequest, message: problem})
		return
	}
	p := planOf(q.Model)
	p.thinks = p.thinks || q.Thinking.Type == "enabled" || q.Thinking.Type == "adaptive"
	if !s.meet(x, p) {
		return
	}
	out := messageAnswer{answer: compose(q.ask(), p), plan: p, model: q.Model, id: fmt.Sprintf("msg_bdrk_fake_%d", x.seq)}
	x.w.Header().Set("X-Amzn-Requestid", fmt.Sprintf("fake-%d", x.seq))
	if !strings.HasSuffix(x.r.URL.Path, "-stream") {
		s.whole(x, p, out.document())
		return
	}
	events := out.events()
	for i, e := range events {
		events[i] = jsonEvent("chunk", map[string]string{"bytes": base64.StdEncoding.EncodeToString([]byte(e.data)), "p": "abcdefgh"})
		events[i].last = e.last
	}
	s.stream(x, p, events)
}

// countInvoked serves POST …/model/{model}/count-tokens. The models of profiles have no counts.
func (s *Server) countInvoked(x *exchange) {
	var in bedrock.Counted
	model, problem, prompt := bedrockModel(x.r.URL.Path), "", 0
	switch err := json.Unmarshal(x.body, &in); {
	case err != nil:
		problem = err.Error()
	case !strings.HasPrefix(model, "anthropic."):
		problem = "The provided model doesn't support counting tokens."
	case in.Input.Converse != nil:
		problem, prompt = in.Input.Converse.Problem(), askOfConverse(in.Input.Converse, model).prompt
	default:
		var q *messageRequest
		if q, problem = invoked(in.Input.Invoke.Body, model, false); problem == "" {
			prompt = q.ask().prompt
		}
	}
	if problem != "" {
		x.dialect.fail(x.w, failure{status: http.StatusBadRequest, message: problem})
		return
	}
	if p := planOf(model); s.meet(x, p) {
		s.whole(x, p, map[string]int{"inputTokens": prompt})
	}
}

// invoked reads a request for Claude, or says what Bedrock would refuse in it.
func invoked(body []byte, model string, bounded bool) (q *messageRequest, problem string) {
	var members map[string]json.RawMessage
	var own struct {
		Version string   `json:"anthropic_version"`
		Betas   []string `json:"anthropic_beta"`
	}
	q = &messageRequest{}
	for _, to := range []any{&members, &own, q} {
		if err := json.Unmarshal(body, to); err != nil {
			return nil, "Malformed input request: " + err.Error()
		}
	}
	for _, name := range []string{"model", "stream", "service_tier"} {
		if members[name] != nil {
			return nil, "Malformed input request: #: extraneous key [" + name + "] is not permitted, please reformat your input and try again."
		}
	}
	switch {
	case !strings.Contains(model, "anthropic."):
		return nil, "The fake provider invokes Claude alone."
	case !slices.Contains(bedrock.ClaudeVersions(), own.Version):
		return nil, "anthropic_version: Input should be one of " + strings.Join(bedrock.ClaudeVersions(), ", ")
	case slices.Contains(own.Betas, ""), slices.Contains(own.Betas, "unknown-beta"):
		return nil, "invalid beta flag"
	}
	q.Model = model
	return q, q.check(bounded)
}
