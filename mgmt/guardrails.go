package mgmt

import (
	"context"
	"math"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/resource"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

type guardrailService struct {
	gatewayv1.UnimplementedGuardrailServiceServer
	service
}

// CreateGuardrail makes a guardrail.
func (s guardrailService) CreateGuardrail(ctx context.Context, in *gatewayv1.CreateGuardrailRequest) (*gatewayv1.GuardrailRecord, error) {
	fresh := id.NewUUID()
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.GuardrailRecord, error) {
		org, err := ownerFor(ctx, v, tx, in.OrganizationId)
		if err != nil {
			return nil, err
		}
		g, err := v.Guardrails.Create(tx, guardrails.Guardrail{
			Head: resource.Head{ID: fresh, Name: in.GetGuardrailName(), Organization: org}, DefaultOn: in.GetDefaultOn(), Engines: enginesOf(in.GetEngines()),
		})
		if err != nil {
			return nil, err
		}
		return guardrailRecord(g), nil
	})
}

// ListGuardrails shows the guardrails that the caller may use.
func (s guardrailService) ListGuardrails(ctx context.Context, in *gatewayv1.ListGuardrailsRequest) (*gatewayv1.ListGuardrailsResponse, error) {
	v := operation.View(ctx)
	page, err := pageOf(v.Guardrails.Newest(readerOf(ctx, v, nil), in.GetOrganizationId()), func(g *guardrails.Guardrail) string { return g.ID }, in)
	if err != nil {
		return nil, err
	}
	out := &gatewayv1.ListGuardrailsResponse{Object: "list", HasMore: page.more, TotalCount: uint32(page.total), NextCursor: textOrNull(page.next)}
	for _, g := range page.items {
		out.Guardrails = append(out.GetGuardrails(), guardrailRecord(g))
	}
	return out, nil
}

// GetGuardrail shows one guardrail.
func (s guardrailService) GetGuardrail(ctx context.Context, in *gatewayv1.GetGuardrailRequest) (*gatewayv1.GuardrailRecord, error) {
	v, err := operation.Current(ctx, s.state)
	if err != nil {
		return nil, err
	}
	g, err := v.Guardrails.Find(nil, "guardrail_id", in.GetGuardrailId(), readerOf(ctx, v, nil))
	if err != nil {
		return nil, err
	}
	return guardrailRecord(g), nil
}

// UpdateGuardrail changes what the request gives.
func (s guardrailService) UpdateGuardrail(ctx context.Context, in *gatewayv1.UpdateGuardrailRequest) (*gatewayv1.GuardrailRecord, error) {
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.GuardrailRecord, error) {
		g, err := v.Guardrails.FindToChange(tx, "guardrail_id", in.GetGuardrailId(), readerOf(ctx, v, tx))
		if err != nil {
			return nil, err
		}
		next := *g
		if in.GuardrailName != nil {
			next.Name = in.GetGuardrailName()
		}
		if in.DefaultOn != nil {
			next.DefaultOn = in.GetDefaultOn()
		}
		if len(in.GetEngines()) > 0 {
			next.Engines = enginesOf(in.GetEngines())
		}
		after, err := v.Guardrails.Update(tx, g, next, operation.IfRevision(ctx))
		if err != nil {
			return nil, err
		}
		return guardrailRecord(after), nil
	})
}

// DeleteGuardrail deletes a guardrail.
func (s guardrailService) DeleteGuardrail(ctx context.Context, in *gatewayv1.DeleteGuardrailRequest) (*gatewayv1.DeleteGuardrailResponse, error) {
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.DeleteGuardrailResponse, error) {
		g, err := v.Guardrails.FindToChange(tx, "guardrail_id", in.GetGuardrailId(), readerOf(ctx, v, tx))
		if err != nil {
			return nil, err
		}
		v.Guardrails.Delete(tx, g)
		return &gatewayv1.DeleteGuardrailResponse{GuardrailId: g.ID, Deleted: true}, nil
	})
}

// ListGuardrailEngines shows the engines that guardrails can have.
func (guardrailService) ListGuardrailEngines(context.Context, *gatewayv1.ListGuardrailEnginesRequest) (*gatewayv1.ListGuardrailEnginesResponse, error) {
	out := &gatewayv1.ListGuardrailEnginesResponse{}
	for _, k := range guardrails.Kinds() {
		schema, err := structpb.NewStruct(k.Schema())
		if err != nil {
			return nil, err
		}
		out.Engines = append(out.GetEngines(), &gatewayv1.EngineDescription{
			EngineName: k.Name, Description: k.Description, EventHooks: k.Hooks, ConfigSchema: schema,
		})
	}
	return out, nil
}

// thousandths is what certainties are counted in.
const thousandths = 1000

func enginesOf(in []*gatewayv1.GuardrailEngine) []guardrails.Engine {
	out := make([]guardrails.Engine, len(in))
	for i, e := range in {
		c := e.GetConfig()
		out[i] = guardrails.Engine{
			Name: e.GetEngineName(), Hooks: e.GetEventHooks(), Entities: c.GetEntities(), Action: c.GetAction(), Language: c.GetLanguage(),
			ViolationMessage: c.GetViolationMessage(), BannedKeywords: c.GetBannedKeywords(), BannedPatterns: c.GetBannedPatterns(),
			AllowedTools: c.GetAllowedTools(), BlockedTools: c.GetBlockedTools(), OnViolation: c.GetOnViolation(), Detectors: c.GetDetectors(),
		}
		if c != nil && c.ScoreThreshold != nil {
			out[i].Threshold = new(uint32(math.Round(c.GetScoreThreshold() * thousandths)))
		}
	}
	return out
}

// guardrailRecord is a guardrail as the API shows it.
func guardrailRecord(g *guardrails.Guardrail) *gatewayv1.GuardrailRecord {
	out := &gatewayv1.GuardrailRecord{GuardrailId: g.ID, GuardrailName: g.Name, OrganizationId: textOrNull(string(g.Organization)), DefaultOn: g.DefaultOn}
	for i := range g.Engines {
		out.Engines = append(out.GetEngines(), showEngine(&g.Engines[i]))
	}
	showMeta(out, g.Meta)
	return out
}

func showEngine(e *guardrails.Engine) *gatewayv1.GuardrailEngine {
	c := &gatewayv1.GuardrailConfig{
		Entities: e.Entities, Action: given(e.Action), Language: given(e.Language), ViolationMessage: given(e.ViolationMessage),
		BannedKeywords: e.BannedKeywords, BannedPatterns: e.BannedPatterns, AllowedTools: e.AllowedTools, BlockedTools: e.BlockedTools,
		OnViolation: given(e.OnViolation), Detectors: e.Detectors,
	}
	if e.Threshold != nil {
		c.ScoreThreshold = new(float64(*e.Threshold) / thousandths)
	}
	return &gatewayv1.GuardrailEngine{EngineName: e.Name, Config: c, EventHooks: e.Hooks}
}

// given is a text of a request's message that may be missing.
func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
