package datalake

import (
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/money"
)

// auditRow is an audit record as GET /audit-log names its fields, without those that stay in the
// gateway.
type auditRow struct {
	Number              int64          `parquet:"number,delta"          json:"-"`
	EventID             string         `parquet:"event_id"              json:"event_id"`
	EventType           string         `parquet:"event_type,dict"       json:"event_type"`
	Timestamp           time.Time      `parquet:"timestamp,timestamp(microsecond)" json:"timestamp"`
	Recorded            time.Time      `parquet:"recorded_at,timestamp(microsecond)" json:"-"`
	WorkspaceID         string         `parquet:"workspace_id,dict"     json:"workspace_id"`
	OrgID               string         `parquet:"org_id,optional,dict"  json:"org_id"`
	TeamID              string         `parquet:"team_id,optional,dict" json:"team_id"`
	UserKeyHash         string         `parquet:"user_key_hash,optional,dict" json:"user_key_hash"`
	Model               string         `parquet:"model,optional,dict"   json:"model"`
	Provider            string         `parquet:"provider,optional,dict" json:"provider"`
	TokensInput         int64          `parquet:"tokens_input"          json:"tokens_input"`
	TokensOutput        int64          `parquet:"tokens_output"         json:"tokens_output"`
	Cost                decimal        `parquet:"cost_usd,decimal(12:38)" json:"-"`
	LatencyMs           int64          `parquet:"latency_ms"            json:"latency_ms"`
	GuardrailID         string         `parquet:"guardrail_id,optional,dict" json:"guardrail_id"`
	GuardrailViolations []string       `parquet:"guardrail_violations,list" json:"-"`
	FallbackCount       int64          `parquet:"fallback_count"        json:"fallback_count"`
	PolicyVersion       int64          `parquet:"policy_version"        json:"policy_version"`
	PreviousHash        string         `parquet:"previous_event_hash"   json:"previous_event_hash"`
	Hash                string         `parquet:"hash"                  json:"-"`
	CostText            jsontext.Value `parquet:"-"                     json:"cost_usd"`

	Violations []jsontext.Value `parquet:"-" json:"guardrail_violations"`
}

// WriteAudit writes a file with the audit records that read passes to its function. It passes
// read's error on.
func WriteAudit(w io.Writer, read func(fn func(audit.Record) bool) error) error {
	return write(w, func(add func(auditRow) bool) error {
		var bad error
		err := read(func(r audit.Record) bool {
			var row auditRow
			if row, bad = auditOf(r); bad != nil {
				bad = fmt.Errorf("audit record %d: %w", r.Number, bad)
				return false
			}
			return add(row)
		})
		if err == nil {
			err = bad
		}
		return err
	})
}

func auditOf(r audit.Record) (row auditRow, err error) {
	if err := json.Unmarshal(r.External, &row); err != nil {
		return row, err
	}
	cost, err := money.Parse(string(row.CostText))
	if err != nil {
		return row, err
	}
	row.Number, row.Recorded, row.Cost = int64(r.Number), r.Recorded, decimalOf(cost)
	for _, v := range row.Violations {
		row.GuardrailViolations = append(row.GuardrailViolations, string(v))
	}
	row.Hash = "sha256:" + hex.EncodeToString(r.Hash[:])
	return row, nil
}
