package mgmt

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/keys"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

const (
	masterKey  = "sk-the-master-key-0123456789"
	plainKey   = "sk-a-callers-key-0123456789"
	vendorMark = "mark-of-the-providers-key-90cd"
)

// fakeNode agrees with itself. What a method is to fail with is in err.
type fakeNode struct {
	mu struct {
		sync.Mutex
		view    *cluster.View
		err     error
		hangs   bool // operations wait for their context's end
		actors  []string
		removed []id.Node
		backup  []byte // what Backup writes before err
		restore []byte // what Restore has read
	}
	now time.Time
}

func (n *fakeNode) View() *cluster.View {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.mu.view
}

// fail makes every operation fail, or again succeed.
func (n *fakeNode) fail(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.mu.err = err
}

// begin is where every operation begins.
func (n *fakeNode) begin(ctx context.Context) error {
	n.mu.Lock()
	hangs, err := n.mu.hangs, n.mu.err
	n.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	return err
}

// change makes a new view.
func (n *fakeNode) change(ctx context.Context, actor string, f func(v *cluster.View) error) error {
	if err := n.begin(ctx); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	next := *n.mu.view
	next.Revision++
	if err := f(&next); err != nil {
		return err
	}
	n.mu.view = &next
	n.mu.actors = append(n.mu.actors, actor)
	return nil
}

func (n *fakeNode) CreateDeployment(ctx context.Context, actor string, spec catalog.DeploymentSpec) (made catalog.Stored, err error) {
	err = n.change(ctx, actor, func(v *cluster.View) error {
		made = catalog.Stored{Spec: spec, CreatedAt: n.now, CreatedBy: actor, Revision: v.Revision}
		v.Catalog, err = v.Catalog.WithStored(made)
		return err
	})
	return made, err
}

func (n *fakeNode) DeleteDeployment(ctx context.Context, actor string, d id.Deployment) error {
	return n.change(ctx, actor, func(v *cluster.View) error {
		if _, ok := v.Catalog.Deployment(d); !ok {
			return fault.New(fault.NotFound, "model_not_found", "There is no such deployment.")
		}
		v.Catalog = v.Catalog.Without(d)
		return nil
	})
}

func (n *fakeNode) CreateKey(ctx context.Context, actor string, k keys.Key) (keys.Key, error) {
	k.CreatedAt, k.CreatedBy = n.now, actor
	return k, n.change(ctx, actor, func(v *cluster.View) (err error) {
		if _, taken := v.Keys.ByAlias(k.Alias); taken && k.Alias != "" {
			return &fault.Error{Kind: fault.Exists, Code: "already_exists", Param: "key_alias", Detail: "The alias is taken."}
		}
		v.Keys, err = v.Keys.With(k)
		return err
	})
}

func (n *fakeNode) DeleteKeys(ctx context.Context, actor string, hashes []id.KeyHash) error {
	return n.change(ctx, actor, func(v *cluster.View) error {
		for _, h := range hashes {
			if _, ok := v.Keys.Get(h); !ok {
				return &fault.Error{Kind: fault.NotFound, Code: "key_not_found", Detail: "One of the keys is not there."}
			}
			v.Keys = v.Keys.Without(h)
		}
		return nil
	})
}

func (n *fakeNode) Key(ctx context.Context, h id.KeyHash) (keys.Key, bool, error) {
	k, ok := n.View().Keys.Get(h)
	return k, ok, n.begin(ctx)
}

func (n *fakeNode) KeyByAlias(ctx context.Context, alias string) (keys.Key, bool, error) {
	k, ok := n.View().Keys.ByAlias(alias)
	return k, ok, n.begin(ctx)
}

func (n *fakeNode) Keys(ctx context.Context, offset, limit int) ([]keys.Key, int, error) {
	page, total := n.View().Keys.List(offset, limit)
	return page, total, n.begin(ctx)
}

func (n *fakeNode) UpdateRouter(ctx context.Context, actor string, patch catalog.RouterPatch, ifRevision uint64) error {
	return n.change(ctx, actor, func(v *cluster.View) (err error) {
		spec, revision := v.Catalog.RouterSpec()
		if ifRevision != 0 && ifRevision != revision {
			return fault.New(fault.Conflict, "revision_conflict", "The settings have changed.")
		}
		v.Catalog, err = v.Catalog.WithRouter(spec.Patch(patch))
		return err
	})
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

func (n *fakeNode) Restore(ctx context.Context, r io.Reader) error {
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	n.mu.Lock()
	n.mu.restore = b
	n.mu.Unlock()
	return n.begin(ctx)
}

// noEvents is a journal in which nothing has happened.
type noEvents struct{}

func (noEvents) Scan(context.Context, journal.Filter, func(journal.Event) bool) error { return nil }

// newFake returns a server in front of a node whose file has one deployment and
// one key.
func newFake(t *testing.T) (*Server, *fakeNode) {
	t.Helper()
	cat, err := catalog.New(catalog.Spec{Deployments: []catalog.DeploymentSpec{{
		ID: "from-the-file", ModelName: "fast", Model: "openai/gpt-4o", APIKey: vault.NewSecret(vendorMark),
		ExtraHeaders: map[string]vault.Secret{"x-account": vault.NewSecret(vendorMark)},
	}, {ID: "other", ModelName: "slow", Model: "openai/gpt-4o-mini", APIKey: vault.NewSecret(vendorMark)}}},
		catalog.Providers{"openai": {DefaultBase: "https://api.openai.com/v1", NeedsKey: true}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	set, err := keys.New([]keys.Key{{Alias: "app", Hash: id.HashKey(plainKey), Models: []string{"fast"}}}, vault.NewSecret(masterKey))
	if err != nil {
		t.Fatal(err)
	}
	n := &fakeNode{now: time.Date(2026, 6, 29, 10, 0, 0, 123456000, time.UTC)}
	n.mu.view = &cluster.View{Revision: 41, Catalog: cat, Keys: set}
	s, err := New(Config{
		View: n.View, Identify: func(v *cluster.View, p keys.Presented, now time.Time) (keys.Principal, error) {
			return v.Keys.Authenticate(p, now)
		},
		State:  State{Deployments: n, Keys: n, Router: n, Members: n, Backups: n},
		Events: noEvents{}, Ready: func(context.Context) error { return nil }, Metrics: http.NotFoundHandler(),
		Logger: slog.New(slog.DiscardHandler), Version: "test",
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

// refusal is the code and the param of an error, as "code param".
func (a answer) refusal(t *testing.T) string {
	t.Helper()
	e, _ := a.json(t)["error"].(map[string]any)
	code, _ := e["code"].(string)
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
	s.mux.ServeHTTP(w, r)
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
