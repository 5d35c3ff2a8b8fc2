package mgmt

import (
	"context"
	"math"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/resource"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

type guardrailService struct {
	gatewayv1.UnimplementedGuardrailServiceServer
	service
	screen Screen
	sealer operation.Sealer
	reach  reach
}

// fieldGuardrail names a guardrail by its id or by its name.
const fieldGuardrail = "guardrail_id"

// CreateGuardrail creates a guardrail.
func (s guardrailService) CreateGuardrail(ctx context.Context, in *gatewayv1.CreateGuardrailRequest) (*gatewayv1.GuardrailRecord, error) {
	fresh := id.NewUUID()
	return changed(ctx, s.state, guardrailRecord, func(c caller) (*guardrails.Guardrail, error) {
		org, err := c.ownerFor(in.OrganizationId)
		if err != nil {
			return nil, err
		}
		engines, err := s.engines(fresh, in.GetEngines(), nil)
		if err != nil {
			return nil, err
		}
		return c.view.Guardrails.Create(c.tx, guardrails.Guardrail{
			Head: resource.Head{ID: fresh, Name: in.GetGuardrailName(), Organization: org}, DefaultOn: in.GetDefaultOn(), Engines: engines,
		})
	})
}

// ListGuardrails shows the guardrails that the caller may use.
func (s guardrailService) ListGuardrails(ctx context.Context, in *gatewayv1.ListGuardrailsRequest) (*gatewayv1.ListGuardrailsResponse, error) {
	c := viewer(ctx)
	page, err := pageOf(c.view.Guardrails.Newest(c.reader(), in.GetOrganizationId()), func(g *guardrails.Guardrail) string { return g.ID }, in)
	if err != nil {
		return nil, err
	}
	return &gatewayv1.ListGuardrailsResponse{
		Object: objectList, HasMore: page.more, TotalCount: uint32(page.total), NextCursor: textOrNull(page.next),
		Guardrails: shownAll(slices.Values(page.items), guardrailRecord),
	}, nil
}

// GetGuardrail shows one guardrail.
func (s guardrailService) GetGuardrail(ctx context.Context, in *gatewayv1.GetGuardrailRequest) (*gatewayv1.GuardrailRecord, error) {
	return found(ctx, s.state, guardrailRecord, func(c caller) (*guardrails.Guardrail, error) {
		return c.view.Guardrails.Find(nil, fieldGuardrail, in.GetGuardrailId(), c.reader())
	})
}

// UpdateGuardrail changes the fields in the request.
func (s guardrailService) UpdateGuardrail(ctx context.Context, in *gatewayv1.UpdateGuardrailRequest) (*gatewayv1.GuardrailRecord, error) {
	return changed(ctx, s.state, guardrailRecord, func(c caller) (*guardrails.Guardrail, error) {
		g, err := c.view.Guardrails.FindToChange(c.tx, fieldGuardrail, in.GetGuardrailId(), c.reader())
		if err != nil {
			return nil, err
		}
		next := *g
		next.Name, next.DefaultOn = orElse(in.GuardrailName, g.Name), orElse(in.DefaultOn, g.DefaultOn)
		if next.Name != g.Name && c.view.Catalog.GuardrailUsers("", g.Name) > 0 && g.Organization == "" {
			return nil, fileNames(g)
		}
		if len(in.GetEngines()) > 0 {
			if next.Engines, err = s.engines(g.ID, in.GetEngines(), g.Engines); err != nil {
				return nil, err
			}
		}
		return c.view.Guardrails.Update(c.tx, g, next, operation.IfRevision(ctx))
	})
}

// DeleteGuardrail deletes a guardrail.
func (s guardrailService) DeleteGuardrail(ctx context.Context, in *gatewayv1.DeleteGuardrailRequest) (*gatewayv1.DeleteGuardrailResponse, error) {
	return change(ctx, s.state, func(c caller) (*gatewayv1.DeleteGuardrailResponse, error) {
		g, err := c.view.Guardrails.FindToChange(c.tx, fieldGuardrail, in.GetGuardrailId(), c.reader())
		if err != nil {
			return nil, err
		}
		if err := c.set.CheckGuardrailUnused(c.tx, g.ID, c.deploymentsWith(g)); err != nil {
			return nil, err
		}
		c.view.Guardrails.Delete(c.tx, g)
		return &gatewayv1.DeleteGuardrailResponse{GuardrailId: g.ID, Deleted: true}, nil
	})
}

// deploymentsWith returns how many deployments have a guardrail. Those of the file may name it, if it is everybody's.
func (c caller) deploymentsWith(g *guardrails.Guardrail) int {
	if g.Organization != "" {
		return 0
	}
	return c.view.Catalog.GuardrailUsers(g.ID, g.Name)
}

// fileNames is the error for a change of a name that deployments of the configuration file have.
func fileNames(g *guardrails.Guardrail) error {
	return &fault.Error{
		Kind: fault.Conflict, Code: "guardrail_in_use", Param: "guardrail_name",
		Detail: "Models of the configuration file name the guardrail " + fault.Quote(g.Name) + ", and their requests would be rejected. Write its guardrail_id there first.",
	}
}

// ListGuardrailEngines shows the engines that a guardrail can have.
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

// thousandths is the unit of stored thresholds and scores.
const thousandths = 1000

func enginesOf(in []*gatewayv1.GuardrailEngine) []guardrails.Engine {
	out := make([]guardrails.Engine, len(in))
	for i, e := range in {
		c := e.GetConfig()
		out[i] = guardrails.Engine{
			Name: guardrails.CanonicalName(e.GetEngineName()), Hooks: e.GetEventHooks(), Entities: c.GetEntities(), Action: c.GetAction(), Language: c.GetLanguage(),
			ViolationMessage: c.GetViolationMessage(), BannedKeywords: c.GetBannedKeywords(), BannedPatterns: c.GetBannedPatterns(),
			AllowedTools: c.GetAllowedTools(), BlockedTools: c.GetBlockedTools(), OnViolation: c.GetOnViolation(), Detectors: c.GetDetectors(),
			Match: c.GetMatch(), OnError: c.GetOnError(), Unscannable: c.GetUnscannable(), Reversible: c.GetReversible(), Regions: c.GetRegions(),
			AllowList: c.GetAllowList(), APIBase: c.GetApiBase(), MaxParallel: uint32(c.GetMaxParallelRequests()),
			TimeoutMillis: uint32(math.Round(c.GetTimeout() * thousandths)),
		}
		if len(out[i].Hooks) == 0 {
			out[i].Hooks = guardrails.HooksOf(out[i].Name)
		}
		if c != nil {
			out[i].Threshold = toThousandths(c.ScoreThreshold)
		}
		for _, r := range c.GetRecognizers() {
			out[i].Recognizers = append(out[i].Recognizers, guardrails.Recognizer{
				Entity: r.GetEntity(), Pattern: r.GetPattern(), Context: r.GetContext(), Score: toThousandths(r.Score),
			})
		}
	}
	return out
}

// guardrailRecord returns a guardrail in the form of the API.
func guardrailRecord(g *guardrails.Guardrail) *gatewayv1.GuardrailRecord {
	out := &gatewayv1.GuardrailRecord{GuardrailId: g.ID, GuardrailName: g.Name, OrganizationId: textOrNull(string(g.Organization)), DefaultOn: g.DefaultOn}
	out.Engines = shownAll(slices.Values(g.Engines), showEngine)
	showMeta(out, g.Meta)
	return out
}

func showEngine(e guardrails.Engine) *gatewayv1.GuardrailEngine {
	c := &gatewayv1.GuardrailConfig{
		Entities: e.Entities, Action: given(e.Action), Language: given(e.Language), ViolationMessage: given(e.ViolationMessage),
		BannedKeywords: e.BannedKeywords, BannedPatterns: e.BannedPatterns, AllowedTools: e.AllowedTools, BlockedTools: e.BlockedTools,
		OnViolation: given(e.OnViolation), Detectors: e.Detectors, Match: given(e.Match), OnError: given(e.OnError),
		Unscannable: given(e.Unscannable), Regions: e.Regions, AllowList: e.AllowList, ScoreThreshold: fromThousandths(e.Threshold),
	}
	showService(c, &e)
	if e.Reversible {
		c.Reversible = &e.Reversible
	}
	for _, r := range e.Recognizers {
		c.Recognizers = append(c.GetRecognizers(), &gatewayv1.GuardrailRecognizer{
			Entity: r.Entity, Pattern: r.Pattern, Context: r.Context, Score: fromThousandths(r.Score),
		})
	}
	return &gatewayv1.GuardrailEngine{EngineName: e.Name, Config: c, EventHooks: e.Hooks}
}

func toThousandths(score *float64) *uint32 {
	if score == nil {
		return nil
	}
	return new(uint32(math.Round(*score * thousandths)))
}

func fromThousandths(score *uint32) *float64 {
	if score == nil {
		return nil
	}
	return new(float64(*score) / thousandths)
}

// given returns an optional text of a message; nil if it is empty.
func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
