package mgmt

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/credential"
	"github.com/modelgateway/modelgateway/cluster/delivery"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/record/recordtest"
	"github.com/modelgateway/modelgateway/cluster/restore"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

const (
	masterKey  = "sk-the-master-key-0123456789"
	plainKey   = "sk-a-callers-key-0123456789"
	vendorMark = "mark-of-the-providers-key-90cd"
)

// fakeNode is alone, agrees with itself, and forgets everything. What a method is
// to fail with is in err.
type fakeNode struct {
	dailies atomic.Int64 // how often sums by day were read

	mu struct {
		sync.Mutex
		state   recordtest.State
		view    *cluster.View
		now     time.Time
		err     error
		hangs   bool     // operations wait for their context's end
		panic   string   // what operations panic with; empty: they do not
		actors  []string // who has changed something
		removed []id.Node
		backup  []byte // what Backup writes before err
		restore []byte // what Restore has read
		webhook delivery.Settings
		prices  string // the table that can be loaded
		notices []journal.Event
		books   books
		posted  uint64 // events
	}
	sealer *vault.Sealer
}

func (n *fakeNode) View() *cluster.View {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.mu.view
}

func (n *fakeNode) Current(ctx context.Context) (*cluster.View, error) {
	if err := n.begin(ctx); err != nil {
		return nil, err
	}
	return n.View(), nil
}

// fail makes every operation fail, or again succeed.
func (n *fakeNode) fail(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.mu.err = err
}

// panics makes every operation panic, or with no text not any more.
func (n *fakeNode) panics(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.mu.panic = text
}

// pass lets time pass.
func (n *fakeNode) pass(d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.mu.now = n.mu.now.Add(d)
}

// begin is where every operation begins.
func (n *fakeNode) begin(ctx context.Context) error {
	n.mu.Lock()
	hangs, text, err := n.mu.hangs, n.mu.panic, n.mu.err
	n.mu.Unlock()
	if text != "" {
		panic(text)
	}
	if hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	return err
}

// Change runs an operation as a node does: what it reads is the view, what it
// writes passes the wire and the state machine, and a lost race is run again.
func (n *fakeNode) Change(ctx context.Context, actor string, op cluster.Operation) (record.Committed, error) {
	if err := n.begin(ctx); err != nil {
		return record.Committed{}, err
	}
	for {
		n.mu.Lock()
		v, tx := n.mu.view, record.NewTxn(n.mu.now, actor)
		n.mu.Unlock()
		if err := op(v, tx); err != nil {
			return record.Committed{}, err
		}
		if tx.Empty() {
			return record.Committed{Revision: v.Revision}, nil
		}
		index, err := n.commit(tx)
		if err == nil {
			return record.Committed{Revision: index}, nil
		}
		if fault.From(err).Code != record.CodeStale {
			return record.Committed{}, err
		}
	}
}

func (n *fakeNode) commit(tx *record.Txn) (uint64, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	changes, index, err := n.mu.state.Commit(tx)
	if err != nil {
		return 0, err
	}
	next, _, broken := n.mu.view.With(changes, n.sealer.Open)
	webhook, bad := n.mu.webhook.With(changes, n.sealer.Open)
	if broken = append(broken, bad...); len(broken) > 0 {
		return 0, errors.Join(broken...)
	}
	if err := n.note(tx); err != nil {
		return 0, err
	}
	n.mu.webhook = webhook
	next.Revision = index
	n.mu.view = next
	n.mu.actors = append(n.mu.actors, tx.Actor())
	return index, nil
}

// do makes a change that the test begins with.
func (n *fakeNode) do(t *testing.T, op cluster.Operation) {
	t.Helper()
	if _, err := n.Change(t.Context(), "test", op); err != nil {
		t.Fatal(err)
	}
}

func (n *fakeNode) Replayed(_ context.Context, scope [32]byte) (*record.Remembered, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	value, ok, err := n.mu.state.Get(store.SpaceReplay, scope[:])
	if err != nil || !ok {
		return nil, err
	}
	found, err := record.ReadReplay(value)
	found.Stale = n.mu.now.Sub(found.UpdatedAt) > cluster.ReplayTime
	return &found, err
}

