package gossip_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/gossip"
	"github.com/modelgateway/modelgateway/cluster/id"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// view is all that can be seen of a State.
type view struct {
	Hints    []gossip.Hint
	Counters map[id.Node]map[string]int64
	InFlight map[id.Deployment]int64
	Sums     map[string]int64
}

func deployments() []id.Deployment   { return []id.Deployment{"d0", "d1", "d2"} }
func deployment(i int) id.Deployment { return id.Deployment(fmt.Sprint("deployment", i)) }

func counters() []string { return []string{"applied", "backlog", "spend"} }

func look(s *gossip.State, now time.Time) view {
	v := view{Hints: s.Hints(now), Counters: s.Counters(), InFlight: map[id.Deployment]int64{}, Sums: map[string]int64{}}
	for _, d := range deployments() {
		v.InFlight[d] = s.InFlight(d)
	}
	for _, c := range counters() {
		v.Sums[c] = s.Sum(c)
	}
	return v
}

// history has some nodes say things for a while and returns every message of theirs.
func history(t *rapid.T, now time.Time) [][]byte {
	var out [][]byte
	for n := range rapid.IntRange(1, 3).Draw(t, "nodes") {
		flights := map[id.Deployment]int64{}
		s := gossip.NewState(gossip.StateConfig{Node: id.Node(name(n)), InFlight: func(yield func(id.Deployment, int64) bool) {
			for _, d := range deployments() {
				if !yield(d, flights[d]) {
					return
				}
			}
		}})
		s.Announcements(now, func(b []byte) { out = append(out, b) })
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			d := rapid.SampledFrom(deployments()).Draw(t, "deployment")
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				s.Cool(d, 1, now.Add(time.Duration(rapid.IntRange(1, 3000).Draw(t, "seconds"))*time.Second))
			case 1:
				flights[d] = rapid.Int64Range(0, 5).Draw(t, "in flight")
			case 2:
				s.SetCounter(rapid.SampledFrom(counters()).Draw(t, "counter"), rapid.Int64Range(-3, 3).Draw(t, "value"))
			case 3:
				out = append(out, s.Changes(now)...)
			case 4:
				out = append(out, s.Full(now))
			}
		}
		out = append(append(out, s.Changes(now)...), s.Full(now))
	}
	return out
}

// TestMergeLaws: merging is commutative, associative (in any order, by way of
// any other node) and idempotent.
func TestMergeLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := time.Now()
		messages := history(t, now)
		merge := func(into *gossip.State, list [][]byte) {
			for _, b := range list {
				if err := into.Merge(b, now); err != nil {
					t.Fatal(err)
				}
			}
		}
		a, b := gossip.NewState(gossip.StateConfig{Node: "a"}), gossip.NewState(gossip.StateConfig{Node: "b"})
		merge(a, messages)
		want := look(a, now)
		merge(a, messages)
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 1))
		rnd.Shuffle(len(messages), func(i, j int) { messages[i], messages[j] = messages[j], messages[i] })
		merge(b, messages)
		for _, s := range []*gossip.State{a, b} {
			if diff := cmp.Diff(want, look(s, now)); diff != "" {
				t.Fatalf("(-want +got)\n%s", diff)
			}
		}
	})
}

// TestNothingIsResurrected: whatever is repeated, whenever and by whomever,
// nothing that has ended comes back, and no hint's end moves.
func TestNothingIsResurrected(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		start := time.Now()
		messages := history(t, start)
		s := gossip.NewState(gossip.StateConfig{Node: "s"})
		for _, b := range messages {
			_ = s.Merge(b, start)
		}
		before := look(s, start)
		ends := map[string]time.Time{}
		for _, h := range before.Hints {
			ends[string(h.Deployment)+" "+string(h.Observer)] = h.Until
		}
		now := start
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3600).Draw(t, "pass")) * time.Second)
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				s.Sweep(now)
			case 1:
				s.Drop(id.Node(name(rapid.IntRange(0, 2).Draw(t, "node"))))
			default:
				_ = s.Merge(rapid.SampledFrom(messages).Draw(t, "repeated"), now)
			}
			for _, h := range s.Hints(now) {
				if end := ends[string(h.Deployment)+" "+string(h.Observer)]; h.Until != end || !now.Before(end) {
					t.Fatalf("%v was to end at %v", h, end)
				}
			}
		}
		s.Sweep(now.Add(gossip.Silence))
		for _, b := range messages {
			_ = s.Merge(b, now.Add(gossip.Silence))
		}
		if got := look(s, now); len(got.Counters) > 0 || got.InFlight["d0"]+got.InFlight["d1"]+got.InFlight["d2"] != 0 {
			t.Fatalf("silent nodes are counted: %v", got)
		}
	})
}

