package lease_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/lease"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/money"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// link is the state of the connection between a member and the log.
type link int

const (
	whole  link = iota // proposals are committed
	down               // proposals fail
	silent             // proposals are committed, and the response is lost
	slow               // proposals are committed after a response that they may not be
)

// member is a node. boot recreates the parts that die with its process.
type member struct {
	world   *world
	node    id.Node
	skew    time.Duration // of its clock
	link    link
	events  []*clusterv1.UsageEvent // its journal; event n has the number n+1
	posted  int                     // number of them in its replica; the journal has no more of them
	trimmed int                     // the part of the log that it has for certain
	late    *entry                  // on its way to the log
	moves   int                     // number of proposals

	replica *replica
	manager *lease.Manager
	stop    context.CancelFunc
	ran     chan error
	running []*request
}

// request is an admitted request.
type request struct {
	member *member
	hold   *lease.Hold
	key    byte
	amount money.Pico
	over   money.Pico // cost beyond that
	ended  bool
}

// world is a cluster whose members communicate through a log.
type world struct {
	t        *testing.T
	mu       sync.Mutex
	log      []*entry
	head     *replica // after the whole log
	members  []*member
	requests []*request
	limit    money.Pico
	duration time.Duration // of windows; 0: without an end
}

func newReplica() *replica { return &replica{records: records{}} }

// newWorld returns a cluster of three. The last member's clock is ahead by skew.
func newWorld(t *testing.T, limit money.Pico, duration, skew time.Duration) *world {
	t.Helper()
	w := &world{t: t, head: newReplica(), limit: limit, duration: duration}
	for i := range 3 {
		m := &member{world: w, node: id.Node(fmt.Sprintf("%032x", i+1)), replica: newReplica()}
		w.members = append(w.members, m)
		if i == 2 {
			m.skew = skew
		}
		m.boot()
	}
	return w
}

// account returns an account after the whole log.
func (w *world) account(a id.Account) ledger.State {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.head.account(a)
}

// boot starts a member's process.
func (m *member) boot() {
	ctx, cancel := context.WithCancel(m.world.t.Context())
	m.world.mu.Lock()
	defer m.world.mu.Unlock()
	m.manager = lease.New(lease.Config{
		Node: m.node, Move: m.move, Now: m.now,
		Load: func(a id.Account) (lease.State, error) {
			m.world.mu.Lock()
			defer m.world.mu.Unlock()
			return m.state(m.replica.account(a)), nil
		},
	})
	for _, e := range m.events[m.posted:] {
		for _, c := range e.GetCharges() {
			if c.MaxPico != nil {
				m.manager.Expect(accountOf(e, id.AccountKind(c.GetKind())), money.Pico(e.GetCostPico()))
			}
		}
	}
	m.stop, m.ran = cancel, make(chan error, 1)
	go func(t *lease.Manager) { m.ran <- t.Run(ctx) }(m.manager)
}

// crash kills the process and starts another one, whose replica is at an earlier entry.
func (m *member) crash(back int) {
	m.world.mu.Lock()
	was := m.link
	m.link = down // no further communication
	m.world.mu.Unlock()
	m.shut()
	m.world.mu.Lock()
	m.link = was
	for _, r := range m.running {
		m.record(r, r.amount/2)
	}
	m.running, m.manager = nil, nil
	// The journal and the replica are one store: the replica has the events that the journal
	// has dropped.
	applied := max(m.replica.applied-back, m.trimmed)
	m.replica = newReplica()
	for _, e := range m.world.log[:applied] {
		_, _ = m.replica.apply(e)
	}
	m.world.mu.Unlock()
	m.boot()
}

func (m *member) shut() {
	m.stop()
	if err := <-m.ran; err != nil {
		panic(err)
	}
}

// fare sets the connection state.
func (m *member) fare(l link) {
	m.world.mu.Lock()
	defer m.world.mu.Unlock()
	m.link = l
}

// proposals returns the number of proposals.
func (m *member) proposals() int {
	m.world.mu.Lock()
	defer m.world.mu.Unlock()
	return m.moves
}

// applied returns the length of the log that the replica has applied.
func (m *member) applied() int {
	m.world.mu.Lock()
	defer m.world.mu.Unlock()
	return m.replica.applied
}

func (m *member) now() time.Time { return time.Now().Add(m.skew) }

