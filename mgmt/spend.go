package mgmt

import (
	"context"
	"encoding/hex"
	"math"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/money"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

type spendService struct {
	gatewayv1.UnimplementedSpendServiceServer
	events Events
}

// The bounds of limit.
const (
	defaultLimit = 100
	maxLimit     = 1000
)

// ListSpendLogs returns usage events, the newest first.
func (s spendService) ListSpendLogs(ctx context.Context, in *gatewayv1.ListSpendLogsRequest) (*gatewayv1.ListSpendLogsResponse, error) {
	f, err := filter(in)
	if err != nil {
		return nil, err
	}
	out := &gatewayv1.ListSpendLogsResponse{}
	err = s.events.Scan(ctx, f, func(e journal.Event) bool {
		out.Logs = append(out.GetLogs(), row(&e))
		return true
	})
	return out, err
}

func filter(in *gatewayv1.ListSpendLogsRequest) (journal.Filter, error) {
	f := journal.Filter{Request: id.Request(in.GetRequestId()), Limit: int(in.GetLimit()), NewestFirst: true}
	if f.Limit == 0 {
		f.Limit = defaultLimit
	}
	if f.Limit < 1 || f.Limit > maxLimit {
		return f, fault.Field("limit", "invalid_value", "limit must be from 1 to %d.", maxLimit)
	}
	if in.GetApiKey() != "" {
		h, ok := id.ParseKeyHash(in.GetApiKey())
		if !ok {
			return f, fault.Field("api_key", "invalid_value", "api_key must be the key's SHA-256: 64 hex digits, with or without sha256: before them.")
		}
		f.Key = &h
	}
	var err error
	if f.From, err = instant("start_date", in.GetStartDate(), 0); err != nil {
		return f, err
	}
	f.To, err = instant("end_date", in.GetEndDate(), 1)
	return f, err
}

// instant reads a day or an instant; a day stands for its beginning, or with
// days = 1 for its end.
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

// row is an event as the API shows it.
func row(e *journal.Event) *gatewayv1.SpendLog {
	return &gatewayv1.SpendLog{
		RequestId:                string(e.Request),
		EventId:                  e.ID.String(),
		CallType:                 e.CallType,
		ApiKey:                   hex.EncodeToString(e.Key[:]),
		KeyAlias:                 e.KeyAlias,
		Spend:                    float64(e.Cost) / float64(money.USD), // correctly rounded: prints the exact decimal up to 15 digits
		TotalTokens:              count(e.Tokens.Input + e.Tokens.Output),
		PromptTokens:             count(e.Tokens.Input),
		CompletionTokens:         count(e.Tokens.Output),
		CacheReadInputTokens:     count(e.Tokens.CacheRead),
		CacheCreationInputTokens: count(e.Tokens.CacheWrite + e.Tokens.CacheWrite1h),
		ReasoningTokens:          count(e.Tokens.Reasoning),
		UsageSource:              e.Source.String(),
		StartTime:                timestamp(e.Start),
		EndTime:                  timestamp(e.End),
		CompletionStartTime:      timestamp(e.FirstToken),
		Model:                    e.Model,
		ModelId:                  string(e.Deployment),
		ModelGroup:               string(e.Group),
		CustomLlmProvider:        e.Provider,
		EndUser:                  e.EndUser,
		RequestTags:              e.Tags,
		Status:                   e.Outcome.String(),
		ErrorCode:                e.ErrorCode,
		HttpStatus:               int32(e.Status),
		FinishReason:             e.FinishReason,
		Attempt:                  int32(e.Attempt),
		FallbackCount:            int32(e.FallbackCount),
		Stream:                   e.Stream,
	}
}

// count is a number of tokens as the API shows it: as a JSON number, which
// protobuf's JSON form has for 32 bits only. What does not fit is cut to what does;
// the journal takes no report of more than 2^31 anyway.
func count(n int64) uint32 { return uint32(min(max(n, 0), math.MaxUint32)) }

func timestamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000000Z07:00")
}
