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
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// machine is a journal next to a simple model of it: a list of events and a list of open
// intents.
type machine struct {
	mem    *vfs.MemFS
	node   *node
	queued []*journal.Pending

	made    int
	open    []openIntent
	events  []journal.Event // including trimmed events
	trimmed int
}

type openIntent struct {
	usage.Attempt
	pending *journal.Pending
}

func (m *machine) boot(t *rapid.T) {
	n, err := boot(config(m.mem), journal.Config{})
	if err != nil {
		t.Fatal(err)
	}
	m.node = n
}

// record adds an event to the model, with its expected number.
func (m *machine) record(ev journal.Event) {
	ev.ID = journal.EventID{Node: m.node.store.Identity().Node, Epoch: 1, Seq: uint64(len(m.events) + 1)}
	m.events = append(m.events, ev)
}

// wait waits for all queued records, so that the model equals the disk.
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
	in := usage.Attempt{
		Request: id.Request(fmt.Sprintf("req_%d", m.made)), Number: rapid.IntRange(1, 3).Draw(t, "attempt"),
		Key: id.HashKey(rapid.SampledFrom([]string{"sk-1", "sk-2"}).Draw(t, "key")), Group: "gpt",
		Start:  origin.Add(time.Duration(rapid.IntRange(0, 9).Draw(t, "start")) * time.Minute),
		Tokens: usage.Tokens{Input: int64(m.made)}, Cost: 7,
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
				Attempt: usage.Attempt{
					Request: o.Request, Number: o.Number, Key: o.Key, Start: o.Start, Cost: 3,
				},
				Result: usage.Result{
					Outcome: journal.Failed, Source: usage.Provider,
				},
			})
		}
		return true
	})
	for _, ev := range events {
		m.record(ev)
	}
	m.queued = append(m.queued, m.node.Settle(ended, events))
}

func (m *machine) notify(t *rapid.T) {
	m.made++
	ev := journal.Event{
		Attempt: usage.Attempt{
			Request: id.Request(fmt.Sprintf("req_%d", m.made)), Key: id.HashKey("sk-1"), Start: origin,
		},
		Notice: &journal.Notice{Type: "request.blocked", Count: rapid.Uint64Range(0, 2).Draw(t, "count")},
	}
	m.record(ev)
	m.node.Notify(ev)
	m.queued = append(m.queued, m.node.Settle(nil, nil)) // to wait for the notice
}

// trim deletes some or all events.
func (m *machine) trim(t *rapid.T) {
	m.wait(t)
	upto := rapid.IntRange(0, len(m.events)).Draw(t, "upto")
	if err := m.node.Trim(context.Background(), uint64(upto)); err != nil {
		t.Fatal(err)
	}
	m.trimmed = max(m.trimmed, upto)
	m.checkBacklog(t)
}

func (m *machine) checkBacklog(t *rapid.T) {
	var owed money.Pico
	for _, ev := range m.events[m.trimmed:] {
		owed += ev.Cost
	}
	j := m.node.Journal
	if j.Last() != uint64(len(m.events)) || j.Backlog() != int64(len(m.events)-m.trimmed) || j.Owed() != owed {
		t.Fatalf("last %d, backlog %d, owed %v; want %d, %d, %v", j.Last(), j.Backlog(), j.Owed(), len(m.events), len(m.events)-m.trimmed, owed)
	}
	if none := j.Oldest().IsZero(); none != (len(m.events) == m.trimmed) {
		t.Fatalf("of %d events the oldest is of %v", len(m.events)-m.trimmed, j.Oldest())
	}
}

// batch reads the events to ship.
func (m *machine) batch(t *rapid.T) {
	m.wait(t)
	after, most := rapid.IntRange(0, len(m.events)).Draw(t, "after"), rapid.IntRange(1, 4).Draw(t, "most")
	first, got, err := m.node.Batch(context.Background(), uint64(after), most, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	from := max(after, m.trimmed)
	want := m.events[from:min(from+most, len(m.events))]
	if len(got) != len(want) || len(got) > 0 && first != uint64(from+1) {
		t.Fatalf("%d events from %d, want %d from %d", len(got), first, len(want), from+1)
	}
	for i, value := range got {
		ev, err := journal.Decode(m.node.store.Identity().Node, 1, first+uint64(i), value)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[i], ev); diff != "" {
			t.Fatal(diff)
		}
	}
}

// restart stops the journal and continues with disk; open intents have died.
func (m *machine) restart(t *rapid.T, disk *vfs.MemFS) {
	if err := m.node.shut(); err != nil {
		t.Fatal(err)
	}
	for _, o := range m.open {
		m.record(journal.Event{
			Attempt: usage.Attempt{
				Request: o.Request, Number: o.Number, Key: o.Key, Group: o.Group, Start: o.Start, Tokens: o.Tokens, Cost: 7,
			},
			Result: usage.Result{
				End:     o.Start,
				Outcome: journal.Crashed, ErrorCode: journal.CodeCrashed, Source: usage.Estimated,
				FallbackCount: o.Number - 1, Final: true,
			},
		})
	}
	m.open, m.mem = nil, disk
	m.boot(t)
	m.checkBacklog(t)
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
	for _, ev := range m.events[m.trimmed:] {
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
			"notify": m.notify,
			"trim":   m.trim,
			"batch":  m.batch,
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
