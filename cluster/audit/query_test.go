package audit_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/id"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// drawn draws an event. Fields have few values, so that events share them.
func drawn(t *rapid.T) *clusterv1.AuditEvent {
	pick := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(t, name) }
	e := &clusterv1.AuditEvent{
		Type:         pick("type", "key.created", "request.routed", "request.routed\x00x", "", "r\"\n\xff"),
		TimeUnixNano: base().UnixNano() + int64(rapid.IntRange(-3, 3).Draw(t, "time"))*int64(time.Second),
		OrgId:        pick("org", "", "a", "b"), TeamId: pick("team", "", "a", "é"), CustomerId: pick("customer", "", "c"),
		Model: pick("model", "", "m"), Provider: pick("provider", "", "openai"), RequestId: pick("request", "", "req_1", "req_2"),
		DetailsJson: pick("details", "", `{"a":1}`, "[1]"),
	}
	if n := rapid.IntRange(0, 2).Draw(t, "key"); n > 0 {
		h := id.HashKey(fmt.Sprint(n))
		e.KeyHash = h[:]
	}
	return e
}

// wants is an independent implementation of a filter.
func wants(f audit.Filter, e *clusterv1.AuditEvent) bool {
	at := time.Unix(0, e.GetTimeUnixNano()/1000*1000)
	is := func(want, have string) bool {
		return want == "" || strings.ToValidUTF8(want, "\ufffd") == strings.ToValidUTF8(have, "\ufffd")
	}
	return is(f.Type, e.GetType()) && is(f.Org, e.GetOrgId()) && is(f.Team, e.GetTeamId()) && is(f.Customer, e.GetCustomerId()) &&
		is(f.Model, e.GetModel()) && is(f.Provider, e.GetProvider()) && is(f.Request, e.GetRequestId()) &&
		(f.KeyHash == nil || string(f.KeyHash[:]) == string(e.GetKeyHash())) &&
		(f.From.IsZero() || !at.Before(f.From)) && (f.To.IsZero() || at.Before(f.To))
}

// TestQueryEqualsTheFilter compares results with a filtered list of the written events.
func TestQueryEqualsTheFilter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := memory{}
		events := rapid.SliceOfN(rapid.Custom(drawn), 0, 25).Draw(t, "events")
		for i, e := range events {
			if f := audit.Append(memoryTx{m}, workspace, e, base().Add(time.Duration(i))); f != nil {
				t.Fatal(f)
			}
		}
		like := drawn(t)
		f := audit.Filter{OldestFirst: rapid.Bool().Draw(t, "oldest first"), Limit: rapid.IntRange(0, 5).Draw(t, "limit")}
		for _, x := range []struct {
			to   *string
			want string
		}{
			{&f.Type, like.GetType()},
			{&f.Org, like.GetOrgId()},
			{&f.Team, like.GetTeamId()},
			{&f.Customer, like.GetCustomerId()},
			{&f.Model, like.GetModel()},
			{&f.Provider, like.GetProvider()},
			{&f.Request, like.GetRequestId()},
		} {
			if rapid.IntRange(0, 3).Draw(t, "by") == 0 {
				*x.to = x.want
			}
		}
		if len(like.GetKeyHash()) > 0 && rapid.Bool().Draw(t, "by key") {
			h := id.KeyHash(like.GetKeyHash())
			f.KeyHash = &h
		}
		if rapid.Bool().Draw(t, "from") {
			f.From = base().Add(time.Duration(rapid.IntRange(-4, 4).Draw(t, "from")) * time.Second)
		}
		if rapid.Bool().Draw(t, "to") {
			f.To = base().Add(time.Duration(rapid.IntRange(-4, 4).Draw(t, "to")) * time.Second)
		}
		var want []uint64
		for i, e := range events {
			if wants(f, e) {
				want = append(want, uint64(i+1))
			}
		}
		slices.SortFunc(want, func(a, b uint64) int {
			return cmp.Or(cmp.Compare(events[a-1].GetTimeUnixNano(), events[b-1].GetTimeUnixNano()), cmp.Compare(a, b))
		})
		if !f.OldestFirst {
			slices.Reverse(want)
		}
		// All pages.
		var got []uint64
		for {
			var page []uint64
			err := audit.Query(context.Background(), m, workspace, f, func(r audit.Record) bool {
				page = append(page, r.Number)
				return true
			})
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, page...)
			if f.Limit == 0 || len(page) < f.Limit {
				break
			}
			f.After = page[len(page)-1]
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("%+v (-want +got):\n%s", f, diff)
		}
		if len(got) < 3 {
			return
		}
		// Between two of them.
		var between []uint64
		f.Limit, f.After, f.Before = 0, got[0], got[len(got)-1]
		if err := audit.Query(context.Background(), m, workspace, f, func(r audit.Record) bool {
			between = append(between, r.Number)
			return true
		}); err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(got[1:len(got)-1], between); diff != "" {
			t.Fatalf("between two (-want +got):\n%s", diff)
		}
	})
}

func TestQueryOfAStore(t *testing.T) {
	s := open(t)
	fill(t, s, 300)
	key := id.HashKey("sk-1")
	at := base().Truncate(time.Microsecond) // records say no more of it
	for name, x := range map[string]struct {
		filter audit.Filter
		want   []uint64
	}{
		"the last two":    {audit.Filter{Limit: 2}, []uint64{300, 299}},
		"go on":           {audit.Filter{Limit: 2, After: 299}, []uint64{298, 297}},
		"of a key":        {audit.Filter{KeyHash: &key, Limit: 2}, []uint64{299, 293}},
		"of a request":    {audit.Filter{Request: fmt.Sprintf("req_%032x", 4), OldestFirst: true}, []uint64{9, 10}},
		"of a type":       {audit.Filter{Type: "key.created", Limit: 1}, []uint64{300}},
		"of a time":       {audit.Filter{From: at.Add(3 * time.Second), To: at.Add(5 * time.Second), OldestFirst: true}, []uint64{4, 5}},
		"of another team": {audit.Filter{Team: "team-9"}, nil},
		"before 1970":     {audit.Filter{To: time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)}, nil},
		"after 9999":      {audit.Filter{From: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}, nil},
	} {
		var got []uint64
		if err := audit.Query(t.Context(), s, workspace, x.filter, func(r audit.Record) bool {
			got = append(got, r.Number)
			return true
		}); err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(x.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	err := audit.Query(t.Context(), s, workspace, audit.Filter{After: 301}, func(audit.Record) bool { return true })
	if err == nil {
		t.Error("a cursor without a record is accepted")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := audit.Query(ctx, s, workspace, audit.Filter{}, func(audit.Record) bool { return true }); err == nil {
		t.Error("a canceled context is ignored")
	}
}

func TestFrom(t *testing.T) {
	s := open(t)
	fill(t, s, 10)
	var got []uint64
	if err := audit.From(t.Context(), s, workspace, 8, func(r audit.Record) bool {
		got = append(got, r.Number)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff([]uint64{8, 9, 10}, got); diff != "" {
		t.Error(diff)
	}
}