// TestHintsOverTime: what is left of a hint is what is sent, and the first that
// is heard of a version is what counts.
func TestHintsOverTime(t *testing.T) {
	t.Parallel()
	start := time.Now()
	after := func(d time.Duration) time.Time { return start.Add(d) }
	a, b := gossip.NewState(gossip.StateConfig{Node: "a"}), gossip.NewState(gossip.StateConfig{Node: "b"})
	ends := func(s *gossip.State, now time.Time, want ...time.Duration) {
		t.Helper()
		hints := s.Hints(now)
		if len(hints) != len(want) {
			t.Fatalf("%v, want %d hints", hints, len(want))
		}
		for i, h := range hints {
			if off := h.Until.Sub(start) - want[i]; off.Abs() > time.Millisecond {
				t.Errorf("it ends after %v, want %v", h.Until.Sub(start), want[i])
			}
		}
	}
	a.Cool("d", 0, after(10*time.Minute))
	a.Cool("d", 0, after(time.Minute)) // says less than before
	a.Cool("", 0, after(10*time.Minute))
	a.Cool(id.Deployment(strings.Repeat("x", 300)), 0, after(10*time.Minute))
	early := a.Full(start)
	_ = b.Merge(a.Full(after(4*time.Minute)), after(4*time.Minute))
	ends(b, after(4*time.Minute), 10*time.Minute)
	_ = b.Merge(early, after(5*time.Minute)) // has been on the way for long
	ends(b, after(5*time.Minute), 10*time.Minute)
	a.Cool("d", 0, after(5*time.Hour))
	_ = b.Merge(a.Full(after(6*time.Minute)), after(6*time.Minute))
	ends(b, after(6*time.Minute), 66*time.Minute) // an hour is the most
	ends(b, after(66*time.Minute+time.Millisecond))
	_ = b.Merge(a.Full(after(6*time.Hour)), after(6*time.Hour))
	ends(b, after(6*time.Hour))
	for _, again := range []time.Duration{70 * time.Minute, 3 * time.Hour, 20 * time.Hour} {
		b.Sweep(after(again))
		_ = b.Merge(early, after(again))
		ends(b, after(again))
	}
}

// TestClockSetBack: a node whose clock was set back while it was down is heard
// as soon as it has met somebody who knew it.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	now := time.Now()
	b := gossip.NewState(gossip.StateConfig{Node: "b"})
	future := uint64(now.Add(time.Hour).UnixMicro())
	_ = b.Merge(message(2, &clusterv1.CooldownHint{Deployment: "d", Observer: "a", Version: future, RemainingMillis: 60_000}), now)
	a := gossip.NewState(gossip.StateConfig{Node: "a"})
	a.Cool("d", 0, now.Add(30*time.Minute))
	_ = a.Merge(b.Full(now), now)
	a.Cool("d", 0, now.Add(40*time.Minute))
	_ = b.Merge(a.Full(now), now)
	if hints := b.Hints(now.Add(35 * time.Minute)); len(hints) != 1 {
		t.Errorf("it is not heard: %v", hints)
	}
}

