package mgmt

import (
	"cmp"
	"context"
	"slices"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/mgmt/field"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

type fallbackService struct {
	gatewayv1.UnimplementedFallbackServiceServer
	service
}

// Types of fallbacks.
const (
	typeGeneral       = "general"
	typeContextWindow = "context_window"
	typeContentPolicy = "content_policy"
)

// fallbackTypes returns the types in the order of responses.
func fallbackTypes() []string { return []string{typeGeneral, typeContextWindow, typeContentPolicy} }

// classOf returns the class of a type. The rules of the request have checked the type.
func classOf(kind string) catalog.FallbackClass {
	switch kind {
	case typeContextWindow:
		return catalog.ContextWindowFallbacks
	case typeContentPolicy:
		return catalog.ContentPolicyFallbacks
	}
	return catalog.GeneralFallbacks
}

// fallbackRecord returns a fallback in the form of the API. Its revision is that of the router
// settings.
func fallbackRecord(f catalog.Fallback, kind string, revision uint64) *gatewayv1.FallbackRecord {
	return &gatewayv1.FallbackRecord{Model: f.From, FallbackModels: f.To, FallbackType: kind, Revision: float64(revision)}
}

// setting is a request that sets the fallbacks of a model.
type setting interface {
	GetModel() string
	GetFallbackModels() []string
	GetFallbackType() string
	GetIfRevision() float64
}

// CreateFallback sets the fallbacks of a model.
func (s fallbackService) CreateFallback(ctx context.Context, in *gatewayv1.CreateFallbackRequest) (*gatewayv1.FallbackRecord, error) {
	return s.set(ctx, in)
}

// UpdateFallback sets the fallbacks of a model.
func (s fallbackService) UpdateFallback(ctx context.Context, in *gatewayv1.UpdateFallbackRequest) (*gatewayv1.FallbackRecord, error) {
	return s.set(ctx, in)
}

func (s fallbackService) set(ctx context.Context, in setting) (*gatewayv1.FallbackRecord, error) {
	kind := cmp.Or(in.GetFallbackType(), typeGeneral)
	f := catalog.Fallback{Class: classOf(kind), From: in.GetModel(), To: in.GetFallbackModels()}
	return change(ctx, s.state, func(c caller) (*gatewayv1.FallbackRecord, error) {
		out := fallbackRecord(f, kind, 0)
		out.Message = "Fallback configuration saved for " + field.ShortName(f.From)
		return out, c.view.Catalog.SetFallback(c.tx, f, operation.IfRevision(ctx))
	})
}

// ListFallbacks shows all fallbacks.
func (s fallbackService) ListFallbacks(ctx context.Context, in *gatewayv1.ListFallbacksRequest) (*gatewayv1.ListFallbacksResponse, error) {
	v, out := operation.View(ctx), &gatewayv1.ListFallbacksResponse{}
	_, revision := v.Catalog.Patch()
	for _, kind := range fallbackTypes() {
		if in.GetFallbackType() != "" && in.GetFallbackType() != kind {
			continue
		}
		for _, f := range v.Catalog.FallbackList(classOf(kind)) {
			out.Fallbacks = append(out.GetFallbacks(), fallbackRecord(f, kind, revision))
		}
	}
	return out, nil
}

// GetFallback shows the fallbacks of a model.
func (s fallbackService) GetFallback(ctx context.Context, in *gatewayv1.GetFallbackRequest) (*gatewayv1.FallbackRecord, error) {
	v, err := operation.Current(ctx, s.state)
	if err != nil {
		return nil, err
	}
	kind := cmp.Or(in.GetFallbackType(), typeGeneral)
	list := v.Catalog.FallbackList(classOf(kind))
	at := slices.IndexFunc(list, func(f catalog.Fallback) bool { return f.From == in.GetModel() })
	if at < 0 {
		return nil, catalog.NoFallback(in.GetModel())
	}
	_, revision := v.Catalog.Patch()
	return fallbackRecord(list[at], kind, revision), nil
}

// DeleteFallback deletes the fallbacks of a model.
func (s fallbackService) DeleteFallback(ctx context.Context, in *gatewayv1.DeleteFallbackRequest) (*gatewayv1.DeleteFallbackResponse, error) {
	kind := cmp.Or(in.GetFallbackType(), typeGeneral)
	out := &gatewayv1.DeleteFallbackResponse{Model: in.GetModel(), FallbackType: kind, Message: "Fallback configuration deleted for " + field.ShortName(in.GetModel())}
	return change(ctx, s.state, func(c caller) (*gatewayv1.DeleteFallbackResponse, error) {
		return out, c.view.Catalog.DeleteFallback(c.tx, classOf(kind), in.GetModel(), operation.IfRevision(ctx))
	})
}
