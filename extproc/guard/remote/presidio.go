package remote

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/guard/engine"
)

// Presidio are the settings of an analyzer of Microsoft Presidio.
type Presidio struct {
	Service

	Language  string   // empty means en
	Entities  []string // to look for; none means all
	AllowList []string // values that are left as they are, in any case
	Threshold *uint32  // findings less certain than this are left, in thousandths; nil means 500
}

// defaultThreshold is that of the gateway's own recognizers.
const defaultThreshold = 0.5

// analyzer asks an analyzer of Microsoft Presidio.
type analyzer struct {
	line      line
	language  string
	entities  []string
	wanted    map[string]bool // nil means all
	allowed   map[string]bool // lower case
	threshold float64
	names     names
	single    atomic.Bool // it does not know lists of texts
}

// NewPresidio returns an engine that asks an analyzer of Microsoft Presidio. URL of its service is the address that
// /analyze is below.
func (c *Client) NewPresidio(s *Presidio) *Engine {
	a := &analyzer{
		line:     c.line(&s.Service, strings.TrimRight(s.URL, "/")+"/analyze"),
		language: s.Language, entities: s.Entities, threshold: defaultThreshold,
	}
	if a.language == "" {
		a.language = "en"
	}
	if s.Threshold != nil {
		a.threshold = float64(*s.Threshold) / 1000
	}
	for _, name := range s.Entities {
		if a.wanted == nil {
			a.wanted = map[string]bool{}
		}
		a.wanted[name] = true
	}
	for _, value := range s.AllowList {
		if a.allowed == nil {
			a.allowed = map[string]bool{}
		}
		a.allowed[strings.ToLower(value)] = true
	}
	return &Engine{asker: a}
}

// analysis is a request to an analyzer.
type analysis struct {
	Text        any      `json:"text"` // a string, or a list of them
	Language    string   `json:"language"`
	Entities    []string `json:"entities,omitempty"`
	Threshold   float64  `json:"score_threshold"`
	Correlation string   `json:"correlation_id,omitempty"`
}

// recognized is what an analyzer has found.
type recognized struct {
	Entity string   `json:"entity_type"`
	Start  *int64   `json:"start"`
	End    *int64   `json:"end"`
	Score  *float64 `json:"score"`
}

// ask asks about all parts in one call, if the analyzer knows lists: those before 2.2.358 do not.
func (a *analyzer) ask(ctx context.Context, about *about, parts []part) ([][]engine.Finding, error) {
	out := make([][]engine.Finding, len(parts))
	list := make([]string, len(parts))
	for i := range parts {
		list[i] = parts[i].context() + string(parts[i].text)
	}
	single := len(parts) == 1 || a.single.Load()
	if !single {
		var all [][]recognized
		switch err := a.analyze(ctx, about, list, &all); {
		case err == nil && len(all) == len(parts):
			for i := range parts {
				if out[i], err = a.findings(list[i], &parts[i], all[i]); err != nil {
					return nil, err
				}
			}
			return out, nil
		case err == nil:
			return nil, malformed("a list with a list of findings for each text")
		case !isRefusal(err):
			return nil, err
		}
	}
	for i := range parts {
		var one []recognized
		err := a.analyze(ctx, about, list[i], &one)
		if err == nil {
			out[i], err = a.findings(list[i], &parts[i], one)
		}
		if err != nil {
			return nil, err
		}
	}
	if !single {
		a.single.Store(true) // it has refused the list, and not the texts
	}
	return out, nil
}

// isRefusal reports whether an error may come from an analyzer that does not know lists.
func isRefusal(err error) bool {
	status, ok := errors.AsType[statusError](err)
	return ok && (status == http.StatusBadRequest || status == http.StatusUnprocessableEntity || status == http.StatusInternalServerError)
}

// context returns what is sent before the part, so that what is cut between them is found: the part before, if
// it ends within a sentence.
func (p *part) context() string {
	if !p.cut {
		return ""
	}
	return string(p.before)
}

// analyze makes one call.
func (a *analyzer) analyze(ctx context.Context, about *about, text, to any) error {
	body, err := json.Marshal(analysis{Text: text, Language: a.language, Entities: a.entities, Threshold: a.threshold, Correlation: about.Request})
	if err != nil {
		return errors.New("the text is not valid UTF-8") // the error quotes it
	}
	answer, err := a.line.call(ctx, body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(answer, to, jsontext.AllowDuplicateNames(true)); err != nil {
		return malformed("a list of findings with entity_type, start, end and score") // the error quotes it
	}
	return nil
}

// findings returns what was found in a part. sent is its text with the context before it.
func (a *analyzer) findings(sent string, p *part, all []recognized) ([]engine.Finding, error) {
	if all == nil {
		return nil, malformed("a list of findings")
	}
	if len(all) == 0 {
		return nil, nil
	}
	var o offsets
	o.read(sent)
	before := len(sent) - len(p.text)
	out := make([]engine.Finding, 0, len(all))
	for i := range all {
		r := &all[i]
		if r.Score == nil {
			return nil, errScore
		}
		if a.wanted != nil && !a.wanted[r.Entity] {
			r.Entity = unwanted // its place is checked nonetheless
		}
		f, err := o.finding(&span{Entity: r.Entity, Start: r.Start, End: r.End, Score: r.Score}, &a.names)
		switch {
		case err != nil:
			return nil, err
		case r.Entity == unwanted, *r.Score < a.threshold, a.allowed[strings.ToLower(sent[f.Start:f.End])], !within(&f, before):
			continue
		}
		out = append(out, f)
	}
	return apart(out), nil
}

// unwanted is the entity of findings that the settings do not have.
const unwanted = "UNWANTED"
