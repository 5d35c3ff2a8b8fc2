package journal_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// machine is a journal beside the plainest thing that does the same: a list of
// events and a list of open intents.
type machine struct {
	mem    *vfs.MemFS
	node   *node
	queued []*journal.Pending

	made   int
	open   []openIntent
	events []journal.Event
}

type openIntent struct {
	journal.Intent
	pending *journal.Pending
}

func (m *machine) boot(t *rapid.T) {
	n, err := boot(config(m.mem), journal.Config{})
	if err != nil {
		t.Fatal(err)
	}
	m.node = n
}

// record adds an event to the model, with the number it must get.
func (m *machine) record(ev journal.Event) {
	ev.ID = journal.EventID{Node: m.node.store.Identity().Node, Epoch: 1, Seq: uint64(len(m.events) + 1)}
	m.events = append(m.events, ev)
}

// wait waits for all that is queued, so that the model knows what is on the disk.
func (m *machine) wait(t *rapid.T) {
	for _, p := range m.queued {
		if err := p.Wait(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	m.queued = nil
}

func (m *machine) intent(t *rapid.T) {
	m.made++
	in := journal.Intent{
		Request: id.Request(fmt.Sprintf("req_%d", m.made)), Attempt: rapid.IntRange(1, 3).Draw(t, "attempt"),
		Key: id.HashKey(rapid.SampledFrom([]string{"sk-1", "sk-2"}).Draw(t, "key")), Group: "gpt",
		Start:    origin.Add(time.Duration(rapid.IntRange(0, 9).Draw(t, "start")) * time.Minute),
		Estimate: usage.Tokens{Input: int64(m.made)}, EstimatedCost: 7,
	}
	p := m.node.Intent(in)
	m.queued = append(m.queued, p)
	m.open = append(m.open, openIntent{in, p})
}

func (m *machine) settle(t *rapid.T) {
	var ended []*journal.Pending
	var events []journal.Event
	m.open = slices.DeleteFunc(m.open, func(o openIntent) bool {
		if !rapid.Bool().Draw(t, "end") {
			return false
		}
		ended = append(ended, o.pending)
		if rapid.IntRange(0, 4).Draw(t, "reached") > 0 {
			events = append(events, journal.Event{
				Request: o.Request, Attempt: o.Attempt, Key: o.Key, Start: o.Start,
				Outcome: journal.Failed, Source: usage.Provider, Cost: 3,
			})
		}
		return true
	})
	for _, ev := range events {
		m.record(ev)
	}
	m.queued = append(m.queued, m.node.Settle(ended, events))
}

// restart stops the journal and goes on with disk; what is still open has died.
func (m *machine) restart(t *rapid.T, disk *vfs.MemFS) {
	if err := m.node.shut(); err != nil {
		t.Fatal(err)
	}
	for _, o := range m.open {
		m.record(journal.Event{
			Request: o.Request, Attempt: o.Attempt, Key: o.Key, Group: o.Group, Start: o.Start, End: o.Start,
			Outcome: journal.Crashed, ErrorCode: journal.CodeCrashed, Tokens: o.Estimate, Source: usage.Estimated, Cost: 7,
			FallbackCount: o.Attempt - 1,
		})
	}
	m.open, m.mem = nil, disk
	m.boot(t)
}

func (m *machine) scan(t *rapid.T) {
	m.wait(t)
	f := journal.Filter{Limit: rapid.IntRange(0, 5).Draw(t, "limit"), NewestFirst: rapid.Bool().Draw(t, "newest first")}
	if rapid.Bool().Draw(t, "by key") {
		key := id.HashKey("sk-1")
		f.Key = &key
	}
	if rapid.Bool().Draw(t, "by time") {
		f.From, f.To = origin.Add(2*time.Minute), origin.Add(6*time.Minute)
	}
	var want []journal.Event
	for _, ev := range m.events {
		if (f.Key == nil || ev.Key == *f.Key) && (f.From.IsZero() || !ev.Start.Before(f.From) && ev.Start.Before(f.To)) {
			want = append(want, ev)
		}
	}
	if f.NewestFirst {
		slices.Reverse(want)
	}
	if f.Limit > 0 && len(want) > f.Limit {
		want = want[:f.Limit]
	}
	if diff := cmp.Diff(want, list(t, m.node.Journal, f)); diff != "" {
		t.Fatal(diff)
	}
}

func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{mem: vfs.NewCrashableMem()}
		m.boot(t)
		defer func() {
			if err := m.node.shut(); err != nil {
				t.Error(err)
			}
		}()
		t.Repeat(map[string]func(*rapid.T){
			"intent": m.intent,
			"settle": m.settle,
			"wait":   m.wait,
			"scan":   m.scan,
			"restart": func(t *rapid.T) {
				m.restart(t, m.mem)
			},
			"crash": func(t *rapid.T) {
				m.wait(t)
				m.restart(t, m.mem.CrashClone(vfs.CrashCloneCfg{
					UnsyncedDataPercent: rapid.SampledFrom([]int{0, 50, 100}).Draw(t, "kept"),
					RNG:                 rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "seed"))),
				}))
			},
		})
	})
}
