package ledger_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/usage"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// ledgerOf returns a ledger with attempts of two nodes, in the order of their ends.
func ledgerOf(t *rapid.T) (*store.Store, []*clusterv1.UsageEvent) {
	s := open(t)
	var all []*clusterv1.UsageEvent
	for _, node := range []string{"n1", "n2"} {
		var events []*clusterv1.UsageEvent
		for range rapid.IntRange(0, 15).Draw(t, "events") {
			e := drawEvent(t, func(id.Account) uint64 { return 0 })
			e.Tags = []string{fmt.Sprint(node, "/", len(events)+1)} // identifies it in the test
			events = append(events, e)
			if e.GetNotice() == nil {
				all = append(all, e)
			}
		}
		if _, f := post(t, s, run(t, node, 1, events...), day0()); f != nil {
			t.Fatal(f)
		}
	}
	slices.SortStableFunc(all, func(a, b *clusterv1.UsageEvent) int { return int(a.GetEndUnixNano() - b.GetEndUnixNano()) })
	return s, all
}

// TestLogs compares the pages of a filtered query with the expected records.
func TestLogs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, all := ledgerOf(t)
		f := ledger.LogFilter{NewestFirst: rapid.Bool().Draw(t, "newest first"), Limit: rapid.IntRange(0, 3).Draw(t, "limit")}
		if rapid.Bool().Draw(t, "by key") {
			f.Key = new(keyOf(rapid.IntRange(0, 2).Draw(t, "key")))
		}
		if rapid.Bool().Draw(t, "by request") {
			f.Request = id.Request(fmt.Sprint("req_", rapid.IntRange(0, 20).Draw(t, "request")))
		}
		f.Team = id.Team(rapid.SampledFrom([]string{"", "", "red"}).Draw(t, "team"))
		f.User = id.User(rapid.SampledFrom([]string{"", "", "ada"}).Draw(t, "user"))
		f.Customer = id.Customer(rapid.SampledFrom([]string{"", "", "carl"}).Draw(t, "customer"))
		f.Organization = id.Organization(rapid.SampledFrom([]string{"", "", "acme"}).Draw(t, "organization"))
		if rapid.Bool().Draw(t, "from") {
			f.From = day0().Add(rapid.SampledFrom([]time.Duration{0, 31 * time.Second, time.Minute}).Draw(t, "at"))
		}
		if rapid.Bool().Draw(t, "to") {
			f.To = day0().Add(rapid.SampledFrom([]time.Duration{3 * time.Second, 32 * time.Second, time.Hour}).Draw(t, "at"))
		}
		var want, got []string
		for _, e := range all {
			end := time.Unix(0, e.GetEndUnixNano())
			if (f.Key == nil || string(paidBy(e)) == string(f.Key[:])) && (f.Request == "" || e.GetRequest() == string(f.Request)) &&
				(f.Team == "" || e.GetTeam() == string(f.Team)) && (f.User == "" || e.GetUser() == string(f.User)) &&
				(f.Customer == "" || e.GetEndUser() == string(f.Customer)) && (f.Organization == "" || e.GetOrganization() == string(f.Organization)) &&
				(f.From.IsZero() || !end.Before(f.From)) && (f.To.IsZero() || end.Before(f.To)) {
				want = append(want, e.GetTags()[0])
			}
		}
		if f.NewestFirst {
			slices.Reverse(want)
		}
		f.Reads = rapid.SampledFrom([]int{0, 1, 4}).Draw(t, "reads")
		for on := true; on; {
			shown := 0
			err := ledger.Logs(t.Context(), s, f, func(r ledger.Record) bool {
				shown++
				got = append(got, r.Tags[0])
				if used := all[slices.IndexFunc(all, func(e *clusterv1.UsageEvent) bool { return e.GetTags()[0] == r.Tags[0] })]; string(r.Key[:]) != string(used.GetKeyHash()) || r.Account() != id.KeyHash(paidBy(used)) {
					t.Fatalf("event %s is shown as of %v, for %v", r.Tags[0], r.Key, r.Account())
				}
				if r.Tags[0] != fmt.Sprint(r.Node, "/", r.Seq) {
					t.Fatalf("event %s is shown as %s/%d", r.Tags[0], r.Node, r.Seq)
				}
				f.After = r.Cursor()
				return true
			})
			var more *ledger.MoreError
			switch {
			case errors.As(err, &more):
				f.After = more.After
			case err != nil:
				t.Fatal(err)
			}
			on = more != nil || f.Limit > 0 && shown == f.Limit
			if f.Limit > 0 && shown > f.Limit {
				t.Fatalf("%d records, the limit is %d", shown, f.Limit)
			}
		}
		slices.Sort(want) // events with the same end are ordered by node and number
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("-want +got\n%s", diff)
		}
	})
}

