package ledger

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/block"
	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/inject"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// CodeGap is the code of the Conflict for a run that would leave a gap: earlier events have not
// been posted yet.
const CodeGap = "usage_gap"

// The event versions that this package understands. Version 2 counts its cost at accounts of
// parents, or its audit record has the course of the request. In version 3 the end user belongs
// to an organization. In version 4 the cost counts at the accounts of a user who does not own
// the key. In version 5 the gateway may have measured the usage. In version 6 the audit record names
// the prompt. In version 7 the audit log names the guardrails and what they found. In version
// 8 it names a request that was passed on unread.
const (
	firstVersion = 1
	lastVersion  = 8
)

// Post posts a run of events of one node, except those already posted. at is the time of the
// entry. It fails with a Conflict, code CodeGap, if the run does not follow the posted events.
func Post(tx Tx, run *clusterv1.PostUsage, at time.Time) (Posted, *fault.Error) {
	if run.GetNode() == "" || clean(run.GetNode()) != run.GetNode() {
		return Posted{}, fault.Field("node", "invalid_value", "node is not a node's id.")
	}
	if run.GetFirst() == 0 {
		return Posted{}, fault.Field("first", "invalid_value", "first is 0; events are numbered from 1.")
	}
	mark, f := applied(tx, run.GetNode(), run.GetEpoch())
	if f != nil {
		return Posted{}, f
	}
	next := mark.GetSeq() + 1
	if run.GetFirst() > next && inject.HasDefect("gap_accepted") || run.GetFirst() < next && inject.HasDefect("no_dedup") {
		next, mark.Seq = run.GetFirst(), run.GetFirst()-1
	}
	if run.GetFirst() > next {
		return Posted{}, fault.New(fault.Conflict, CodeGap, "The run begins with event %d of epoch %d, and event %d has not been posted yet: send that first.", run.GetFirst(), run.GetEpoch(), next)
	}
	out := Posted{First: next, Last: mark.GetSeq()}
	known := next - run.GetFirst()
	if known >= uint64(len(run.GetEvents())) {
		return out, nil
	}
	fresh := run.GetEvents()[known:]
	p := posting{
		books: newBooks(tx, at), rows: newRows(tx),
		node: run.GetNode(), epoch: run.GetEpoch(), seq: mark.GetSeq(),
	}
	if f := p.beginRows(); f != nil {
		return Posted{}, f
	}
	for _, text := range fresh {
		if f := p.add(text); f != nil {
			return Posted{}, f
		}
	}
	if out.Changed, f = p.write(); f != nil {
		return Posted{}, f
	}
	if f := p.rows.write(); f != nil {
		return Posted{}, f
	}
	if err := rowLog().Append(tx, p.kept); err != nil {
		return Posted{}, unreadable(err)
	}
	mark.Seq, out.Last, out.Notes = p.seq, p.seq, p.notes
	value, err := proto.MarshalOptions{Deterministic: true}.Marshal(mark)
	if err != nil {
		return Posted{}, unreadable(err)
	}
	tx.Set(store.SpaceShipped, shippedKey(run.GetNode(), run.GetEpoch()), value)
	return out, nil
}

// getter reads one record.
type getter interface {
	Get(space store.Space, key []byte) (value []byte, ok bool, err error)
}

// applied reads how far an epoch of a node's journal has been posted.
func applied(from getter, node string, epoch uint64) (*clusterv1.AppliedEvents, *fault.Error) {
	value, _, err := from.Get(store.SpaceShipped, shippedKey(node, epoch))
	if err != nil {
		return nil, unreadable(err)
	}
	mark := &clusterv1.AppliedEvents{}
	if err := proto.Unmarshal(value, mark); err != nil {
		return nil, unreadable(err)
	}
	return mark, nil
}

// posting posts the events of one run in order.
type posting struct {
	*books

	rows   *rows
	node   string
	epoch  uint64
	seq    uint64 // of the last posted event
	payers []payer
	packs  bool          // records go into the log of records
	row    uint64        // number of the last one there
	kept   []block.Entry // those of this run
	place  []byte        // the keys of the event's record; reused
	index  []byte
}

// beginRows finds the end of the log of records.
func (p *posting) beginRows() *fault.Error {
	var err error
	if p.row, p.packs, err = rowLog().End(p.tx); err != nil {
		return unreadable(err)
	}
	return nil
}

