package mgmt

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"time"

	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

type spendService struct {
	gatewayv1.UnimplementedSpendServiceServer
	ledger Ledger
}

// The bounds of limit.
const (
	defaultLimit = 100
	maxLimit     = 1000
)

// ListSpendLogs returns usage events, the newest first.
func (s spendService) ListSpendLogs(ctx context.Context, in *gatewayv1.ListSpendLogsRequest) (*gatewayv1.ListSpendLogsResponse, error) {
	f, err := logFilter(in)
	if err != nil {
		return nil, err
	}
	if f.Key != nil {
		if *f.Key, err = accountOf(ctx, s.ledger, operation.View(ctx).Keys, *f.Key); err != nil {
			return nil, err
		}
	}
	c := viewer(ctx)
	if err := s.own(ctx, c, &f); err != nil {
		return nil, err
	}
	out, limit := &gatewayv1.ListSpendLogsResponse{}, f.Limit
	for {
		err := s.ledger.Logs(ctx, f, func(r ledger.Record) bool {
			row := spendLog(&r)
			if !c.rights.SeesAll() {
				hideMessages(row)
			} else if d, ok := c.view.Catalog.Deployment(r.Deployment); ok {
				row.ApiBase = textOrNull(d.Endpoint.URL() + d.BasePath)
			}
			out.Logs = append(out.GetLogs(), row)
			return true
		})
		var more *ledger.MoreError
		if !errors.As(err, &more) {
			return out, err
		}
		// The ledger reads a bounded number of events at once. This request continues, because a
		// list that is shorter than its limit says that there are no more events.
		f.After, f.Limit = more.After, limit-len(out.GetLogs())
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
	}
}

// own narrows a filter to what the caller may see.
func (s spendService) own(ctx context.Context, c caller, f *ledger.LogFilter) error {
	if c.oversees(f.Organization) {
		return nil
	}
	if f.Team != "" {
		if t, ok := c.set.Team(nil, f.Team); ok && c.overseesTeam(t) {
			return nil
		}
	}
	switch own := c.rights.User(); {
	case f.User != "" && f.User != own:
		return notYours("user_id", "This API key may see what its own user has used, and not what others have. Leave user_id out.")
	case own != "":
		f.User = own
		return nil
	}
	account, err := accountOf(ctx, s.ledger, c.set, operation.Principal(ctx).Hash)
	if err != nil {
		return err
	}
	if f.Key != nil && *f.Key != account {
		return notYours("api_key", "This API key acts as no user: it may see what it has used itself. Leave api_key out.")
	}
	f.Key = &account
	return nil
}

func logFilter(in *gatewayv1.ListSpendLogsRequest) (ledger.LogFilter, error) {
	f := ledger.LogFilter{
		Request: id.Request(in.GetRequestId()), Team: id.Team(in.GetTeamId()), User: id.User(in.GetUserId()),
		Customer: id.Customer(in.GetEndUser()), Organization: id.Organization(in.GetOrganizationId()), Session: in.GetSessionId(), Prompt: in.GetPromptId(), After: in.GetStartingAfter(), Limit: int(orElse(in.Limit, defaultLimit)), NewestFirst: true,
	}
	if f.Limit < 1 || f.Limit > maxLimit {
		return f, fault.Field("limit", "invalid_value", "limit must be from 1 to %d.", maxLimit)
	}
	if in.GetApiKey() != "" {
		h, err := reference("api_key", in.GetApiKey())
		if err != nil {
			return f, err
		}
		f.Key = &h
	}
	var err error
	f.From, f.To, err = between(in)
	return f, err
}

// between reads the period of a request; a missing bound is zero.
func between(in interface {
	GetStartDate() string
	GetEndDate() string
},
) (from, to time.Time, err error) {
	if from, err = instant("start_date", in.GetStartDate(), 0); err != nil {
		return from, to, err
	}
	if to, err = instant("end_date", in.GetEndDate(), 1); err != nil {
		return from, to, err
	}
	if !from.IsZero() && !to.IsZero() && !from.Before(to) {
		return from, to, fault.Field("end_date", "invalid_value", "end_date is before start_date. Exchange them.")
	}
	return from, to, nil
}

// instant reads a day or an instant. A day means its beginning, or with days = 1 its end.
func instant(param, text string, days int) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return t.AddDate(0, 0, days), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fault.Field(param, "invalid_value", "%s must be a day (2026-01-31) or an instant in RFC 3339.", param)
	}
	return t, nil
}

