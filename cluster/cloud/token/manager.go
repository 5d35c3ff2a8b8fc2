package token

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
)

// Fetcher gets tokens of one credential. Its methods are called by one goroutine at a time.
type Fetcher interface {
	// Fetch gets a token that no earlier call has returned, unless there is no newer one. It may block until ctx
	// ends. Its error may hold what a service has said; the Manager removes what may be secret.
	Fetch(ctx context.Context) (cloud.Token, error)
}

// Config has the dependencies of a Manager. All are required.
type Config struct {
	Catalog func() *catalog.Catalog
	Changed func() <-chan struct{} // closed when the catalogue may be another one
	// Cloud returns the cloud of a provider.
	Cloud func(provider string) cloud.Kind
	// New returns the fetcher of a credential. Its error is a reason why there can be no token.
	New func(c cloud.Credential) (Fetcher, error)
	// Report notes a problem of this node; nil: there is none any more.
	Report func(about string, err error)
	Logger *slog.Logger
}

const (
	// patience is how long requests wait for the first token of a source.
	patience = time.Second
	// parallel bounds the fetches at a time.
	parallel = 64
)

// Manager keeps tokens. Its methods are safe for concurrent use.
type Manager struct {
	cfg     Config
	places  chan struct{}                                // of fetches under way
	held    atomic.Pointer[map[id.Deployment]deployment] // replaced, never changed
	fetches counts

	mu struct {
		sync.Mutex
		moved chan struct{} // closed and replaced when a source has its first answer, and after each sync
	}

	// Run owns these.
	synced  *catalog.Catalog
	sources map[[sha256.Size]byte]*source
	running sync.WaitGroup
}

// deployment is a deployment at a cloud, and the source of its tokens.
type deployment struct {
	settings cloud.Settings
	source   *source
}

// NewManager returns a manager without any source. Run makes them.
func NewManager(cfg Config) *Manager {
	m := &Manager{cfg: cfg, places: make(chan struct{}, parallel), sources: make(map[[sha256.Size]byte]*source)}
	m.held.Store(&map[id.Deployment]deployment{})
	m.mu.moved = make(chan struct{})
	return m
}

// Run keeps the sources of the catalogue's credentials until ctx ends.
func (m *Manager) Run(ctx context.Context) error {
	defer m.running.Wait()
	defer m.held.Store(&map[id.Deployment]deployment{})
	for {
		changed := m.cfg.Changed()
		m.sync(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
	}
}

// sync makes the sources of new credentials, and ends those that no deployment has.
func (m *Manager) sync(ctx context.Context) {
	c := m.cfg.Catalog()
	if c == m.synced {
		return
	}
	m.synced = c
	before := *m.held.Load()
	held := make(map[id.Deployment]deployment, len(before))
	users := make(map[*source][]string)
	for _, d := range c.Deployments() {
		of := m.cloudOf(d)
		if of == cloud.None {
			continue
		}
		h, ok := before[d.ID]
		if !ok || !same(h.settings, d.Cloud) {
			h = deployment{d.Cloud, m.source(cloud.CredentialOf(of, d.Cloud, d.Static))}
		}
		held[d.ID] = h
		users[h.source] = append(users[h.source], string(d.Name))
	}
	m.held.Store(&held)
	for key, s := range m.sources {
		if names, used := users[s]; used {
			s.name(names)
			continue
		}
		delete(m.sources, key)
		s.end()
	}
	for s := range users {
		s.start(ctx)
	}
	m.move()
}

// cloudOf returns the cloud whose tokens a deployment needs; None if an API key is enough.
func (m *Manager) cloudOf(d *catalog.Deployment) cloud.Kind {
	if !d.APIKey.IsEmpty() {
		return cloud.None
	}
	return m.cfg.Cloud(d.Provider)
}

// same reports whether both are the settings of one deployment. Deployments that a wildcard makes share them.
func same(a, b cloud.Settings) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || a.Equal(b))
}

// source returns the source of a credential, which may be new.
func (m *Manager) source(c cloud.Credential) *source {
	key := c.Key()
	s, ok := m.sources[key]
	if !ok {
		s = newSource(m, c)
		m.sources[key] = s
	}
	return s
}

// find returns the source of a deployment's tokens; nil if this manager has not seen these settings yet.
func (m *Manager) find(d *catalog.Deployment) *source {
	h, ok := (*m.held.Load())[d.ID]
	if !ok || !same(h.settings, d.Cloud) {
		return nil
	}
	return h.source
}

// Token returns the token of a deployment; zero if it needs none. The error is Unavailable.
func (m *Manager) Token(d *catalog.Deployment) (cloud.Token, error) {
	if m.cloudOf(d) == cloud.None {
		return cloud.Token{}, nil
	}
	s := m.find(d)
	if s == nil {
		return cloud.Token{}, Missing()
	}
	if t, ok := s.token(time.Now()); ok {
		return t, nil
	}
	return cloud.Token{}, Missing()
}

// CodeMissing is the code of Missing.
const CodeMissing = "no_credential"

// Missing returns the error for a request whose deployments have no token.
func Missing() *fault.Error {
	return &fault.Error{
		Op: "token", Kind: fault.Unavailable, Code: CodeMissing, RetryAfter: 5 * time.Second,
		Detail: "The gateway could not obtain the credential with which it signs in at the provider of this model. Its operator finds the reason in GET /model/info and in the log.",
	}
}

// Reason returns why a deployment has no token, for operators; empty if it has one or needs none.
func (m *Manager) Reason(d *catalog.Deployment) string {
	if m.cloudOf(d) == cloud.None {
		return ""
	}
	s := m.find(d)
	if s == nil {
		return notYet
	}
	return s.reason(time.Now())
}

// Await returns when a deployment of the list has a token or needs none, when every source of the list has
// answered, or after a second. A source that has let requests wait for a second lets none wait any more.
func (m *Manager) Await(ctx context.Context, ds []*catalog.Deployment) {
	var late <-chan time.Time
	for {
		m.mu.Lock()
		moved := m.mu.moved
		m.mu.Unlock()
		if !m.pending(ds) {
			return
		}
		if late == nil {
			timer := time.NewTimer(patience)
			defer timer.Stop()
			late = timer.C
		}
		select {
		case <-ctx.Done():
			return
		case <-late:
			return
		case <-moved:
		}
	}
}

// pending reports whether no deployment has a token, and one may get its first soon.
func (m *Manager) pending(ds []*catalog.Deployment) bool {
	waiting := false
	for _, d := range ds {
		if m.cloudOf(d) == cloud.None {
			return false
		}
		s := m.find(d)
		if s == nil {
			waiting = true
			continue
		}
		if _, ok := s.token(time.Now()); ok {
			return false
		}
		waiting = s.await() || waiting
	}
	return waiting
}

// move wakes requests that wait.
func (m *Manager) move() {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.mu.moved)
	m.mu.moved = make(chan struct{})
}