// TestLogsAreInOrder: records are ordered by the end of the attempt, or reversed.
func TestLogsAreInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, all := ledgerOf(t)
		for _, newest := range []bool{false, true} {
			var ends []int64
			err := ledger.Logs(t.Context(), s, ledger.LogFilter{NewestFirst: newest}, func(r ledger.Record) bool {
				ends = append(ends, r.End.UnixNano())
				return true
			})
			if err != nil {
				t.Fatal(err)
			}
			if newest {
				slices.Reverse(ends)
			}
			if !slices.IsSorted(ends) || len(ends) != len(all) {
				t.Fatalf("%d records of %d, sorted: %v", len(ends), len(all), slices.IsSorted(ends))
			}
		}
	})
}

// TestFarDays: queries from before and after the range of days in keys.
func TestFarDays(t *testing.T) {
	s := open(t)
	if _, f := post(t, s, run(t, "n1", 1, attempt(1, 7)), day0()); f != nil {
		t.Fatal(f)
	}
	early, late := time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		f    ledger.LogFilter
		want int
	}{
		{ledger.LogFilter{From: early, To: late}, 1},
		{ledger.LogFilter{From: late}, 0},
		{ledger.LogFilter{From: time.Date(2262, 4, 12, 0, 0, 0, 0, time.UTC)}, 0},
		{ledger.LogFilter{To: early}, 0},
		{ledger.LogFilter{To: time.Date(1600, 1, 1, 0, 0, 0, 0, time.UTC)}, 0},
	} {
		got := 0
		if err := ledger.Logs(t.Context(), s, c.f, func(ledger.Record) bool { got++; return true }); err != nil || got != c.want {
			t.Errorf("from %v to %v: %d records and %v, want %d", c.f.From, c.f.To, got, err, c.want)
		}
	}
}