// add posts the next event.
func (p *posting) add(text []byte) *fault.Error {
	e := &clusterv1.UsageEvent{}
	if err := proto.Unmarshal(text, e); err != nil {
		return &fault.Error{Op: "ledger.post", Kind: fault.Malformed, Code: "invalid_value", Param: "events", Detail: fmt.Sprintf("Event %d of the run cannot be read.", p.seq+1), Err: err}
	}
	if v := e.GetVersion(); v < firstVersion || v > lastVersion {
		// Other nodes understand and post it, so this node must not continue without it.
		return &fault.Error{Op: "ledger.post", Kind: fault.Internal, Detail: fmt.Sprintf("A usage event of version %d was written by a newer version. Upgrade this node.", e.GetVersion())}
	}
	p.seq++
	p.notes = append(p.notes, Note{Event: e, Seq: p.seq})
	if e.GetNotice() != nil {
		return p.notice(e)
	}
	p.payers = appendPayers(p.payers[:0], e)
	for _, payer := range p.payers {
		a, f := p.account(payer.account)
		if f != nil {
			return f
		}
		p.charge(a, e, payer)
	}
	p.keep(e, text)
	return p.rows.add(e)
}

// charge posts an event to one account.
func (p *posting) charge(a *account, e *clusterv1.UsageEvent, by payer) {
	a.dirty = true
	if !by.inherited {
		a.setTotal(a.total().Add(by.amount.Total()))
	}
	a.PostedUnixNano = p.at.UnixNano()
	c := by.charge
	if c == nil {
		a.setWindow(a.window().Add(by.amount.Total()))
		return
	}
	a.reported = true
	if c.MaxPico != nil {
		a.own = money.Add(a.own, by.amount)
	}
	if c.GetEpoch() < a.GetEpoch() && !inject.HasDefect("late_in_window") {
		return // late: its own window is over
	}
	before := a.window().Pico()
	a.setWindow(a.window().Add(by.amount.Total()))
	if c.MaxPico != nil && c.GetEpoch() == a.GetEpoch() {
		a.spend(p.node, max(by.amount, money.Pico(c.GetHoldPico())))
	}
	if soft := money.Pico(c.GetSoftPico()); soft > 0 && before < soft && a.over(soft) && !a.GetWarned() {
		a.Warned = true
		p.report(a, e, c, event.TypeBudgetThreshold)
	}
	if c.MaxPico != nil && a.over(money.Pico(c.GetMaxPico())) {
		p.exceeded(a, e, c)
	}
}

// notice processes an event that was no attempt: it costs nothing. If a budget rejected a
// request, the budget counts as exhausted, even if an amount is left that is too small for any
// request.
func (p *posting) notice(e *clusterv1.UsageEvent) *fault.Error {
	n := e.GetNotice()
	if n.GetType() != event.TypeRequestBlocked || n.GetAccount() == nil {
		return nil
	}
	name, f := accountOf(n.GetAccount())
	if f != nil {
		return nil //nolint:nilerr // no event is posted to this kind; only the notice itself counts
	}
	a, f := p.account(name)
	if f != nil {
		return f
	}
	if n.GetAccountEpoch() == a.GetEpoch() {
		p.exceeded(a, e, nil)
	}
	return nil
}

// exceeded reports an exhausted budget once per window.
func (p *posting) exceeded(a *account, e *clusterv1.UsageEvent, c *clusterv1.Charge) {
	if a.GetExceeded() {
		return
	}
	a.Exceeded, a.dirty = true, true
	p.report(a, e, c, event.TypeBudgetExceeded)
	if a.name.Kind == id.AccountKey {
		p.report(a, e, c, event.TypeKeyBudgetExceeded)
	}
}

// report adds a note about the effect of an event on an account. The limits are those at
// admission, or else those of the account.
func (p *posting) report(a *account, e *clusterv1.UsageEvent, c *clusterv1.Charge, typ string) {
	crossing := p.crossing(a, typ)
	if c != nil {
		crossing.Soft, crossing.Max = money.Pico(c.GetSoftPico()), money.Pico(c.GetMaxPico())
	}
	p.notes = append(p.notes, Note{Event: e, Seq: p.seq, Crossing: crossing})
}
