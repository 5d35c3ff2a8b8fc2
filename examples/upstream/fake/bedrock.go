package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/modelgateway/modelgateway/examples/upstream/fake/bedrock"
)

// bedrockPath finds the model and the operation in a path.
var bedrockPath = regexp.MustCompile(`/model/(.+)/(converse|converse-stream|invoke|invoke-with-response-stream|count-tokens)$`)

// bedrockModel is the model that a path of Bedrock's names, "" if it names none.
func bedrockModel(path string) string {
	if m := bedrockPath.FindStringSubmatch(path); m != nil {
		return m[1]
	}
	return ""
}

// bedrockDialect is the dialect of an operation of Bedrock's.
func bedrockDialect(path string) dialect {
	d := dialect{answer: (*Server).converse, fail: failAWS, failEvent: failEventAWS, frames: true}
	switch bedrockPath.FindStringSubmatch(path)[2] {
	case "invoke", "invoke-with-response-stream":
		d.answer = (*Server).invoke
	case "count-tokens":
		d.answer = (*Server).countInvoked
	}
	return d
}

// converse serves POST …/model/{model}/converse and …/converse-stream.
func (s *Server) converse(x *exchange) {
	q, problem := bedrock.Read(x.body)
	if problem != "" {
		x.dialect.fail(x.w, failure{status: http.StatusBadRequest, message: problem})
		return
	}
	model := bedrockModel(x.r.URL.Path)
	p := planOf(model)
	p.thinks = p.thinks || q.Thinks()
	if !s.meet(x, p) {
		return
	}
	out := converseAnswer(compose(askOfConverse(q, model), p), p, fmt.Sprintf("tooluse_fake_%d", x.seq))
	x.w.Header().Set("X-Amzn-Requestid", fmt.Sprintf("fake-%d", x.seq))
	if !strings.HasSuffix(x.r.URL.Path, "-stream") {
		s.whole(x, p, out.Document())
		return
	}
	var events []event
	for _, e := range out.Events(fragments) {
		events = append(events, jsonEvent(e.Name, e.Data))
	}
	events[len(events)-1].last = true
	s.stream(x, p, events)
}

// converseAnswer writes an answer as Converse does.
func converseAnswer(a answer, p plan, id string) *bedrock.Answer {
	c := a.choices[0]
	out := &bedrock.Answer{ID: id, Thinking: a.thinking, Signature: signature, Pieces: c.pieces, Stop: bedrock.StopReason(c.finish, c.stop != "")}
	for _, k := range c.calls {
		out.Calls = append(out.Calls, bedrock.Use{Name: k.name, Input: json.RawMessage(k.arguments)})
	}
	switch bad := spoilt(p.usage); {
	case bad != nil:
		out.Usage = bedrock.SpoiltUsage(bad)
	case p.usage == "null":
		out.Usage = null()
	case p.usage != "none":
		out.Usage = bedrock.Usage(a.prompt, a.cached, a.completion)
	}
	return out
}

// askOfConverse is a request for Converse.
func askOfConverse(q *bedrock.Request, model string) ask {
	a := ask{model: model, n: 1, fromUser: true, prompt: 3, stop: q.Inference.Stop}
	if q.Inference.MaxTokens != nil {
		a.maxOut = *q.Inference.MaxTokens
	}
	for _, c := range q.System {
		a.prompt += tokens(c.Text)
	}
	for _, m := range q.Messages {
		var text strings.Builder
		role := m.Role
		for _, c := range m.Content {
			text.WriteString(c.Text)
			if c.ToolResult != nil {
				role = "tool"
				for _, r := range c.ToolResult.Content {
					text.WriteString(r.Text)
				}
			}
		}
		a.prompt += 3 + tokens(text.String())
		a.hear(role, text.String())
	}
	for _, t := range q.Tools.Tools {
		if t.Spec != nil {
			a.prompt += tokens(t.Spec.Name) + tokens(string(t.Spec.Schema.JSON))
			a.tools = append(a.tools, tool{name: t.Spec.Name, schema: t.Spec.Schema.JSON})
		}
	}
	a.chosen = q.Tools.Choice.Tool.Name
	if q.Output.Text.Type == "json_schema" {
		a.asJSON, a.schema = true, json.RawMessage(q.Output.Text.Structure.Schema.Schema)
	}
	return a
}

// failAWS answers with an error. A header has its kind.
func failAWS(w http.ResponseWriter, f failure) {
	if f.status == 0 {
		f.status = http.StatusInternalServerError
	}
	if f.code == "content_filter" {
		f.message = "This request has been blocked by our content filters."
	}
	w.Header().Set("X-Amzn-Errortype", bedrock.Exception(f.status))
	w.Header().Set("X-Amzn-Requestid", "fake-failure")
	writeJSON(w, f.status, map[string]string{"message": f.message})
}

// failEventAWS is an exception in a stream.
func failEventAWS(f failure) event {
	return jsonEvent("throttlingException", map[string]string{"message": f.message})
}
