package auditsink_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/modelgateway/modelgateway/auditsink"
	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// stored is the audit log of a state on a disk in memory.
type stored struct {
	t     testing.TB
	state *store.Store
	mu    sync.Mutex
	next  chan struct{}
}

func (s *stored) changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next
}

// add appends records as an entry of the log would.
func (s *stored) add(n int) {
	s.t.Helper()
	tx := s.state.NewTx()
	defer tx.Close()
	var events []*clusterv1.AuditEvent
	for i := range n {
		key := sha256.Sum256([]byte{byte(i)}) // a hundred of them
		events = append(events, &clusterv1.AuditEvent{Type: "request.routed", KeyHash: key[:], TimeUnixNano: time.Now().UnixNano(), RequestId: fmt.Sprint("req-", i), CostPico: int64(i)})
	}
	if f := audit.AppendAll(tx, audit.DefaultWorkspace, events, time.Now()); f != nil {
		s.t.Fatal(f)
	}
	if err := tx.CommitReplayable(); err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.next)
	s.next = make(chan struct{})
}

// TestDeliveredChain delivers a real log. The webhook's receiver can check the chain
// by what it gets, and nothing of it is internal; the objects are exports that verify.
func TestDeliveredChain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, deliveredChain) // the object waits for the grace of its period
}

func deliveredChain(t *testing.T) {
	t.Helper()
	state, err := store.Open(store.Config{Dir: "state", Kind: store.StateStore, FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = state.Close() }()
	b := newBench(t)
	log := &stored{t: t, state: state, next: make(chan struct{})}
	c := b.config()
	c.Source = auditsink.Log{View: func(fn func(audit.Reader) error) error { return fn(state) }, Changed: log.changed, Workspace: audit.DefaultWorkspace}
	c.Period = time.Second
	dir := t.TempDir()
	c.BucketURL = "file://" + dir
	log.add(3)
	_, stop := b.start(c)
	log.add(2)
	log.add(1500)
	eventually(t, "all records", func() bool { return len(b.to.taken()) == 1505 })
	eventually(t, "all objects", func() bool { return b.cursors.read("bucket") == 1506 })
	stop()

	hash := sha256.Sum256([]byte("gwaudit1" + audit.DefaultWorkspace))
	for i, r := range b.to.requests() {
		if !strings.Contains(string(r.body), fmt.Sprintf(`"previous_event_hash":"sha256:%x"`, hash)) || strings.Contains(string(r.body), "request_id") {
			t.Fatalf("delivery %d does not follow the one before, or tells too much: %s", i, r.body)
		}
		external := sha256.Sum256(r.body)
		internal, err := hex.DecodeString(strings.TrimPrefix(r.header.Get("X-Gateway-Internal-Hash"), "sha256:"))
		if err != nil {
			t.Fatal(err)
		}
		hash = sha256.Sum256(append(append(append([]byte("gwaudit1"), hash[:]...), external[:]...), internal...))
		if want := "sha256:" + hex.EncodeToString(hash[:]); r.header.Get("X-Gateway-Hash") != want {
			t.Fatalf("delivery %d has the hash %s, and it is %s", i, r.header.Get("X-Gateway-Hash"), want)
		}
	}
	records := uint64(0)
	for name, text := range objectsIn(t, dir) {
		report, err := audit.VerifyExport(t.Context(), strings.NewReader(text), audit.Check{})
		if err != nil || !report.Valid || strings.Contains(text, "request_id") {
			t.Errorf("%s: %+v %v", name, report, err)
		}
		records += report.Checked
	}
	if records != 1505 {
		t.Errorf("the objects have %d records", records)
	}
}
