package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// chainRun is the number of records per log entry: a few hundred events have two each.
const chainRun = 512

// measureChain appends records to an audit chain like the state machine, on one core: text,
// hashes, tree, indexes and the write.
func measureChain(dir string, records int, r *report) (err error) {
	s, err := store.Open(store.Config{Dir: dir, Kind: store.StateStore, MinFreeBytes: 1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	clock, err := startTimer()
	if err != nil {
		return err
	}
	events := make([]*clusterv1.AuditEvent, chainRun)
	for i := range events {
		events[i] = auditEvent(i, clock.start)
	}
	for done := 0; done < records; done += chainRun {
		if err := appendRun(s, events[:min(chainRun, records-done)]); err != nil {
			return err
		}
	}
	took, err := clock.stop()
	r.rate("records appended to the audit chain, 1 core", records, took)
	return err
}

func appendRun(s *store.Store, events []*clusterv1.AuditEvent) error {
	tx := s.NewTx()
	defer tx.Close()
	if f := audit.AppendAll(tx, audit.DefaultWorkspace, events, time.Now()); f != nil {
		return f
	}
	return tx.CommitReplayable()
}

// auditEvent returns the audit event of the i-th request.
func auditEvent(i int, at time.Time) *clusterv1.AuditEvent {
	who := i % payers
	key := id.HashKey(fmt.Sprint("key-", who))
	return &clusterv1.AuditEvent{
		Type: "request.routed", TimeUnixNano: at.Add(time.Duration(i) * time.Millisecond).UnixNano(),
		OrgId: "acme", TeamId: fmt.Sprint("team-", who%teams), KeyHash: key[:], Actor: fmt.Sprint("key-", who),
		Model: "gpt-4o-mini-2024-07-18", Provider: provider, RequestId: fmt.Sprintf("req_%032x", i),
		TokensInput: 400, TokensOutput: 70, CostPico: int64(cost), LatencyMs: 812,
		DetailsJson: `{"attempt":1,"call_type":"chat.completions","model_group":"gpt-4o-mini","outcome":"success","status":200,"usage_source":"provider"}`,
	}
}