// TestRecord: a record has all fields of its event.
func TestRecord(t *testing.T) {
	s := open(t)
	e := attempt(1, 7)
	e.Team, e.User, e.Organization, e.EndUser, e.Actor = "red", "ada", "acme", "carl", "ada's"
	e.Deployment, e.Stream, e.Session, e.Tags, e.ServiceTier = "d", true, "s", []string{"x"}, "flex"
	e.FirstTokenUnixNano, e.Status, e.ErrorCode, e.FinishReason, e.FallbackCount = day0().UnixNano()+5, 200, "code", "stop", 2
	e.Source, e.UsageCapped = clusterv1.UsageSource_USAGE_SOURCE_PROVIDER, true
	if _, f := post(t, s, run(t, "n1", 1, e), day0()); f != nil {
		t.Fatal(f)
	}
	err := ledger.Logs(t.Context(), s, ledger.LogFilter{}, func(r ledger.Record) bool {
		want := ledger.Record{
			Node: "n1", Epoch: 1, Seq: 1,
			Attempt: usage.Attempt{
				Request: "req_00000000000000000000000000000001", Number: 1, Key: keyOf(1), KeyAlias: "ada", Actor: "ada's",
				Team: "red", User: "ada", Organization: "acme", EndUser: "carl", Deployment: "d", Group: "gpt", Provider: "openai", Model: "gpt-5",
				CallType: "acompletion", Stream: true, Session: "s", Tags: []string{"x"}, Start: day0(),
				Tokens: usage.Tokens{Input: 10, Output: 5}, Cost: 7,
			},
			Result: usage.Result{
				FirstToken: day0().Add(5), End: day0().Add(time.Second), Status: 200, Outcome: usage.Success, ErrorCode: "code", FinishReason: "stop",
				Source: usage.Provider, FallbackCount: 2, ServiceTier: "flex", UsageCapped: true, Final: true,
			},
		}
		if diff := cmp.Diff(want, r, cmpopts.IgnoreUnexported(ledger.Record{})); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDaily compares the rows of every owner with sums over the events.
func TestDaily(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, all := ledgerOf(t)
		f := ledger.DailyFilter{Kind: rapid.SampledFrom([]id.AccountKind{0, id.AccountKey, id.AccountTeam, id.AccountUser, id.AccountOrganization, id.AccountCustomer}).Draw(t, "kind")}
		f.From = rapid.SampledFrom([]string{"", "2026-11-21", "2026-11-22"}).Draw(t, "from")
		f.To = rapid.SampledFrom([]string{"", "2026-11-21", "2026-11-22"}).Draw(t, "to")
		f.Model = id.ModelName(rapid.SampledFrom([]string{"", "gpt"}).Draw(t, "model"))
		if rapid.Bool().Draw(t, "by key") {
			f.Key = new(keyOf(1))
		}
		if f.Kind == id.AccountTeam && rapid.Bool().Draw(t, "by owner") {
			f.Owners = []string{"red", "nobody", "red"}
		}
		if f.Kind == id.AccountCustomer && rapid.Bool().Draw(t, "by owner") {
			f.Owners = []string{"c\u00e4sar", "carl"}
		}
		if f.Kind == id.AccountCustomer && rapid.Bool().Draw(t, "by organization") {
			f.Organization = new(id.Organization(rapid.SampledFrom([]string{"", "acme", "20261122"}).Draw(t, "organization")))
		}
		type name struct{ owner, organization, day, group, provider, key string }
		want, got := map[name]ledger.Counts{}, map[name]ledger.Counts{}
		for _, e := range all {
			owner := map[id.AccountKind]string{
				0: "", id.AccountKey: fmt.Sprintf("%x", paidBy(e)), id.AccountTeam: e.GetTeam(), id.AccountUser: e.GetUser(),
				id.AccountOrganization: e.GetOrganization(), id.AccountCustomer: e.GetEndUser(),
			}[f.Kind]
			organization := ""
			if f.Kind == id.AccountCustomer {
				organization = endUser(e).Part
			}
			n := name{owner, organization, time.Unix(0, e.GetEndUnixNano()).UTC().Format("2006-01-02"), e.GetGroup(), e.GetProvider(), fmt.Sprintf("%x", paidBy(e))}
			if owner == "" && f.Kind != 0 || f.Model != "" && string(f.Model) != n.group || f.Key != nil && string(f.Key[:]) != string(paidBy(e)) ||
				f.From != "" && n.day < f.From || f.To != "" && n.day > f.To || len(f.Owners) > 0 && !slices.Contains(f.Owners, owner) ||
				f.Organization != nil && organization != string(*f.Organization) {
				continue
			}
			c := want[n]
			c.Spend = c.Spend.Add(money.Pico(e.GetCostPico()).Total())
			c.PromptTokens += 10
			c.CompletionTokens += 5
			c.Attempts++
			c.Duration += time.Duration(e.GetEndUnixNano() - e.GetStartUnixNano()).Truncate(time.Millisecond)
			switch {
			case e.GetFinal() && e.GetOutcome() == clusterv1.Outcome_OUTCOME_SUCCESS:
				c.Successful++
			case e.GetFinal():
				c.Failed++
			}
			want[n] = c
		}
		var order []string
		err := ledger.Daily(t.Context(), s, f, func(r ledger.DailyRow) bool {
			at := r.Owner + "\x00"
			if r.Organization != "" {
				at += "\x00" + string(r.Organization) + "\x00"
			}
			order = append(order, at+r.Day)
			got[name{r.Owner, string(r.Organization), r.Day, string(r.Group), r.Provider, fmt.Sprintf("%x", r.Key[:])}] = r.Counts
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(name{})); diff != "" {
			t.Fatalf("%+v: -want +got\n%s", f, diff)
		}
		if !slices.IsSorted(order) || len(order) != len(got) {
			t.Fatalf("rows come as %q", order)
		}
		if len(order) > 1 { // and they end when fn returns false
			seen := 0
			if err := ledger.Daily(t.Context(), s, f, func(ledger.DailyRow) bool { seen++; return false }); err != nil || seen != 1 {
				t.Fatalf("%d rows after the first was enough, %v", seen, err)
			}
		}
	})
}

// TestTrimUsage deletes the oldest records up to the first that stays, and no money.
func TestTrimUsage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, all := ledgerOf(t)
		before, most := day0().Add(32*time.Second), rapid.IntRange(0, 30).Draw(t, "most")
		posted := func(e *clusterv1.UsageEvent) (n int) {
			node, seq, _ := strings.Cut(e.GetTags()[0], "/")
			n, err := strconv.Atoi(node[1:] + strings.Repeat("0", 3-len(seq)) + seq)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		slices.SortFunc(all, func(a, b *clusterv1.UsageEvent) int { return posted(a) - posted(b) })
		old := 0
		for _, e := range all { // they are too few for a block
			if e.GetEndUnixNano() >= before.UnixNano() {
				break
			}
			old++
		}
		n, f := entry(t, s, func(tx *store.Tx) (int, *fault.Error) { return ledger.TrimUsage(tx, before, most) })
		if f != nil || n != min(old, most) {
			t.Fatalf("%d are dropped, %v; %d of %d are old and %d the most", n, f, old, len(all), most)
		}
		left := 0
		if err := ledger.Logs(t.Context(), s, ledger.LogFilter{}, func(ledger.Record) bool { left++; return true }); err != nil || left != len(all)-n {
			t.Fatalf("%d are left of %d, %v", left, len(all), err)
		}
		sound(t, s)
	})
}

// TestBadQueries: they are rejected, and the error names the field.
func TestBadQueries(t *testing.T) {
	s := open(t)
	for _, c := range []struct {
		err   error
		param string
	}{
		{ledger.Logs(t.Context(), s, ledger.LogFilter{After: "!"}, nil), "starting_after"},
		{ledger.Logs(t.Context(), s, ledger.LogFilter{After: "AAAA"}, nil), "starting_after"},
		{ledger.Daily(t.Context(), s, ledger.DailyFilter{From: "yesterday"}, nil), "start_date"},
		{ledger.Daily(t.Context(), s, ledger.DailyFilter{To: "2026-13-01"}, nil), "end_date"},
	} {
		if f := fault.From(c.err); f == nil || f.Kind != fault.Malformed || f.Param != c.param {
			t.Errorf("got %v, want one of %s", c.err, c.param)
		}
	}
}
