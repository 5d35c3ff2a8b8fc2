package remote

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/signature"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/guard/engine"
)

// Checker are the settings of a checker of the operator.
type Checker struct {
	Service

	Secret vault.Secret // that requests are signed with
}

// checker asks a checker.
type checker struct {
	line  line
	names names
}

// NewChecker returns an engine that asks a checker. Requests go to the URL of its service as it is.
func (c *Client) NewChecker(s *Checker) *Engine {
	k := &checker{line: c.line(&s.Service, s.URL)}
	bearer := k.line.headers
	k.line.headers = func(to http.Header, body []byte) {
		bearer(to, body)
		to.Set(signature.Header, signature.Of(time.Now(), body, []vault.Secret{s.Secret}))
	}
	return &Engine{asker: k}
}

// question is a request to a checker.
type question struct {
	Guardrail    string       `json:"guardrail"`
	Hook         string       `json:"hook"`
	Request      string       `json:"request_id,omitempty"`
	Organization string       `json:"organization_id,omitempty"`
	Team         string       `json:"team_id,omitempty"`
	Kind         string       `json:"kind"`
	Role         string       `json:"role,omitempty"`
	Texts        []askedAbout `json:"texts"`
}

// askedAbout is a text of a question.
type askedAbout struct {
	Text   string `json:"text"`
	Before string `json:"context,omitempty"`
}

// verdicts is the response of a checker.
type verdicts struct {
	Results []verdict `json:"results"`
}

// verdict says what is to be done with a text.
type verdict struct {
	Action      string        `json:"action"`
	Entity      string        `json:"entity"`
	Spans       []checkedSpan `json:"spans"`
	Replacement *string       `json:"replacement"`
}

// checkedSpan is a part of a text.
type checkedSpan struct {
	Entity      string   `json:"entity"`
	Start       *int64   `json:"start"`
	End         *int64   `json:"end"`
	Score       *float64 `json:"score"`
	Replacement *string  `json:"replacement"`
}

// What a checker can say of a text.
const (
	actionNone      = "none"
	actionFlag      = "flag"
	actionAnonymize = "anonymize"
	actionBlock     = "block"
)

// defaultName is the entity of a text that a checker finds something in without a name.
const defaultName = "CHECKED"

// ask asks about all parts in one call.
func (k *checker) ask(ctx context.Context, about *about, parts []part) ([][]engine.Finding, error) {
	q := question{
		Guardrail: about.Guardrail, Hook: about.Hook, Request: about.Request, Organization: about.Organization, Team: about.Team,
		Kind: about.kind.String(), Role: about.role.String(),
	}
	for i := range parts {
		q.Texts = append(q.Texts, askedAbout{string(parts[i].text), string(parts[i].before)})
	}
	body, err := json.Marshal(q)
	if err != nil {
		return nil, errors.New("the text is not valid UTF-8") // the error quotes it
	}
	answer, err := k.line.call(ctx, body)
	if err != nil {
		return nil, err
	}
	var v verdicts
	if err := json.Unmarshal(answer, &v, jsontext.AllowDuplicateNames(true)); err != nil || len(v.Results) != len(parts) {
		return nil, malformed("an object whose results are a list with an object for each text")
	}
	out := make([][]engine.Finding, len(parts))
	for i := range parts {
		if out[i], err = k.findings(string(parts[i].text), &v.Results[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// findings returns what a checker wants done with a text.
func (k *checker) findings(text string, v *verdict) ([]engine.Finding, error) {
	switch v.Action {
	case actionNone:
		return nil, nil
	case actionFlag, actionAnonymize, actionBlock:
	default:
		return nil, errors.New("a result of the service has an action other than none, flag, anonymize and block")
	}
	if v.Entity == "" {
		v.Entity = defaultName
	}
	var o offsets
	o.read(text)
	if v.Replacement != nil || len(v.Spans) == 0 {
		if len(v.Spans) > 0 {
			return nil, errors.New("a result of the service has spans and a replacement of the whole text")
		}
		v.Spans = []checkedSpan{{Start: new(int64(0)), End: new(int64(len(o.at) - 1)), Replacement: v.Replacement}}
	}
	out := make([]engine.Finding, 0, len(v.Spans))
	for i := range v.Spans {
		s := span(v.Spans[i])
		if s.Entity == "" {
			s.Entity = v.Entity
		}
		if s.Replacement != nil && !valid(*s.Replacement) {
			return nil, errors.New("a replacement of the service is longer than 16 KiB")
		}
		f, err := o.finding(&s, &k.names)
		if err != nil {
			return nil, err
		}
		f.Action = v.Action
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b engine.Finding) int { return a.Start - b.Start })
	for i := 1; i < len(out); i++ {
		if out[i].Start < out[i-1].End {
			return nil, errors.New("the spans of a result of the service overlap")
		}
	}
	return out, nil
}