// state returns an account for the member's manager.
func (m *member) state(s ledger.State) lease.State {
	out := lease.State{
		Window: s.Window.Pico(), Epoch: s.Epoch, Resets: s.Resets, Duration: s.Duration,
		Scarce: s.Scarce, Max: s.Max, Bounded: s.Bounded,
	}
	for _, l := range s.Leases {
		if l.Node == m.node {
			out.Left = l.Left
		} else {
			out.Others += l.Left
		}
	}
	return out
}

// append appends an entry to the log. The caller holds the lock.
func (w *world) append(e *entry) {
	e.at = time.Now()
	w.log = append(w.log, e)
	if _, f := w.head.apply(e); f != nil {
		panic(f)
	}
}

// catchUpLocked applies the log.
func (m *member) catchUpLocked() {
	for _, e := range m.world.log[m.replica.applied:] {
		changed, f := m.replica.apply(e)
		if f != nil {
			panic(f)
		}
		if own := e.post; own != nil && own.GetNode() == string(m.node) {
			m.posted = max(m.posted, int(own.GetFirst())-1+len(own.GetEvents()))
			m.trimmed = m.replica.applied
		}
		for _, c := range changed {
			own := c.Own
			if e.post.GetNode() != string(m.node) {
				own = 0
			}
			m.manager.Applied(c.Account, m.state(c.State), own)
		}
	}
}

