package pii

import (
	"fmt"
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/extproc/guard/engine"
)

// Settings are the settings of an engine. Those of a guardrail are checked when it is stored.
type Settings struct {
	Entities    []string      // what to look for; none means all. Those of Recognizers are always looked for
	Threshold   *uint32       // findings with a lower score are left, in thousandths; nil: 500
	Regions     []string      // countries of phone numbers without a country code; none: US and GB
	AllowList   []string      // values that are left, in any case
	Recognizers []Recognizer  // patterns of one's own
	Names       engine.Engine // finds PERSON and LOCATION; may be nil if neither is asked for by name
}

// Recognizer is a pattern of one's own.
type Recognizer struct {
	Entity  string
	Pattern string   // a regular expression in RE2 syntax, in any case
	Context []string // words that make a finding more certain
	Score   *uint32  // of a finding without such a word, in thousandths; nil: 1000
}

// Engine finds personal data.
type Engine struct {
	core   *core
	own    []*pattern
	names  engine.Engine
	wanted map[string]bool // entities of names that are looked for; nil means all
}

// New returns an engine. An error names the setting that it cannot have.
func New(settings Settings) (*Engine, error) {
	threshold := defaultThreshold
	if settings.Threshold != nil {
		threshold = float32(*settings.Threshold) / thousandths
	}
	e := &Engine{names: settings.Names}
	wanted := map[string]bool{}
	for _, name := range settings.Entities {
		known := slices.Contains(Entities(), name) || name == person || name == location ||
			slices.ContainsFunc(settings.Recognizers, func(r Recognizer) bool { return r.Entity == name })
		if !known {
			return nil, fmt.Errorf("entities: %.64q cannot be found", name)
		}
		if settings.Names == nil && (name == person || name == location) {
			return nil, fmt.Errorf("entities: %s needs an engine that finds names", name)
		}
		wanted[name] = true
	}
	if len(wanted) > 0 {
		e.wanted = wanted
		if !wanted[person] && !wanted[location] {
			e.names = nil
		}
	}
	allow := newAllowList(settings.AllowList)
	for i, r := range settings.Recognizers {
		p, err := newPattern(r, threshold, allow)
		if err != nil {
			return nil, fmt.Errorf("recognizers[%d]: %w", i, err)
		}
		e.own = append(e.own, p)
	}
	phones, err := newPhones(settings.Regions)
	if err != nil {
		return nil, err
	}
	e.core = newCore(wanted, threshold, phones, allow)
	return e, nil
}

const (
	defaultThreshold = float32(0.5)
	thousandths      = 1000

	// contextBoost is what a word of the context adds to a score, and contextLeast what a score with such a
	// word has at least, as in Presidio.
	contextBoost = 0.35
	contextLeast = 0.4
)

// Names of entities that code refers to.
const (
	person   = "PERSON"
	location = "LOCATION"
)

// Scanner returns a scanner for the texts of one request.
func (e *Engine) Scanner() engine.Scanner {
	sources := []engine.Scanner{&coreScanner{c: e.core}}
	for _, p := range e.own {
		sources = append(sources, &patternScanner{p: p})
	}
	if e.names != nil {
		sources = append(sources, &filtered{Scanner: e.names.Scanner(), wanted: e.wanted, threshold: e.core.threshold, allow: e.core.allow})
	}
	return newMerger(sources)
}

// allowList are values that are left as they are.
type allowList map[string]struct{}

func newAllowList(values []string) allowList {
	if len(values) == 0 {
		return nil
	}
	a := allowList{}
	for _, v := range values {
		a[strings.ToLower(strings.TrimSpace(v))] = struct{}{}
	}
	return a
}

// has reports whether a value is left as it is.
func (a allowList) has(value []byte) bool {
	if len(a) == 0 {
		return false
	}
	_, ok := a[strings.ToLower(string(value))]
	return ok
}
