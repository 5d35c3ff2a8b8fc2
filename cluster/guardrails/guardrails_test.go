package guardrails_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/record/recordtest"
	"github.com/modelgateway/modelgateway/cluster/resource"
)

// world is a state and the set that it comes to.
type world struct {
	t     *testing.T
	state recordtest.State
	set   *guardrails.Set
}

func (w *world) run(op func(tx *record.Txn) error) error {
	w.t.Helper()
	tx := record.NewTxn(time.Unix(1_700_000_000, 0), "ada")
	if err := op(tx); err != nil {
		return err
	}
	changes, _, err := w.state.Commit(tx)
	if err != nil {
		return err
	}
	var broken []error
	if w.set, broken = w.set.With(changes); len(broken) > 0 {
		w.t.Fatal(broken[0])
	}
	return nil
}

func (w *world) create(g guardrails.Guardrail) (made *guardrails.Guardrail, err error) {
	g.ID = id.NewUUID()
	err = w.run(func(tx *record.Txn) error {
		made, err = w.set.Create(tx, g)
		return err
	})
	return made, err
}

var everybody = resource.Who{MaySee: func(id.Organization) bool { return true }}

func pii() guardrails.Engine {
	return guardrails.Engine{Name: "presidio", Hooks: []string{"pre_call"}, Entities: []string{"PERSON"}, Action: "anonymize"}
}

// with returns an engine that looks for the entities only.
func with(e guardrails.Engine, entities ...string) guardrails.Engine {
	e.Entities = entities
	return e
}

func withRecognizer(entity, pattern string, score uint32) guardrails.Engine {
	return guardrails.Engine{Name: "presidio", Hooks: []string{"pre_call"}, Recognizers: []guardrails.Recognizer{
		{Entity: entity, Pattern: pattern, Context: []string{"employee"}, Score: &score},
	}}
}

func TestLife(t *testing.T) {
	w := &world{t: t, set: guardrails.New()}
	full := withRecognizer("EMPLOYEE", "EMP-[0-9]{6}", 400)
	full.OnError, full.Unscannable, full.Reversible, full.Regions, full.AllowList = "pass", "block", true, []string{"DE"}, []string{"x@example.com"}
	engines := []guardrails.Engine{pii(), full, {Name: "content_filter", Hooks: []string{"pre_call"}, BannedKeywords: []string{"x"}, Match: "word"}}
	made, err := w.create(guardrails.Guardrail{Head: resource.Head{Name: "pii", Organization: "acme"}, Engines: engines, DefaultOn: true})
	if err != nil {
		t.Fatal(err)
	}
	got, err := w.set.Find(nil, "guardrail_id", "pii", everybody)
	if err != nil {
		t.Fatal(err)
	}
	for i := range engines {
		engines[i].Of = made.ID
	}
	if diff := cmp.Diff(engines, got.Engines); diff != "" || !got.DefaultOn || got.CreatedBy != "ada" {
		t.Errorf("stored %v\n%s", got, diff)
	}
	if _, err := w.create(guardrails.Guardrail{Head: resource.Head{Name: "pii", Organization: "acme"}, Engines: []guardrails.Engine{pii()}}); fault.From(err).Code != "already_exists" {
		t.Errorf("twice: %v", err)
	}
	if _, err := w.create(guardrails.Guardrail{Head: resource.Head{Name: "pii"}, Engines: []guardrails.Engine{pii()}}); err != nil {
		t.Errorf("the same name for everybody: %v", err)
	}
	rename := func(to string, revision uint64) error {
		return w.run(func(tx *record.Txn) error {
			g, err := w.set.Find(tx, "guardrail_id", made.ID, everybody)
			if err != nil {
				return err
			}
			next := *g
			next.Name = to
			_, err = w.set.Update(tx, g, next, revision)
			return err
		})
	}
	if err := rename("names", 99); fault.From(err).Code != "revision_conflict" {
		t.Errorf("another revision: %v", err)
	}
	if err := rename("names", 1); err != nil {
		t.Fatal(err)
	}
	if _, err := w.create(guardrails.Guardrail{Head: resource.Head{Name: "pii", Organization: "acme"}, Engines: []guardrails.Engine{pii()}}); err != nil {
		t.Errorf("the name is not free again: %v", err)
	}
	if err := rename("pii", 0); fault.From(err).Code != "already_exists" {
		t.Errorf("back to a name that is taken: %v", err)
	}
	err = w.run(func(tx *record.Txn) error {
		for g := range w.set.Of("acme") {
			w.set.Delete(tx, g)
		}
		return nil
	})
	if err != nil || w.set.Len() != 1 {
		t.Errorf("%d are left (%v)", w.set.Len(), err)
	}
}