// attemptFailures returns failed attempts in the form of the API.
func attemptFailures(list []usage.Failure) []*gatewayv1.AttemptFailure {
	var out []*gatewayv1.AttemptFailure
	for i := range list {
		f := &list[i]
		out = append(out, &gatewayv1.AttemptFailure{
			Attempt: int32(f.Attempt), ModelId: string(f.Deployment), CustomLlmProvider: f.Provider,
			UpstreamStatus: int32(f.Status), Cause: f.Cause, ErrorType: textOrNull(f.Type), ErrorCode: textOrNull(f.Code),
			Message: textOrNull(f.Message), ProviderRequestId: textOrNull(f.RequestID),
		})
	}
	return out
}

// violations returns what guardrails found in the form of the API.
func violations(list []usage.Violation) []*gatewayv1.GuardrailViolation {
	out := make([]*gatewayv1.GuardrailViolation, len(list))
	for i := range list {
		v := &list[i]
		out[i] = &gatewayv1.GuardrailViolation{
			GuardrailId: v.Guardrail, Engine: v.Engine, Hook: v.Hook, Entity: v.Entity, Action: v.Action,
			Count: float64(v.Count), Place: textOrNull(v.Place), Offset: float64(v.Offset),
		}
	}
	return out
}

// hideMessages removes the providers' messages about failures. They may describe the
// operator's account there, so only callers that see everything get them.
func hideMessages(row *gatewayv1.SpendLog) {
	for _, f := range row.GetFailures() {
		f.Message = nil
	}
}

// spendLog returns a posted event in the form of the API.
func spendLog(r *ledger.Record) *gatewayv1.SpendLog {
	return &gatewayv1.SpendLog{
		RequestId: string(r.Request), EventId: fmt.Sprintf("%s/%d/%d", r.Node, r.Epoch, r.Seq), Cursor: r.Cursor(),
		CallType: r.CallType, Stream: r.Stream, SessionId: textOrNull(r.Session), RequestTags: r.Tags,
		ApiKey: hex.EncodeToString(r.Key[:]), KeyAlias: textOrNull(r.KeyAlias),
		TeamId: textOrNull(string(r.Team)), User: textOrNull(string(r.User)), OrganizationId: textOrNull(string(r.Organization)), EndUser: textOrNull(r.EndUser),
		Model: r.Model, ModelId: string(r.Deployment), ModelGroup: string(r.Group), CustomLlmProvider: r.Provider, ServiceTier: textOrNull(r.ServiceTier),
		StartTime: timestamp(r.Start), EndTime: timestamp(r.End), CompletionStartTime: textOrNull(timestamp(r.FirstToken)),

		Spend: inDollars(r.Cost), UsageSource: r.Source.String(), UsageCapped: r.UsageCapped,
		TotalTokens: count(r.Tokens.Input + r.Tokens.Output), PromptTokens: count(r.Tokens.Input), CompletionTokens: count(r.Tokens.Output),
		CacheReadInputTokens: count(r.Tokens.CacheRead), CacheCreationInputTokens: count(r.Tokens.CacheWrite + r.Tokens.CacheWrite1h),
		ReasoningTokens: count(r.Tokens.Reasoning),

		Status: r.Outcome.String(), ErrorCode: textOrNull(r.ErrorCode), HttpStatus: int32(r.Status), FinishReason: textOrNull(r.FinishReason),
		Attempt: int32(r.Number), FallbackCount: int32(r.Fallbacks()), RetryCount: int32(r.Steps.Retries),
		ClientStatus: int32(r.ClientStatus), Failures: attemptFailures(r.Failures),
		PromptId: textOrNull(r.Prompt.ID), PromptVersion: versionOrNull(r.Prompt.Version), PromptLabel: textOrNull(r.Prompt.Label),
		Guardrails: r.Guardrails, GuardrailViolations: violations(r.Violations), Passthrough: passthrough(r),
	}
}

// passthrough returns a request that was passed on unread in the form of the API; nil for others.
func passthrough(r *ledger.Record) *gatewayv1.PassthroughRequest {
	if r.Passed == (usage.Passed{}) {
		return nil
	}
	return &gatewayv1.PassthroughRequest{
		Method: r.Passed.Method, Path: r.Passed.Path, RequestBytes: float64(r.Passed.Bytes), ResponseBytes: float64(r.PassedBytes),
	}
}

// versionOrNull returns the version of a prompt; nil for none.
func versionOrNull(version uint32) *wrapperspb.UInt32Value {
	if version == 0 {
		return nil
	}
	return wrapperspb.UInt32(version)
}

// count returns a number of tokens in 32 bits, because the JSON form of protobuf writes larger
// integers as strings. It clamps larger counts; the journal rejects counts above 2^31 anyway.
func count(n int64) uint32 { return uint32(min(max(n, 0), math.MaxUint32)) }

func timestamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000000Z07:00")
}
