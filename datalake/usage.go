package datalake

import (
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// usageRow is a usage record as GET /spend/logs names its fields, except user_id, because user is a
// reserved word in SQL.
type usageRow struct {
	Row           int64      `parquet:"row,delta"`
	EventID       string     `parquet:"event_id"`
	RequestID     string     `parquet:"request_id"`
	CallType      string     `parquet:"call_type,dict"`
	Stream        bool       `parquet:"stream"`
	SessionID     string     `parquet:"session_id,optional"`
	RequestTags   []string   `parquet:"request_tags,list"`
	APIKey        string     `parquet:"api_key,dict"`
	KeyAlias      string     `parquet:"key_alias,optional,dict"`
	TeamID        string     `parquet:"team_id,optional,dict"`
	UserID        string     `parquet:"user_id,optional,dict"`
	Organization  string     `parquet:"organization_id,optional,dict"`
	EndUser       string     `parquet:"end_user,optional,dict"`
	Model         string     `parquet:"model,dict"`
	ModelID       string     `parquet:"model_id,dict"`
	ModelGroup    string     `parquet:"model_group,dict"`
	Provider      string     `parquet:"custom_llm_provider,dict"`
	ServiceTier   string     `parquet:"service_tier,optional,dict"`
	Start         *time.Time `parquet:"start_time,optional,timestamp(microsecond)"`
	End           time.Time  `parquet:"end_time,timestamp(microsecond)"`
	FirstToken    *time.Time `parquet:"completion_start_time,optional,timestamp(microsecond)"`
	Spend         decimal    `parquet:"spend,decimal(12:38)"`
	UsageSource   string     `parquet:"usage_source,dict"`
	UsageCapped   bool       `parquet:"usage_capped"`
	TotalTokens   int64      `parquet:"total_tokens"`
	Input         int64      `parquet:"prompt_tokens"`
	Output        int64      `parquet:"completion_tokens"`
	CacheRead     int64      `parquet:"cache_read_input_tokens"`
	CacheCreation int64      `parquet:"cache_creation_input_tokens"`
	Reasoning     int64      `parquet:"reasoning_tokens"`
	Status        string     `parquet:"status,dict"`
	ErrorCode     string     `parquet:"error_code,optional,dict"`
	HTTPStatus    int32      `parquet:"http_status"`
	FinishReason  string     `parquet:"finish_reason,optional,dict"`
	Attempt       int32      `parquet:"attempt"`
	FallbackCount int32      `parquet:"fallback_count"`
	RetryCount    int32      `parquet:"retry_count"`
	Final         bool       `parquet:"final"`
	ClientStatus  int32      `parquet:"client_status"`
	Failures      []failure  `parquet:"failures,list"`
	PromptID      string     `parquet:"prompt_id,optional,dict"`
	PromptVersion *int32     `parquet:"prompt_version,optional"`
	PromptLabel   string     `parquet:"prompt_label,optional,dict"`
	Guardrails    []string   `parquet:"guardrails,list"`
	Violations    string     `parquet:"guardrail_violations,optional"` // a list, as JSON
}

// failure is a failed attempt of the request. It has no message, because a provider's message may
// describe the operator's account there.
type failure struct {
	Attempt           int32  `parquet:"attempt"`
	ModelID           string `parquet:"model_id,dict"`
	Provider          string `parquet:"custom_llm_provider,dict"`
	Status            int32  `parquet:"upstream_status"`
	Cause             string `parquet:"cause,dict"`
	Type              string `parquet:"error_type,optional,dict"`
	Code              string `parquet:"error_code,optional,dict"`
	ProviderRequestID string `parquet:"provider_request_id,optional"`
}

// WriteUsage writes a file with the usage records that read passes to its function, each with its
// number in the order of recording. It passes read's error on.
func WriteUsage(w io.Writer, read func(fn func(number uint64, r ledger.Record) bool) error) error {
	return write(w, func(add func(usageRow) bool) error {
		return read(func(number uint64, r ledger.Record) bool { return add(usageOf(number, &r)) })
	})
}

func usageOf(number uint64, r *ledger.Record) usageRow {
	return usageRow{
		Row: int64(number), EventID: fmt.Sprintf("%s/%d/%d", r.Node, r.Epoch, r.Seq), RequestID: string(r.Request),
		CallType: r.CallType, Stream: r.Stream, SessionID: r.Session, RequestTags: r.Tags,
		APIKey: hex.EncodeToString(r.Key[:]), KeyAlias: r.KeyAlias, TeamID: string(r.Team), UserID: string(r.User),
		Organization: string(r.Organization), EndUser: r.EndUser,
		Model: r.Model, ModelID: string(r.Deployment), ModelGroup: string(r.Group), Provider: r.Provider, ServiceTier: r.ServiceTier,
		Start: timeOrNull(r.Start), End: r.End, FirstToken: timeOrNull(r.FirstToken),
		Spend: decimalOf(r.Cost), UsageSource: r.Source.String(), UsageCapped: r.UsageCapped,
		TotalTokens: r.Tokens.Input + r.Tokens.Output, Input: r.Tokens.Input, Output: r.Tokens.Output,
		CacheRead: r.Tokens.CacheRead, CacheCreation: r.Tokens.CacheWrite + r.Tokens.CacheWrite1h, Reasoning: r.Tokens.Reasoning,
		Status: r.Outcome.String(), ErrorCode: r.ErrorCode, HTTPStatus: int32(r.Status), FinishReason: r.FinishReason,
		Attempt: int32(r.Number), FallbackCount: int32(r.Fallbacks()), RetryCount: int32(r.Steps.Retries),
		Final: r.Final, ClientStatus: int32(r.ClientStatus), Failures: failuresOf(r.Failures),
		PromptID: r.Prompt.ID, PromptVersion: versionOrNull(r.Prompt.Version), PromptLabel: r.Prompt.Label,
		Guardrails: r.Guardrails, Violations: violationsOf(r.Violations),
	}
}

func versionOrNull(version uint32) *int32 {
	if version == 0 {
		return nil
	}
	v := int32(version)
	return &v
}

func failuresOf(list []usage.Failure) []failure {
	out := make([]failure, len(list))
	for i := range list {
		f := &list[i]
		out[i] = failure{
			Attempt: int32(f.Attempt), ModelID: string(f.Deployment), Provider: f.Provider, Status: int32(f.Status),
			Cause: f.Cause, Type: f.Type, Code: f.Code, ProviderRequestID: f.RequestID,
		}
	}
	return out
}

// violation is what a guardrail has found, as GET /spend/logs names its fields.
type violation struct {
	Guardrail string  `json:"guardrail_id"`
	Engine    string  `json:"engine"`
	Hook      string  `json:"hook"`
	Entity    string  `json:"entity"`
	Action    string  `json:"action"`
	Count     int64   `json:"count"`
	Place     *string `json:"place"`
	Offset    int64   `json:"offset"`
}

// violationsOf returns a list as JSON; empty for none.
func violationsOf(list []usage.Violation) string {
	if len(list) == 0 {
		return ""
	}
	out := make([]violation, len(list))
	for i := range list {
		v := &list[i]
		out[i] = violation{Guardrail: v.Guardrail, Engine: v.Engine, Hook: v.Hook, Entity: v.Entity, Action: v.Action, Count: v.Count, Offset: v.Offset}
		if v.Place != "" {
			out[i].Place = &v.Place
		}
	}
	text, err := json.Marshal(out)
	if err != nil { // a text is not UTF-8, which no record contains
		return ""
	}
	return string(text)
}