// TestSettings: each setting belongs to its engines, and makes sense.
func TestSettings(t *testing.T) {
	high := uint32(1001)
	for name, tc := range map[string]struct {
		engine guardrails.Engine
		param  string // of the first problem; empty: fine
	}{
		"pii":                   {pii(), ""},
		"all entities":          {guardrails.Engine{Name: "presidio", Hooks: []string{"pre_call", "post_call"}}, ""},
		"keywords":              {guardrails.Engine{Name: "content_filter", Hooks: []string{"post_call"}, BannedKeywords: []string{"x"}}, ""},
		"tools":                 {guardrails.Engine{Name: "tool_permission", Hooks: []string{"pre_call"}, OnViolation: "remove", BlockedTools: []string{"rm"}}, ""},
		"secrets":               {guardrails.Engine{Name: "detect_secret", Hooks: []string{"pre_call"}, Detectors: []string{"aws"}, Action: "redact"}, ""},
		"unknown engine":        {guardrails.Engine{Name: "magic", Hooks: []string{"pre_call"}}, "engines[0].engine_name"},
		"no hooks":              {guardrails.Engine{Name: "presidio"}, "engines[0].event_hooks"},
		"unknown hook":          {guardrails.Engine{Name: "presidio", Hooks: []string{"mid_call"}}, "engines[0].event_hooks[0]"},
		"hook of others":        {guardrails.Engine{Name: "prompt_injection", Hooks: []string{"pre_call", "post_call"}}, "engines[0].event_hooks[1]"},
		"secrets in responses":  {guardrails.Engine{Name: "detect_secret", Hooks: []string{"pre_call", "post_call"}, Action: "flag"}, ""},
		"tools that are called": {guardrails.Engine{Name: "tool_permission", Hooks: []string{"post_call"}, BlockedTools: []string{"rm"}, OnViolation: "flag"}, ""},
		"flag":                  {guardrails.Engine{Name: "presidio", Hooks: []string{"pre_call"}, Action: "flag", OnError: "pass", Unscannable: "block"}, ""},
		"whole words":           {guardrails.Engine{Name: "content_filter", Hooks: []string{"pre_call"}, BannedKeywords: []string{"x"}, Match: "word", Action: "anonymize"}, ""},
		"injection":             {guardrails.Engine{Name: "prompt_injection", Hooks: []string{"pre_call"}, Threshold: new(uint32(800)), Action: "block"}, ""},
		"unknown on_error":      {guardrails.Engine{Name: "presidio", Hooks: []string{"pre_call"}, OnError: "retry"}, "engines[0].config.on_error"},
		"unscannable tools":     {guardrails.Engine{Name: "tool_permission", Hooks: []string{"pre_call"}, Unscannable: "block"}, "engines[0].config.unscannable"},
		"recognizers":           {withRecognizer("EMPLOYEE", "EMP-[0-9]{6}", 400), ""},
		"recognizer's entity":   {with(withRecognizer("EMPLOYEE", "EMP-[0-9]{6}", 400), "EMPLOYEE", "PERSON"), ""},
		"entity of nobody":      {with(withRecognizer("EMPLOYEE", "EMP-[0-9]{6}", 400), "PERSON", "STUDENT"), "engines[0].config.entities[1]"},
		"bad recognizer":        {withRecognizer("EMPLOYEE", "EMP-(", 400), "engines[0].config.recognizers[0].pattern"},
		"look-around":           {withRecognizer("EMPLOYEE", "(?<!x)EMP", 400), "engines[0].config.recognizers[0].pattern"},
		"back reference":        {withRecognizer("EMPLOYEE", `(a)\1`, 400), "engines[0].config.recognizers[0].pattern"},
		"regex bomb":            {withRecognizer("EMPLOYEE", "a{900}b{900}a{900}b{900}a{900}b{900}", 400), "engines[0].config.recognizers[0].pattern"},
		"larger regex bomb":     {withRecognizer("EMPLOYEE", "((a{1,100}){1,100}){1,100}", 400), "engines[0].config.recognizers[0].pattern"},
		"matches nothing":       {withRecognizer("EMPLOYEE", "[0-9]*", 400), "engines[0].config.recognizers[0].pattern"},
		"recognizer's score":    {withRecognizer("EMPLOYEE", "EMP", 1001), "engines[0].config.recognizers[0].score"},
		"recognizer's name":     {withRecognizer("employee", "EMP", 1), "engines[0].config.recognizers[0].entity"},
		"recognizers of others": {guardrails.Engine{Name: "detect_secret", Hooks: []string{"pre_call"}, Recognizers: withRecognizer("E", "e", 1).Recognizers}, "engines[0].config.recognizers"},
		"many large patterns":   {guardrails.Engine{Name: "content_filter", Hooks: []string{"pre_call"}, BannedPatterns: slices.Repeat([]string{"a{800}b{800}c{800}d{800}"}, 20)}, "engines[0].config.banned_patterns"},
		"region":                {guardrails.Engine{Name: "presidio", Hooks: []string{"pre_call"}, Regions: []string{"DE", "UK"}}, "engines[0].config.regions[1]"},
		"reversible":            {guardrails.Engine{Name: "presidio", Hooks: []string{"pre_call"}, Reversible: true, AllowList: []string{"x"}, Regions: []string{"DE"}}, ""},
		"reversible block":      {guardrails.Engine{Name: "presidio", Hooks: []string{"pre_call"}, Reversible: true, Action: "block"}, "engines[0].config.reversible"},
		"not told":              {guardrails.Engine{Name: "presidio", Hooks: []string{"pre_call"}, Entities: []string{"NRP"}}, "engines[0].config.entities[0]"},
		"too many entities":     {with(pii(), slices.Repeat([]string{"PERSON"}, 1e5)...), "engines[0].config.entities"},
		"setting of others":     {guardrails.Engine{Name: "presidio", Hooks: []string{"pre_call"}, BannedKeywords: []string{"x"}}, "engines[0].config.banned_keywords"},
		"unknown entity":        {guardrails.Engine{Name: "presidio", Hooks: []string{"pre_call"}, Entities: []string{"PERSON", "SOUL"}}, "engines[0].config.entities[1]"},
		"action of others":      {guardrails.Engine{Name: "presidio", Hooks: []string{"pre_call"}, Action: "redact"}, "engines[0].config.action"},
		"bad pattern":           {guardrails.Engine{Name: "content_filter", Hooks: []string{"pre_call"}, BannedPatterns: []string{"a", "("}}, "engines[0].config.banned_patterns[1]"},
		"long patterns":         {guardrails.Engine{Name: "content_filter", Hooks: []string{"pre_call"}, BannedPatterns: []string{strings.Repeat("a", 65<<10)}}, "engines[0].config.banned_patterns"},
		"empty keyword":         {guardrails.Engine{Name: "content_filter", Hooks: []string{"pre_call"}, BannedKeywords: []string{"a", " "}}, "engines[0].config.banned_keywords[1]"},
		"long keyword":          {guardrails.Engine{Name: "content_filter", Hooks: []string{"pre_call"}, BannedKeywords: []string{strings.Repeat("a", 201)}}, "engines[0].config.banned_keywords[0]"},
		"long keywords":         {guardrails.Engine{Name: "content_filter", Hooks: []string{"pre_call"}, BannedKeywords: slices.Repeat([]string{strings.Repeat("a", 200)}, 2000)}, "engines[0].config.banned_keywords"},
		"unknown detector":      {guardrails.Engine{Name: "detect_secret", Hooks: []string{"pre_call"}, Detectors: []string{"x"}}, "engines[0].config.detectors[0]"},
		"threshold":             {guardrails.Engine{Name: "presidio", Hooks: []string{"pre_call"}, Threshold: &high}, "engines[0].config.score_threshold"},
		"filter without words":  {guardrails.Engine{Name: "content_filter", Hooks: []string{"pre_call"}}, "engines[0].config"},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{t: t, set: guardrails.New()}
			_, err := w.create(guardrails.Guardrail{Head: resource.Head{Name: "g"}, Engines: []guardrails.Engine{tc.engine}})
			param := ""
			if err != nil {
				param = fault.From(err).Param
			}
			if param != tc.param {
				t.Errorf("%v, want a problem of %q", err, tc.param)
			}
		})
	}
}

