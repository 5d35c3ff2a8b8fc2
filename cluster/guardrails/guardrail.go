package guardrails

import (
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/resource"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Guardrail is a guardrail, which requests name by guardrail_id. Nobody changes one that is in
// a Set, because it is shared.
type Guardrail struct {
	resource.Head
	DefaultOn bool     // applies to requests that do not name it, too
	Engines   []Engine // in the order of their checks
}

// Engine is one engine with its settings. Settings of other engines are empty.
type Engine struct {
	Name             string
	Hooks            []string // PreCall, PostCall
	Entities         []string // presidio; empty means all
	Action           string   // empty: the engine's default
	Language         string   // presidio; empty: en
	Threshold        *uint32  // presidio, prompt_injection, in thousandths; nil: the engine's default
	ViolationMessage string
	BannedKeywords   []string // content_filter
	BannedPatterns   []string // content_filter
	AllowedTools     []string // tool_permission; empty means all
	BlockedTools     []string // tool_permission; overrides AllowedTools
	OnViolation      string   // tool_permission: block, remove or flag; empty: block
	Detectors        []string // detect_secret; empty means all
	Match            string   // content_filter: substring or word; empty: substring

	OnError     string // if the engine fails or is late: block or pass; empty: block
	Unscannable string // what the engine cannot read: pass or block; empty: pass

	// Settings of presidio.
	Reversible  bool // the caller's response has the values again
	Regions     []string
	AllowList   []string
	Recognizers []Recognizer

	// Settings of presidio_remote and http.
	APIBase       string
	TimeoutMillis uint32 // 0: the engine's default
	MaxParallel   uint32 // 0: the engine's default
	SealedKey     []byte // sealed with SecretContext(KeySecret); empty: none
	SealedSecret  []byte // of http, sealed with SecretContext(SigningSecret)
	Of            string // the id of the guardrail, which the secrets are bound to
}

// Recognizer is a sort of personal data of one's own, which a pattern finds.
type Recognizer struct {
	Entity  string
	Pattern string   // a regular expression
	Context []string // words that make a finding more certain
	Score   *uint32  // of a finding without such a word, in thousandths; nil: 1000
}

// CanonicalName returns the name of an engine for one that a request has: pii is presidio.
func CanonicalName(engine string) string {
	if engine == "pii" {
		return presidio
	}
	return engine
}

// Set holds all guardrails.
type Set = resource.Table[Guardrail]

// New returns an empty set.
func New() *Set {
	return resource.New(&resource.Kind[Guardrail]{
		Noun: "guardrail", Records: store.SpaceGuardrail, Names: store.SpaceGuardrailName,
		Taken: "Choose another name.", Enforced: true,
		Check:   func(g *Guardrail) error { return check(g.Engines) },
		Head:    func(g *Guardrail) *resource.Head { return &g.Head },
		Changed: event.GuardrailConfigured,
		Encode:  func(g *Guardrail) proto.Message { return g.record() },
		Decode:  decode,
	})
}

func (g *Guardrail) record() *clusterv1.Guardrail {
	r := &clusterv1.Guardrail{Id: g.ID, Name: g.Name, OrganizationId: string(g.Organization), DefaultOn: g.DefaultOn}
	for _, e := range g.Engines {
		stored := &clusterv1.GuardrailEngine{
			EngineName: e.Name, EventHooks: e.Hooks, Entities: e.Entities, Action: e.Action, Language: e.Language,
			ScoreThresholdMilli: e.Threshold, ViolationMessage: e.ViolationMessage, BannedKeywords: e.BannedKeywords,
			BannedPatterns: e.BannedPatterns, AllowedTools: e.AllowedTools, BlockedTools: e.BlockedTools,
			OnViolation: e.OnViolation, Detectors: e.Detectors, Match: e.Match,
			OnError: e.OnError, Unscannable: e.Unscannable, Reversible: e.Reversible, Regions: e.Regions, AllowList: e.AllowList,
			ApiBase: e.APIBase, TimeoutMilliseconds: e.TimeoutMillis, MaxParallelRequests: e.MaxParallel,
			SealedApiKey: e.SealedKey, SealedSigningSecret: e.SealedSecret,
		}
		for _, own := range e.Recognizers {
			stored.Recognizers = append(stored.GetRecognizers(), &clusterv1.GuardrailRecognizer{
				Entity: own.Entity, Pattern: own.Pattern, Context: own.Context, ScoreMilli: own.Score,
			})
		}
		r.Engines = append(r.GetEngines(), stored)
	}
	return r
}

func decode(value []byte) (*Guardrail, error) {
	r := &clusterv1.Guardrail{}
	if err := proto.Unmarshal(value, r); err != nil {
		return nil, err
	}
	g := &Guardrail{DefaultOn: r.GetDefaultOn(), Head: resource.Head{
		ID: r.GetId(), Name: r.GetName(), Organization: id.Organization(r.GetOrganizationId()), Meta: record.MetaOf(r.GetStamp()),
	}}
	for _, e := range r.GetEngines() {
		engine := Engine{
			Name: e.GetEngineName(), Hooks: e.GetEventHooks(), Entities: e.GetEntities(), Action: e.GetAction(), Language: e.GetLanguage(),
			Threshold: e.ScoreThresholdMilli, ViolationMessage: e.GetViolationMessage(), BannedKeywords: e.GetBannedKeywords(),
			BannedPatterns: e.GetBannedPatterns(), AllowedTools: e.GetAllowedTools(), BlockedTools: e.GetBlockedTools(),
			OnViolation: e.GetOnViolation(), Detectors: e.GetDetectors(), Match: e.GetMatch(),
			OnError: e.GetOnError(), Unscannable: e.GetUnscannable(), Reversible: e.GetReversible(), Regions: e.GetRegions(), AllowList: e.GetAllowList(),
			APIBase: e.GetApiBase(), TimeoutMillis: e.GetTimeoutMilliseconds(), MaxParallel: e.GetMaxParallelRequests(),
			SealedKey: e.GetSealedApiKey(), SealedSecret: e.GetSealedSigningSecret(), Of: r.GetId(),
		}
		for _, own := range e.GetRecognizers() {
			engine.Recognizers = append(engine.Recognizers, Recognizer{
				Entity: own.GetEntity(), Pattern: own.GetPattern(), Context: own.GetContext(), Score: own.ScoreMilli,
			})
		}
		g.Engines = append(g.Engines, engine)
	}
	return g, nil
}
