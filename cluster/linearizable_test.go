package cluster_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
)

const (
	historyTime = 2 * time.Minute
	callers     = 28
	// leastRate is how many calls a second have to be answered with a result for the
	// history to say anything.
	leastRate = 100
	// epoch is how long a name is contended for. Short histories are quick to judge,
	// and nothing that is contended for needs to be old.
	epoch = 4 * time.Second
)

// TestNamesAndSettingsAreLinearizable has many callers contend for the aliases of
// keys and for the router's settings, on all nodes of three and through faults. A
// call that was answered has one moment between its beginning and its end at which
// it happened; one whose outcome is unknown has one at any time after its
// beginning, or none.
func TestNamesAndSettingsAreLinearizable(t *testing.T) {
	history := record{calls: map[string][]porcupine.Operation{}}
	synctest.Test(t, func(t *testing.T) {
		l := startedLab(t, 7, 3)
		defer l.close()
		// Nobody can say what the settings have to be before they were ever set.
		if err := setFails(t.Context(), l.hosts[0].node(), firstSetting, l.hosts[0].node().View()); err != nil {
			t.Fatal(err)
		}
		history.begin = time.Now()
		end := history.begin.Add(historyTime)
		var wait sync.WaitGroup
		for i := range callers {
			c := &caller{hosts: l.hosts, record: &history, number: i, random: rand.New(rand.NewPCG(7, uint64(i)))}
			wait.Go(func() { c.call(t.Context(), end) })
		}
		disturb(l, end)
		wait.Wait()
	})
	rate := float64(history.answered) / historyTime.Seconds()
	t.Logf("%d calls answered, %.0f a second, and %d with an unknown outcome", history.answered, rate, history.unknown)
	if rate < leastRate {
		t.Errorf("less than %d a second say nothing", leastRate)
	}
	for about, ops := range history.calls {
		model := aliasModel
		if about == routerSettings {
			model = settingsModel
		}
		judge(t, model, about, ops)
	}
}

func judge(t *testing.T, model porcupine.Model, about string, ops []porcupine.Operation) {
	t.Helper()
	switch porcupine.CheckOperationsTimeout(model, ops, time.Minute) {
	case porcupine.Illegal:
		t.Errorf("%s: no order of the calls explains their answers:", about)
		for _, op := range ops {
			t.Logf("%12s to %12s: %s", time.Duration(op.Call), time.Duration(op.Return), model.DescribeOperation(op.Input, op.Output))
		}
	case porcupine.Unknown:
		t.Errorf("%s: could not be judged in time", about)
	case porcupine.Ok:
	}
}

// disturb does harm until end, and mends it, in turns: most of the time there is a
// majority.
func disturb(l *lab, end time.Time) {
	for time.Now().Before(end) {
		h := l.hosts[l.random.IntN(len(l.hosts))]
		switch l.random.IntN(6) {
		case 0:
			h.cut(l.random.IntN(101))
		case 1:
			h.shut()
		case 2:
			l.network.Isolate(h.address)
		case 3:
			l.network.OneWay(h.address, l.hosts[l.random.IntN(len(l.hosts))].address)
		case 4:
			if leader := l.leader(settleTime); leader != nil {
				l.network.Isolate(leader.address)
			}
		case 5:
			l.network.Delay(time.Duration(l.random.IntN(30))*time.Millisecond, 10*time.Millisecond)
			l.network.Loss(l.random.Float64() * 0.05)
		}
		tick(time.Duration(500+l.random.IntN(7000)) * time.Millisecond)
		l.network.Heal()
		l.network.Delay(time.Millisecond, time.Millisecond)
		l.network.Loss(0)
		for _, h := range l.hosts {
			if h.node() == nil {
				h.start()
			}
		}
		tick(time.Duration(2000+l.random.IntN(8000)) * time.Millisecond)
	}
}

// record is what was called and answered.
type record struct {
	begin time.Time
	mu    sync.Mutex
	// By what they are about: an alias, or the settings. Calls about one thing say
	// nothing of another.
	calls    map[string][]porcupine.Operation
	answered int
	unknown  int
}

// add notes a call. A code that says that nothing was done, for certain, leaves
// none; neither does a read without an answer.
func (r *record) add(about string, op porcupine.Operation, code string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	in := op.Input.(input)
	switch {
	case code == "no_leader", code == "outcome_unknown" && in.op == opRead:
		return
	case code == "outcome_unknown":
		r.unknown++
		op.Return = int64(historyTime) + int64(time.Hour)
	default:
		r.answered++
	}
	op.Output = output{code: code, value: op.Output.(output).value}
	r.calls[about] = append(r.calls[about], op)
}

const (
	routerSettings = "the router's settings"
	firstSetting   = 1
)

type operation int

const (
	opRead operation = iota
	opCreate
	opDelete
	opSet
)

// input is what was asked for: of an alias, or of the settings.
type input struct {
	op    operation
	value string // the key that is to have the alias, or to be deleted; the setting
	from  string // what the setting has to be before
}

type output struct {
	code  string
	value string // what was read
}

