package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/cooldown"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/keys"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// Config says where a node keeps its state and what it starts from.
type Config struct {
	Dir     string // data directory; created if it is not there
	Catalog *catalog.Catalog
	Keys    *keys.Set
	Logger  *slog.Logger
	Fatal   func(error)          // ends the process; called when what is on disk is not known any more
	Commits func(journal.Commit) // told of each group commit, for metrics; nil means nobody is
}

// intentDelay is how long the intent of a request may wait to be written. Providers
// take longer to answer; what does not is settled before.
const intentDelay = 5 * time.Millisecond

// Node is one member: its store, its journal and its view. All methods are
// safe for concurrent use.
type Node struct {
	store    *store.Store
	journal  *journal.Journal
	cooldown *cooldown.Set
	view     atomic.Pointer[View]
}

// Open opens the data directory and repairs what a crash left: every request
// that was dispatched and not settled is settled as estimated before it returns.
func Open(cfg Config) (*Node, error) {
	st, err := store.Open(store.Config{Dir: filepath.Join(cfg.Dir, "store"), Logger: cfg.Logger, Fatal: cfg.Fatal})
	if err != nil {
		return nil, fmt.Errorf("opening the store: %w", err)
	}
	j, err := journal.Open(journal.Config{Store: st, Logger: cfg.Logger, Committed: cfg.Commits, IntentDelay: intentDelay})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening the journal: %w", err), st.Close())
	}
	n := &Node{
		store:    st,
		journal:  j,
		cooldown: cooldown.New(rand.Uint64N),
	}
	n.view.Store(&View{Revision: 1, Catalog: cfg.Catalog, Keys: cfg.Keys})
	return n, nil
}

// View returns the view in force.
func (n *Node) View() *View { return n.view.Load() }

// Journal is where usage is recorded.
func (n *Node) Journal() *journal.Journal { return n.journal }

// Cooldown says which deployments rest, and counts the requests at each.
func (n *Node) Cooldown() *cooldown.Set { return n.cooldown }

// Run writes the journal until ctx ends; what was queued by then is still written.
func (n *Node) Run(ctx context.Context) error { return n.journal.Run(ctx) }

// Close gives the data directory back. Call it after Run has returned.
func (n *Node) Close() error { return n.store.Close() }
