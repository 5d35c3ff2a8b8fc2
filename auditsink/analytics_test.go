package auditsink_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/auditsink"
	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/delivery"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/cluster/usageaudit"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// posted is a ledger and an audit log in a real state, and the attempts that were posted.
type posted struct {
	stored

	random   *rand.Rand
	seq      uint64
	attempts []attempt
}

type attempt struct {
	usage.Attempt
	usage.Result
}

func newPosted(t *testing.T, seed uint64) *posted {
	t.Helper()
	state, err := store.Open(store.Config{Dir: "state", Kind: store.StateStore, FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	p := &posted{stored: stored{t: t, state: state, next: make(chan struct{})}, random: rand.New(rand.NewPCG(seed, 2))}
	tx := state.NewTx()
	defer tx.Close()
	if f := ledger.BeginRows(tx); f != nil {
		t.Fatal(f)
	}
	if err := tx.CommitReplayable(); err != nil {
		t.Fatal(err)
	}
	return p
}

// Count and From are those of the state's usage records.
func (p *posted) Count(_ context.Context, first, last uint64) (uint64, error) {
	return ledger.CountRows(p.state, first, last)
}

func (p *posted) From(ctx context.Context, number uint64, fn func(uint64, ledger.Record) bool) error {
	return ledger.RowsFrom(ctx, p.state, number, fn)
}

// post posts n random attempts as one entry of the log. Some ended long ago, and some say that they
// end next year.
func (p *posted) post(n int) {
	p.t.Helper()
	run := &clusterv1.PostUsage{Node: "n1", Epoch: 1, First: p.seq + 1}
	for range n {
		a := p.draw()
		p.attempts = append(p.attempts, a)
		e, enc := &clusterv1.UsageEvent{Version: 3}, usage.Encoder{}
		enc.Attempt(e, &a.Attempt)
		enc.Result(e, &a.Result)
		text, err := proto.Marshal(e)
		if err != nil {
			p.t.Fatal(err)
		}
		run.Events = append(run.GetEvents(), text)
	}
	p.seq += uint64(n)
	tx := p.state.NewTx()
	defer tx.Close()
	out, f := ledger.Post(tx, run, time.Now())
	if f != nil {
		p.t.Fatal(f)
	}
	if f := audit.AppendAll(tx, audit.DefaultWorkspace, usageaudit.Records(out.Notes), time.Now()); f != nil {
		p.t.Fatal(f)
	}
	if err := tx.CommitReplayable(); err != nil {
		p.t.Fatal(err)
	}
}

func (p *posted) draw() (a attempt) {
	r := p.random
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	end := time.Now().Add(-time.Duration(r.IntN(2000)) * time.Millisecond)
	switch r.IntN(40) {
	case 0:
		end = end.Add(-time.Duration(r.IntN(30)) * time.Hour)
	case 1:
		end = end.AddDate(1, 0, 0)
	}
	target := pick("openai/gpt-5", "anthropic/claude-5", "azure/gpt-5")
	a.Request, a.Number = id.Request(fmt.Sprintf("req_%d", len(p.attempts))), 1
	a.Key[0] = byte(r.IntN(5))
	a.KeyAlias, a.CallType = fmt.Sprintf("key-%d", a.Key[0]), "acompletion"
	a.Provider, a.Model, _ = strings.Cut(target, "/")
	a.Deployment, a.Group = id.Deployment("d-"+a.Provider), id.ModelName(pick("fast", "smart"))
	a.Team, a.User = id.Team([]string{"", "red", "blue"}[a.Key[0]%3]), id.User(pick("", "ada"))
	a.Tags = [][]string{nil, {"a"}, {"a", "b ü"}}[r.IntN(3)]
	a.Steps = usage.Steps{Counted: true, Retries: r.IntN(2), Fallbacks: r.IntN(2)}
	a.Start, a.End = end.Add(-time.Duration(r.IntN(9_000_000))*time.Microsecond), end
	a.Tokens = usage.Tokens{Input: 100 + r.Int64N(1e6), Output: r.Int64N(1e4), CacheRead: r.Int64N(100)}
	a.Cost = money.Pico([]int64{0, r.Int64N(9), r.Int64N(1e12), r.Int64N(1e18)}[r.IntN(4)])
	a.Source = []usage.Source{usage.Provider, usage.Estimated}[r.IntN(2)]
	a.Outcome = []usage.Outcome{usage.Success, usage.Success, usage.Failed, usage.Canceled}[r.IntN(4)]
	a.Final = r.IntN(8) > 0
	if a.Outcome == usage.Failed {
		a.Failures = []usage.Failure{{Attempt: 1, Provider: a.Provider, Cause: pick("http_429", "connect_refused"), Message: "canary-message"}}
	}
	if r.IntN(5) == 0 {
		a.Guardrails = []string{"pii"}
		for range r.IntN(3) {
			a.Violations = append(a.Violations, usage.Violation{
				Guardrail: "pii", Engine: "presidio", Hook: "pre_call", Entity: pick("PERSON", "URL"), Action: "anonymize", Place: pick("", "messages[0].content"), Count: 1 + r.Int64N(3),
			})
		}
	}
	return a
}

// TestAnalytics posts random usage for most of a day, with late records, wrong clocks, a bucket that is away and
// changes of the leader. DuckDB reads the files and comes to the sums of the ledger, exactly.
func TestAnalytics(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bucket")
	var expected map[string][]string
	synctest.Test(t, func(t *testing.T) {
		p := newPosted(t, 1)
		defer func() { _ = p.state.Close() }()
		fill(t, p, dir)
		expected = expectedOf(t, p)
	})

	files, err := filepath.Glob(filepath.Join(dir, "usage", "dt=*", "*.parquet"))
	if err != nil || len(files) < 18 {
		t.Errorf("%d files of usage records: %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || strings.Contains(string(text), "canary") {
			t.Errorf("%s has a provider's message, or cannot be read: %v", file, err)
		}
	}
	once := filepath.Join(t.TempDir(), "once.sql")
	if err := os.WriteFile(once, []byte(`SELECT 'usage', count(*), count(DISTINCT "row"), count(DISTINCT event_id), max("row") FROM usage
UNION ALL SELECT 'audit', count(*), count(DISTINCT number), count(DISTINCT event_id), max(number) FROM audit
UNION ALL SELECT 'findings', count(*), count(v->>'$.entity'), 0, 0 FROM (SELECT unnest(guardrail_violations) AS v FROM audit WHERE event_type = 'request.guardrail_triggered')
UNION ALL SELECT 'early', count(*), 0, 0, 0 FROM usage WHERE CAST(end_time AS DATE) > dt AND end_time < TIMESTAMPTZ '2000-06-01 00:00:00Z'`), 0o600); err != nil {
		t.Fatal(err)
	}
	queries, err := filepath.Glob("../examples/analytics/queries/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	got := query(t, dir, append(queries, once)...)
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Errorf("-ledger +DuckDB\n%s", diff)
	}
}

// fill posts usage for most of a day while two nodes take turns at leading, and waits until all is in the bucket.
func fill(t *testing.T, p *posted, dir string) {
	t.Helper()
	a, b := newBench(t), newBench(t)
	b.cursors = a.cursors
	var stops []func()
	for _, one := range []*bench{a, b} {
		one.change(func(s *delivery.Settings) { s.Webhook = false })
		c := one.config()
		c.Source = auditsink.Log{View: func(fn func(audit.Reader) error) error { return fn(p.state) }, Changed: p.changed, Workspace: audit.DefaultWorkspace}
		c.Usage, c.BucketURL = p, "file://"+dir
		_, stop := one.start(c)
		stops = append(stops, stop)
	}
	for range 110 {
		p.post(1 + p.random.IntN(9))
		leads := p.random.IntN(5) // 2 to 4: none
		a.lead(leads == 0)
		b.lead(leads == 1)
		a.cursors.set(p.random.IntN(4) == 0)
		away(t, dir, p.random.IntN(4) == 0)
		time.Sleep(time.Duration(p.random.IntN(1200)) * time.Second)
	}
	away(t, dir, false)
	a.cursors.set(false)
	a.lead(true)
	b.lead(false)
	time.Sleep(3 * time.Hour)
	for _, stop := range stops {
		stop()
	}
}

// away takes the bucket away, or brings it back: a file is in its place.
func away(t *testing.T, dir string, gone bool) {
	t.Helper()
	is, err := os.Stat(dir)
	switch {
	case gone && err == nil && is.IsDir():
		err = errors.Join(os.Rename(dir, dir+"-away"), os.WriteFile(dir, nil, 0o600))
	case !gone && err == nil && !is.IsDir():
		err = errors.Join(os.Remove(dir), os.Rename(dir+"-away", dir))
	default:
		return
	}
	if err != nil {
		t.Fatal(err)
	}
}

// query runs queries with DuckDB. It returns the rows of each in a fixed order, with the values as text.
func query(t *testing.T, bucket string, queries ...string) map[string][]string {
	t.Helper()
	python := os.Getenv("MODELGATEWAY_PYTHON")
	if python == "" {
		python = "../.tmp/bin/python-sdks"
	}
	if _, err := os.Stat(python); err != nil {
		t.Fatalf("no Python with DuckDB; run: make sdks (%v)", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, append([]string{"../examples/analytics/query.py", bucket}, queries...)...)
	var failed strings.Builder
	cmd.Stderr = &failed
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, failed.String())
	}
	var results map[string]struct {
		Rows [][]any `json:"rows"`
	}
	if err := json.Unmarshal(text, &results); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	out := map[string][]string{}
	for name, result := range results {
		for _, row := range result.Rows {
			out[name] = append(out[name], line(row...))
		}
		slices.Sort(out[name])
	}
	return out
}

// line joins the values of a row. nil is empty.
func line(values ...any) string {
	var out []string
	for _, v := range values {
		switch v := v.(type) {
		case nil:
			out = append(out, "")
		case float64:
			out = append(out, fmt.Sprintf("%.12g", v))
		default:
			out = append(out, fmt.Sprint(v))
		}
	}
	return strings.Join(out, "|")
}

// dollars is an amount with all its decimals.
func dollars(t *testing.T, total money.Total) string {
	t.Helper()
	r, ok := new(big.Rat).SetString(total.String())
	if !ok {
		t.Fatalf("%s is not a number", total)
	}
	return r.FloatString(12)
}