// TestPatternsThatCannotBeUsed: the caller learns which pattern it is, why, and what helps.
func TestPatternsThatCannotBeUsed(t *testing.T) {
	for pattern, want := range map[string]string{
		`(?=secret)`:                           "write it without them",
		`(?<!not )free`:                        "write it without them",
		`(a)\1`:                                "write it without them",
		`a{1001}`:                              "more than 1000 times",
		`(?:a{900}){9}`:                        "more than 1000 times",
		`[a-z`:                                 "it is no regular expression",
		`a{900}b{900}c{900}d{900}e{900}f{900}`: "5000 are allowed; make its repetitions smaller",
		`a*`:                                   "it matches the empty text",
	} {
		w := &world{t: t, set: guardrails.New()}
		e := guardrails.Engine{Name: "content_filter", Hooks: []string{"pre_call"}, BannedPatterns: []string{"fine", pattern}}
		_, err := w.create(guardrails.Guardrail{Head: resource.Head{Name: "g"}, Engines: []guardrails.Engine{e}})
		if f := fault.From(err); f.Param != "engines[0].config.banned_patterns[1]" || !strings.Contains(f.Detail, want) || strings.Contains(f.Detail, pattern) {
			t.Errorf("%s: %q of %s, want it to say %q", pattern, f.Detail, f.Param, want)
		}
	}
}

// TestKindsDescribeThemselves: the list that the API shows is the table that
// settings are checked by.
func TestKindsDescribeThemselves(t *testing.T) {
	for _, k := range guardrails.Kinds() {
		properties, ok := k.Schema()["properties"].(map[string]any)
		if !ok || len(properties) != len(k.Settings) || k.Description == "" || len(k.Hooks) == 0 {
			t.Errorf("%s: %v", k.Name, k.Schema())
		}
		for _, s := range k.Settings {
			if !slices.IsSorted(s.Values) && s.Type == "array" {
				t.Errorf("%s.%s: its values are not sorted", k.Name, s.Name)
			}
		}
	}
}