// TestParts: numbers that do not fit into a packet are split, and a change
// is one packet.
func TestParts(t *testing.T) {
	t.Parallel()
	now := time.Now()
	busy := map[id.Deployment]int64{}
	for i := range 10_000 {
		busy[id.Deployment(fmt.Sprintf("deployment-with-a-long-name-%d", i))] = int64(i + 1)
	}
	a := gossip.NewState(gossip.StateConfig{Node: "a", InFlight: func(yield func(id.Deployment, int64) bool) {
		for d, n := range busy {
			if !yield(d, n) {
				return
			}
		}
	}})
	b := gossip.NewState(gossip.StateConfig{Node: "b"})
	tell := func(now time.Time) int {
		messages := a.Changes(now)
		for _, m := range messages {
			if len(m) > 1024 {
				t.Errorf("a message of %d bytes", len(m))
			}
			_ = b.Merge(m, now)
		}
		return len(messages)
	}
	check := func() {
		t.Helper()
		for d, n := range busy {
			if b.InFlight(d) != n {
				t.Fatalf("%d in flight at %s, want %d", b.InFlight(d), d, n)
			}
		}
	}
	tell(now)
	check()
	if n := tell(now); n != 0 {
		t.Errorf("%d messages without a change", n)
	}
	busy["deployment-with-a-long-name-7"] = 1000
	if n := tell(now); n != 1 {
		t.Errorf("%d messages for one change", n)
	}
	check()
	delete(busy, "deployment-with-a-long-name-7")
	tell(now)
	if n := b.InFlight("deployment-with-a-long-name-7"); n != 0 {
		t.Errorf("%d in flight where none is", n)
	}
	tell(now.Add(6 * time.Second))
	b.Sweep(now.Add(gossip.Silence))
	check() // told again in time
	b.Sweep(now.Add(6*time.Second + gossip.Silence))
	if n := b.InFlight("deployment-with-a-long-name-8"); n != 0 {
		t.Errorf("%d in flight at a silent node", n)
	}
}

// message is a GossipDelta of one record.
func message(field protowire.Number, record proto.Message) []byte {
	b, err := proto.Marshal(record)
	if err != nil {
		panic(err)
	}
	return protowire.AppendBytes(protowire.AppendTag(nil, field, protowire.BytesType), b)
}

// TestHostileRecords: what a member can make up is dropped or cut to size.
func TestHostileRecords(t *testing.T) {
	t.Parallel()
	now := time.Now()
	long := strings.Repeat("x", 300)
	good := func() *clusterv1.CooldownHint {
		return &clusterv1.CooldownHint{Deployment: "d", Observer: "o", Version: 1, RemainingMillis: 1000}
	}
	for name, change := range map[string]func(*clusterv1.CooldownHint){
		"no deployment":     func(h *clusterv1.CooldownHint) { h.Deployment = "" },
		"a long deployment": func(h *clusterv1.CooldownHint) { h.Deployment = long },
		"no observer":       func(h *clusterv1.CooldownHint) { h.Observer = "" },
		"a long observer":   func(h *clusterv1.CooldownHint) { h.Observer = long },
		"no node's name":    func(h *clusterv1.CooldownHint) { h.Observer = "a/b:1" },
		"no version":        func(h *clusterv1.CooldownHint) { h.Version = 0 },
		"the last version":  func(h *clusterv1.CooldownHint) { h.Version = math.MaxUint64 },
		"no time":           func(h *clusterv1.CooldownHint) { h.RemainingMillis = 0 },
		"a strange reason":  func(h *clusterv1.CooldownHint) { h.Reason = 256 },
	} {
		s, h := gossip.NewState(gossip.StateConfig{Node: "s"}), good()
		change(h)
		if err := s.Merge(message(2, h), now); err != nil || len(s.Hints(now)) != 0 {
			t.Errorf("%s: %v, hints %v", name, err, s.Hints(now))
		}
	}
	s := gossip.NewState(gossip.StateConfig{Node: "s"})
	h := good()
	h.RemainingMillis = math.MaxUint32
	_ = s.Merge(message(2, h), now)
	if hints := s.Hints(now); len(hints) != 1 || hints[0].Until != now.Add(gossip.MaxCooldown) {
		t.Errorf("hints %v, want one of an hour", hints)
	}
	huge := func(v int64) []*clusterv1.Number {
		return []*clusterv1.Number{{Name: "n", Value: v}, {Name: long, Value: 1}, {Value: 1}}
	}
	for i, v := range []int64{math.MaxInt64, math.MaxInt64, math.MinInt64} {
		_ = s.Merge(message(3, &clusterv1.NodeNumbers{Node: name(i), Version: 1, InFlight: huge(v), Counters: huge(v)}), now)
		if i == 1 && s.Sum("n") != math.MaxInt64 {
			t.Errorf("the sum is %d", s.Sum("n"))
		}
	}
	if n := s.InFlight("n"); n != 2<<20 {
		t.Errorf("%d in flight", n)
	}
	for _, bad := range []*clusterv1.NodeNumbers{
		{Node: "s", Version: 1 << 60, InFlight: huge(1)},
		{Node: "x/y", Version: 1, InFlight: huge(1)},
		{Node: "x", InFlight: huge(1)},
		{Node: "x", Version: math.MaxUint64, InFlight: huge(1)},
		{Node: "x", Version: 1, Part: math.MaxUint32, InFlight: huge(1)},
	} {
		_ = s.Merge(message(3, bad), now)
	}
	if n := s.InFlight("n"); n != 2<<20 {
		t.Errorf("%d in flight", n)
	}
	for _, b := range [][]byte{{0xff}, {0x12, 0x7f, 1}, {0x08, 0x02}, {0x0b}, {0x00}} {
		if s.Merge(b, now) == nil {
			t.Errorf("%x is understood", b)
		}
	}
	if err := s.Merge([]byte{0x12, 1, 0xff, 0x2a, 1, 1}, now); err != nil {
		t.Errorf("a bad record or an unknown field spoils the rest: %v", err)
	}
}

