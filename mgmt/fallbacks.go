package mgmt

import (
	"cmp"
	"context"
	"slices"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/record"
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

// fallbackTypes are the types in the order in which they are shown.
func fallbackTypes() []string { return []string{typeGeneral, typeContextWindow, typeContentPolicy} }

// classOf is the class of a type, which the request's rules have checked.
func classOf(kind string) catalog.FallbackClass {
	switch kind {
	case typeContextWindow:
		return catalog.ContextWindowFallbacks
	case typeContentPolicy:
		return catalog.ContentPolicyFallbacks
	}
	return catalog.GeneralFallbacks
}

// fallbackRecord is a fallback as it is shown. Its revision is that of the router
// settings.
func fallbackRecord(f catalog.Fallback, kind string) *gatewayv1.FallbackRecord {
	return &gatewayv1.FallbackRecord{Model: f.From, FallbackModels: f.To, FallbackType: kind}
}

// setting is a request that says what a model falls back to.
type setting interface {
	GetModel() string
	GetFallbackModels() []string
	GetFallbackType() string
	GetIfRevision() float64
}

// CreateFallback says what a model falls back to.
func (s fallbackService) CreateFallback(ctx context.Context, in *gatewayv1.CreateFallbackRequest) (*gatewayv1.FallbackRecord, error) {
	return s.set(ctx, in)
}

// UpdateFallback says what a model falls back to.
func (s fallbackService) UpdateFallback(ctx context.Context, in *gatewayv1.UpdateFallbackRequest) (*gatewayv1.FallbackRecord, error) {
	return s.set(ctx, in)
}

func (s fallbackService) set(ctx context.Context, in setting) (*gatewayv1.FallbackRecord, error) {
	kind := cmp.Or(in.GetFallbackType(), typeGeneral)
	f := catalog.Fallback{Class: classOf(kind), From: in.GetModel(), To: in.GetFallbackModels()}
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.FallbackRecord, error) {
		if err := v.Catalog.SetFallback(tx, f, operation.IfRevision(ctx)); err != nil {
			return nil, err
		}
		out := fallbackRecord(f, kind)
		out.Message = "Fallback configuration saved for " + field.ShortName(f.From)
		return out, nil
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
			one := fallbackRecord(f, kind)
			one.Revision = float64(revision)
			out.Fallbacks = append(out.GetFallbacks(), one)
		}
	}
	return out, nil
}

// GetFallback shows what a model falls back to.
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
	out := fallbackRecord(list[at], kind)
	_, revision := v.Catalog.Patch()
	out.Revision = float64(revision)
	return out, nil
}

// DeleteFallback has a model fall back to nothing.
func (s fallbackService) DeleteFallback(ctx context.Context, in *gatewayv1.DeleteFallbackRequest) (*gatewayv1.DeleteFallbackResponse, error) {
	kind := cmp.Or(in.GetFallbackType(), typeGeneral)
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.DeleteFallbackResponse, error) {
		if err := v.Catalog.DeleteFallback(tx, classOf(kind), in.GetModel(), operation.IfRevision(ctx)); err != nil {
			return nil, err
		}
		return &gatewayv1.DeleteFallbackResponse{Model: in.GetModel(), FallbackType: kind, Message: "Fallback configuration deleted for " + field.ShortName(in.GetModel())}, nil
	})
}