// aliasModel: an alias belongs to one key at most, and a key that was deleted is gone.
var aliasModel = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, in, out any) (bool, any) {
		now, i, o := state.(string), in.(input), out.(output)
		switch i.op {
		case opRead:
			return o.value == now, now
		case opCreate:
			switch {
			case o.code == "already_exists":
				return now != "", now
			case o.code == "outcome_unknown" && now != "":
				return true, now
			}
			return now == "", i.value
		case opDelete:
			switch {
			case o.code == "key_not_found":
				return now != i.value, now
			case o.code == "outcome_unknown" && now != i.value:
				return true, now
			}
			return now == i.value, ""
		case opSet: // is not of an alias
		}
		return false, now
	},
	DescribeOperation: describe,
}

// settingsModel: who sets says what it was before, and is refused if it was not.
var settingsModel = porcupine.Model{
	Init: func() any { return fmt.Sprint(firstSetting) },
	Step: func(state, in, out any) (bool, any) {
		now, i, o := state.(string), in.(input), out.(output)
		switch {
		case i.op == opRead:
			return o.value == now, now
		case o.code == "ok":
			return now == i.from, i.value
		case o.code == "outcome_unknown":
			if now == i.from {
				return true, i.value
			}
			return true, now
		}
		return now != i.from, now
	},
	DescribeOperation: describe,
}

func describe(in, out any) string {
	i, o := in.(input), out.(output)
	what := map[operation]string{opRead: "read", opCreate: "create", opDelete: "delete", opSet: "set"}[i.op]
	return fmt.Sprintf("%s %s from %q: %s %q", what, i.value, i.from, o.code, o.value)
}

// caller makes one call after the other.
type caller struct {
	hosts  []*host
	record *record
	number int
	calls  int
	random *rand.Rand
	seen   string // the setting that it read last
	seenAt *cluster.View
}

func (c *caller) call(ctx context.Context, end time.Time) {
	for time.Now().Before(end) {
		h := c.hosts[c.random.IntN(len(c.hosts))]
		if node := h.node(); node != nil {
			c.calls++
			if c.number%8 == 0 {
				c.setting(ctx, h, node)
			} else {
				c.alias(ctx, h, node)
			}
		}
		tick(time.Duration(50+c.random.IntN(150)) * time.Millisecond)
	}
}

// note adds a call to the record. What a node answered that was shut or crashed
// meanwhile reached nobody.
func (c *caller) note(about string, h *host, node *cluster.Node, op porcupine.Operation, err error) {
	code := codeOf(err)
	switch {
	case h.node() != node:
		code = "outcome_unknown"
	case !slices.Contains([]string{"ok", "already_exists", "key_not_found", "revision_conflict", "no_leader", "outcome_unknown"}, code):
		h.lab.t.Errorf("%s: %s", about, code)
	}
	op.ClientId, op.Return = c.number, int64(time.Since(c.record.begin))
	c.record.add(about, op, code)
}

func (c *caller) now() int64 { return int64(time.Since(c.record.begin)) }

// alias makes a call about one of a few aliases that all contend for.
func (c *caller) alias(ctx context.Context, h *host, node *cluster.Node) {
	alias := fmt.Sprintf("alias-%d-%d", time.Since(c.record.begin)/epoch, c.random.IntN(8))
	op := porcupine.Operation{Call: c.now(), Output: output{}}
	var err error
	switch c.random.IntN(4) {
	case 0:
		k := newKey(fmt.Sprintf("%s-%d-%d", alias, c.number, c.calls))
		k.Alias = alias
		op.Input = input{op: opCreate, value: k.Hash.String()}
		err = createKey(ctx, node, k)
	case 1:
		// Whatever the node's readers see, be it new or old.
		found := slices.Collect(node.View().Keys.ByAlias(alias))
		if len(found) == 0 {
			return
		}
		k := found[0]
		op.Input = input{op: opDelete, value: k.Hash.String()}
		err = deleteKeys(ctx, node, k.Hash)
	default:
		op.Input = input{op: opRead}
		var k tenancy.Key
		var found bool
		if k, found, err = findAlias(ctx, node, alias); found {
			op.Output = output{value: k.Hash.String()}
		}
	}
	c.note(alias, h, node, op, err)
}

// setting reads the settings, or sets them in terms of what was read.
func (c *caller) setting(ctx context.Context, h *host, node *cluster.Node) {
	op := porcupine.Operation{Call: c.now(), Output: output{}}
	if c.seenAt != nil && c.random.IntN(2) == 0 {
		value := 10_000*(1+c.number) + c.calls
		op.Input = input{op: opSet, value: fmt.Sprint(value), from: c.seen}
		c.note(routerSettings, h, node, op, setFails(ctx, node, value, c.seenAt))
		c.seenAt = nil
		return
	}
	op.Input = input{op: opRead}
	_, err := findKey(ctx, node, id.KeyHash{}) // from here on the node's readers see what is current
	view := node.View()
	if patch, _ := view.Catalog.Patch(); patch.AllowedFails != nil {
		op.Output = output{value: fmt.Sprint(*patch.AllowedFails)}
	}
	if c.note(routerSettings, h, node, op, err); err == nil {
		c.seen, c.seenAt = op.Output.(output).value, view
	}
}