func (n *fakeNode) Status(ctx context.Context, _ bool) (cluster.Status, error) {
	return cluster.Status{
		Node: "11111111111111111111111111111111", Address: "10.0.0.1:7000", Version: "v1", State: "follower",
		Leader: consensus.Server{Node: "22222222222222222222222222222222", Address: "10.0.0.2:7000"},
		Term:   3, CommitIndex: 1 << 40, AppliedIndex: 7, Revision: n.View().Revision,
		Members: []cluster.MemberStatus{
			{Node: "11111111111111111111111111111111", Voter: true, Alive: true, State: "follower", ContactAge: 1500 * time.Millisecond, Lag: 5},
			{Node: "33333333333333333333333333333333", ContactAge: -1},
		},
		Problems: []string{"a node does not answer"},
	}, n.begin(ctx)
}

func (n *fakeNode) RemoveMember(ctx context.Context, node id.Node) error {
	if err := n.begin(ctx); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.mu.removed = append(n.mu.removed, node)
	return nil
}

func (n *fakeNode) Removed(ctx context.Context, node id.Node) (bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Contains(n.mu.removed, node), context.Cause(ctx)
}

func (n *fakeNode) Backup(ctx context.Context, w io.Writer) error {
	n.mu.Lock()
	b := n.mu.backup
	n.mu.Unlock()
	if len(b) > 0 {
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return n.begin(ctx)
}

func (n *fakeNode) Restore(ctx context.Context, r io.Reader, in cluster.RestoreRequest) (*restore.Report, error) {
	if err := n.RestoreAll(ctx, r); err != nil {
		return nil, err
	}
	_, err := n.Change(ctx, in.Actor, func(_ *cluster.View, tx *record.Txn) error {
		if in.Also == nil {
			return nil
		}
		return in.Also(tx, []byte("the restore"))
	})
	if err != nil {
		return nil, err
	}
	return n.RestoredBy(ctx, []byte("the restore"))
}

func (*fakeNode) RestoredBy(_ context.Context, name []byte) (*restore.Report, error) {
	if string(name) != "the restore" {
		return nil, nil //nolint:nilnil // it is not known
	}
	return &restore.Report{Index: 7, Backup: time.Unix(1, 0).UTC(), Counts: []restore.Count{
		{Name: "keys", Returned: 2, Changed: 3, Removed: 1, Kept: 4, Unblocked: 1, ReturnedKeys: [][]byte{{1, 2}}},
		{Name: "models", Kept: 2},
	}}, nil
}

func (n *fakeNode) RestoreAll(ctx context.Context, r io.Reader) error {
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	n.mu.Lock()
	n.mu.restore = b
	n.mu.Unlock()
	return n.begin(ctx)
}

// newFake returns a server in front of a node whose file has one deployment and one key.
func newFake(t *testing.T) (*Server, *fakeNode) {
	t.Helper()
	return newFakeWith(t, true)
}

// newFakeWith is newFake; private allows providers in private networks.
func newFakeWith(t *testing.T, private bool) (*Server, *fakeNode) {
	t.Helper()
	cat, err := catalog.New(catalog.Spec{Deployments: []catalog.DeploymentSpec{{
		ID: "from-the-file", ModelName: "fast", Model: "openai/gpt-4o", APIKey: vault.NewSecret(vendorMark),
		ExtraHeaders: map[string]vault.Secret{"x-account": vault.NewSecret(vendorMark)},
	}, {ID: "other", ModelName: "slow", Model: "openai/gpt-4o-mini", APIKey: vault.NewSecret(vendorMark)}}},
		catalog.Providers{
			"openai":      {DefaultBase: "https://api.openai.com/v1", NeedsKey: true, APIs: func(string, string, string, cloud.Settings) []string { return []string{"chat", "responses"} }},
			"ofamazon":    {DefaultBase: "https://amazon.example", Cloud: cloud.AWS},
			"ofgoogle":    {DefaultBase: "https://google.example", Cloud: cloud.Google},
			"ofmicrosoft": {DefaultBase: "https://microsoft.example", Cloud: cloud.Azure},
		}, nil)
	if err != nil {
		t.Fatal(err)
	}
	set, err := tenancy.New([]tenancy.Key{{Alias: "app", Hash: id.HashKey(plainKey), Models: []string{"fast"}}}, vault.NewSecret(masterKey))
	if err != nil {
		t.Fatal(err)
	}
	n := &fakeNode{}
	n.mu.books = books{}
	n.mu.now = time.Date(2026, 6, 29, 10, 0, 0, 123456000, time.UTC)
	n.mu.view = cluster.NewView(cat, set)
	key, err := vault.KeyFromSecret(vault.NewSecret("the secret that the tests seal with"))
	if err != nil {
		t.Fatal(err)
	}
	if n.sealer, err = vault.NewSealer(key); err != nil {
		t.Fatal(err)
	}
	for n.mu.view.Revision < 41 { // what is changed first has the revision 42
		if n.mu.view.Revision, err = n.commit(record.NewTxn(n.mu.now, "nobody")); err != nil {
			t.Fatal(err)
		}
	}
	n.mu.actors = nil
	s, err := New(Config{
		View: n.View, Identify: func(v *cluster.View, p credential.Presented, now time.Time) (tenancy.Principal, error) {
			return v.Keys.Authenticate(p, now)
		},
		State: State{Changes: n, Members: n, Backups: n}, Sealer: keyHolder{n.sealer},
		Ledger: n, Audit: auditOf{n}, Notices: n,
		Prices: func(ctx context.Context) ([]byte, error) {
			n.mu.Lock()
			defer n.mu.Unlock()
			return []byte(n.mu.prices), context.Cause(ctx)
		},
		Webhook: func(*cluster.View) delivery.Settings {
			n.mu.Lock()
			defer n.mu.Unlock()
			return n.mu.webhook
		},
		Ready: func(context.Context) error { return nil }, Metrics: http.NotFoundHandler(), PrivateEndpoints: private,
		CredentialProblem: func(d *catalog.Deployment) string {
			if d.Cloud.Get(cloud.AWSRegion) == "us-gov-west-1" {
				return "the token service is silent"
			}
			return ""
		},
		Screen: screenAddresses, Discover: discoverByKey,
		Tokens: func(_ string, messages [][2]string) int64 { return int64(len(messages)) },
		Logger: slog.New(slog.DiscardHandler), Version: "test",
		OpenAPI: `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{}}`,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, n
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

// json decodes the body.
func (a answer) json(t *testing.T) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	return v
}

// refusal is what is wrong, as "code param". Where it is a field of the request,
// the code is the one of its first problem.
func (a answer) refusal(t *testing.T) string {
	t.Helper()
	v := a.json(t)
	e, _ := v["error"].(map[string]any)
	code, _ := e["code"].(string)
	if list, _ := v["detail"].([]any); len(list) > 0 && code == codeValidation {
		first, _ := list[0].(map[string]any)
		code, _ = first["type"].(string)
	}
	param, _ := e["param"].(string)
	return strings.TrimSpace(code + " " + param)
}

// ask sends a request with the master key; a body makes it JSON. change may be nil.
func ask(t *testing.T, s *Server, target, body string, change func(r *http.Request)) answer {
	t.Helper()
	method, path, _ := strings.Cut(target, " ")
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	r := httptest.NewRequestWithContext(t.Context(), method, path, in)
	r.Header.Set("Authorization", "Bearer "+masterKey)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	s.straight(w, r)
	return answer{w.Code, w.Header(), strings.TrimSpace(w.Body.String())}
}

// as sends a request with another key, or with none.
func as(key string) func(r *http.Request) {
	return func(r *http.Request) {
		r.Header.Del("Authorization")
		if key != "" {
			r.Header.Set("Authorization", "Bearer "+key)
		}
	}
}

func with(name, value string) func(r *http.Request) {
	return func(r *http.Request) {
		r.Header.Del(name)
		if value != "" {
			r.Header.Set(name, value)
		}
	}
}

// big is a JSON object of more than n bytes.
func big(n int) string {
	return `{"key_alias":"` + string(bytes.Repeat([]byte("a"), n)) + `"}`
}

// keyHolder is a sealer whose key every node has.
type keyHolder struct{ *vault.Sealer }

// PromoteKey has nothing to wait for.
func (keyHolder) PromoteKey(context.Context, string) error { return nil }
