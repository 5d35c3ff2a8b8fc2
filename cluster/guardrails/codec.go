package guardrails

import (
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/resource"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

func (g *Guardrail) record() *clusterv1.Guardrail {
	r := &clusterv1.Guardrail{Id: g.ID, Name: g.Name, OrganizationId: string(g.Organization), DefaultOn: g.DefaultOn}
	for _, e := range g.Engines {
		stored := &clusterv1.GuardrailEngine{
			EngineName: e.Name, EventHooks: e.Hooks, Entities: e.Entities, Action: e.Action, Language: e.Language,
			ScoreThresholdMilli: e.Threshold, ViolationMessage: e.ViolationMessage, BannedKeywords: e.BannedKeywords,
			BannedPatterns: e.BannedPatterns, AllowedTools: e.AllowedTools, BlockedTools: e.BlockedTools,
			OnViolation: e.OnViolation, Detectors: e.Detectors, Match: e.Match,
			OnError: e.OnError, Unscannable: e.Unscannable, Reversible: e.Reversible, Regions: e.Regions, AllowList: e.AllowList,
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