// TestFullExchangesAreBounded: exchanges of 20 MiB, made to take as much memory as they can.
func TestFullExchangesAreBounded(t *testing.T) {
	const size = 20 << 20
	now := time.Now()
	s := gossip.NewState(gossip.StateConfig{Node: "s"})
	empty := make([]byte, 0, size)
	for len(empty) < size {
		empty = append(empty, 0x12, 0, 0x1a, 0)
	}
	var hints, numbers []byte
	for i := range 105_000 {
		hints = append(hints, message(2, &clusterv1.CooldownHint{Deployment: fmt.Sprint(i), Observer: fmt.Sprint(i % 4500), Version: uint64(i + 1), RemainingMillis: 1 << 30})...)
		if i%20 == 0 { // 262,500 numbers
			m := &clusterv1.NodeNumbers{Node: fmt.Sprint(i % 4500), Version: uint64(i + 1), Part: uint32(i % 4096)}
			for n := range 50 {
				m.InFlight = append(m.InFlight, &clusterv1.Number{Name: fmt.Sprint(i, n), Value: 1})
			}
			numbers = append(numbers, message(3, m)...)
		}
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for _, b := range [][]byte{empty, hints, numbers} {
		_ = s.Merge(b, now)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 64<<20 {
		t.Errorf("it takes %d MiB", grown>>20)
	}
	if n := len(s.Hints(now)); n > 100_000 {
		t.Errorf("%d hints are kept", n)
	}
	if full := s.Full(now); len(full) > 17<<20 {
		t.Errorf("a full exchange of %d bytes", len(full))
	}
	s.Cool("own", 0, now.Add(time.Minute))
	s.Sweep(now.Add(3 * time.Hour))
	if err := s.Merge(message(2, &clusterv1.CooldownHint{Deployment: "new", Observer: "1", Version: 1 << 40, RemainingMillis: 1000}), now.Add(3*time.Hour)); err != nil || len(s.Hints(now.Add(3*time.Hour))) != 1 {
		t.Error("what has ended makes no room")
	}
	runtime.KeepAlive([][]byte{empty, hints, numbers})
}

// FuzzMerge: whatever is heard, it neither panics nor breaks the limits.
func FuzzMerge(f *testing.F) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	a := gossip.NewState(gossip.StateConfig{Node: "a", InFlight: func(yield func(id.Deployment, int64) bool) { yield("d", 3) }})
	a.Cool("d", 1, now.Add(time.Minute))
	a.SetCounter("applied", 7)
	a.Changes(now)
	f.Add(a.Full(now))
	f.Add(binary.AppendUvarint([]byte{0x12}, 1<<40))
	f.Add([]byte{0x08, 0x01, 0x1a, 0x00})
	f.Fuzz(func(t *testing.T, b []byte) {
		s := gossip.NewState(gossip.StateConfig{Node: "s"})
		_ = s.Merge(b, now)
		for _, h := range s.Hints(now) {
			if h.Until.Sub(now) > gossip.MaxCooldown || h.Version == 0 || h.Deployment == "" || h.Observer == "" {
				t.Errorf("%v", h)
			}
		}
		other := gossip.NewState(gossip.StateConfig{Node: "o"})
		if err := other.Merge(s.Full(now), now); err != nil {
			t.Errorf("it tells what cannot be understood: %v", err)
		}
		if diff := cmp.Diff(s.Hints(now), other.Hints(now)); diff != "" {
			t.Errorf("it tells something else than it has heard:\n%s", diff)
		}
	})
}