// move is Config.Move. A proposal takes some time.
func (m *member) move(ctx context.Context, proposal *clusterv1.MoveLeases) error {
	w := m.world
	w.mu.Lock()
	link := m.link
	m.moves++
	w.mu.Unlock()
	select {
	case <-ctx.Done():
	case <-time.After(3 * time.Millisecond):
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if m.late != nil && link != down { // before any proposal that succeeds now
		w.append(m.late)
		m.late = nil
	}
	e := &entry{move: proto.CloneOf(proposal)}
	switch link {
	case whole:
		w.append(e)
		m.catchUpLocked()
		return ctx.Err()
	case silent:
		w.append(e)
	case slow:
		m.late = e
	case down:
	}
	return &fault.Error{Kind: fault.Unavailable, Err: errors.New("no leader")}
}

// ship posts the events of the journal.
func (m *member) ship() {
	w := m.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if m.link == down || m.posted == len(m.events) {
		return
	}
	run := &clusterv1.PostUsage{Node: string(m.node), Epoch: 1, First: uint64(m.posted) + 1}
	for _, e := range m.events[m.posted:] {
		data, err := proto.Marshal(e)
		if err != nil {
			panic(err)
		}
		run.Events = append(run.Events, data)
	}
	w.append(&entry{post: run})
	if m.link == whole {
		m.catchUpLocked()
	}
}

func keyOf(n byte) id.KeyHash { return id.KeyHash{n} }

// accounts returns those of a request: of a key, its team and a user without a budget.
func accounts(key byte) (ofKey, ofTeam, ofUser id.Account) {
	e := &clusterv1.UsageEvent{}
	fill(e, key)
	return accountOf(e, id.AccountKey), accountOf(e, id.AccountTeam), accountOf(e, id.AccountUser)
}

func fill(e *clusterv1.UsageEvent, key byte) {
	hash := keyOf(key)
	e.Version, e.KeyHash, e.Team, e.User, e.Provider, e.Group = 1, hash[:], "team", "user", "provider", "model"
}

func accountOf(e *clusterv1.UsageEvent, kind id.AccountKind) id.Account {
	switch kind { //nolint:exhaustive // the others have no charges here
	case id.AccountKey:
		return id.Account{Kind: kind, Owner: fmt.Sprintf("%x", e.GetKeyHash())}
	case id.AccountTeam:
		return id.Account{Kind: kind, Owner: e.GetTeam()}
	default:
		return id.Account{Kind: kind, Owner: e.GetUser()}
	}
}

// bounds returns the bounds of a request: a key may spend half of its team's budget.
func (m *member) bounds(key byte) []lease.Bound {
	ofKey, ofTeam, ofUser := accounts(key)
	b := []lease.Bound{
		{Account: ofKey, Bounded: true, Max: m.world.limit / 2},
		{Account: ofTeam, Bounded: true, Max: m.world.limit},
		{Account: ofUser, Soft: m.world.limit / 2},
	}
	if d := m.world.duration; d > 0 {
		for i := range b {
			b[i].Duration, b[i].Resets = d.String(), m.now().Truncate(d).Add(d)
		}
	}
	return b
}

// reserve reserves for a request of a key.
func (m *member) reserve(ctx context.Context, key byte, amounts ...money.Pico) (*request, error) {
	m.world.mu.Lock()
	manager := m.manager
	m.world.mu.Unlock()
	hold, err := manager.Reserve(ctx, m.bounds(key), amounts...)
	if err != nil {
		return nil, err
	}
	r := &request{member: m, hold: hold, key: key, amount: hold.Amount()}
	m.world.mu.Lock()
	defer m.world.mu.Unlock()
	if m.manager != manager {
		return nil, context.Canceled // it died with its process
	}
	m.running = append(m.running, r)
	m.world.requests = append(m.world.requests, r)
	return r, nil
}

// record adds an event of a request to the journal. The caller holds the lock.
func (m *member) record(r *request, cost money.Pico) {
	r.ended, r.over = true, max(cost-r.amount, 0)
	e := &clusterv1.UsageEvent{CostPico: int64(cost), Final: true, EndUnixNano: time.Now().UnixNano()}
	fill(e, r.key)
	for _, c := range r.hold.Charges() {
		charge := &clusterv1.Charge{Kind: clusterv1.AccountKind(c.Kind), Epoch: c.Epoch, SoftPico: int64(c.Soft)}
		if c.Bounded {
			limit := int64(c.Max)
			charge.MaxPico = &limit
		}
		e.Charges = append(e.Charges, charge)
	}
	m.events = append(m.events, e)
}

// settle ends a request.
func (r *request) settle(cost money.Pico) {
	w := r.member.world
	w.mu.Lock()
	if r.ended {
		w.mu.Unlock()
		return
	}
	r.member.record(r, cost)
	r.member.running = slices.DeleteFunc(r.member.running, func(o *request) bool { return o == r })
	w.mu.Unlock()
	r.hold.Settle(cost)
}

// lower releases the reservation beyond amount.
func (r *request) lower(amount money.Pico) {
	w := r.member.world
	w.mu.Lock()
	r.amount = min(r.amount, amount)
	w.mu.Unlock()
	r.hold.Lower(amount)
}

// cancel ends a request without an event.
func (r *request) cancel() {
	w := r.member.world
	w.mu.Lock()
	r.ended = true
	r.member.running = slices.DeleteFunc(r.member.running, func(o *request) bool { return o == r })
	w.mu.Unlock()
	r.hold.Cancel()
}

// check checks the invariant: the spent, the unposted and the reserved amounts stay within
// every budget, except for costs beyond reservations.
func (w *world) check() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range []byte{1, 2} {
		ofKey, ofTeam, _ := accounts(key)
		for i, a := range []id.Account{ofKey, ofTeam} {
			limit := w.limit
			if i == 0 {
				limit /= 2
			}
			s := w.head.account(a)
			sum := s.Window.Pico()
			for _, m := range w.members {
				posted := w.postedOf(m)
				for _, e := range m.events[posted:] {
					if accountOf(e, a.Kind) == a && e.GetCharges()[i].GetEpoch() == s.Epoch {
						sum += money.Pico(e.GetCostPico())
					}
				}
			}
			allowed := limit
			for _, r := range w.requests {
				k, t, _ := accounts(r.key)
				if (k != a && t != a) || r.hold.Charges()[i].Epoch != s.Epoch {
					continue
				}
				if !r.ended {
					sum += r.amount
				}
				allowed += r.over
			}
			if sum > allowed {
				return fmt.Errorf("%s: %d of %d are spent or reserved; the state has %+v", a.Kind, sum, allowed, s)
			}
		}
	}
	return nil
}

// postedOf returns how many of a member's events the log has.
func (w *world) postedOf(m *member) int {
	last := 0
	for _, e := range w.log {
		if e.post.GetNode() == string(m.node) {
			last = max(last, int(e.post.GetFirst())-1+len(e.post.GetEvents()))
		}
	}
	return last
}

// wait lets time pass.
func wait(d time.Duration) { <-time.After(d) }

// shut stops all members.
func (w *world) shut() {
	for _, m := range w.members {
		m.shut()
	}
}
