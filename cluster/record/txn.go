package record

import (
	"bytes"
	"encoding/binary"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// At is where a record is kept.
type At struct {
	Space store.Space
	Key   []byte
	Field protowire.Number // of its stamp; 0 means StampField
}

// name is At as a map's key.
func (a At) name() string { return string(append([]byte{byte(a.Space)}, a.Key...)) }

func (a At) locator() *clusterv1.Locator {
	return &clusterv1.Locator{Space: uint32(a.Space), Key: a.Key, StampField: uint32(a.field())}
}

func (a At) field() protowire.Number {
	if a.Field == 0 {
		return StampField
	}
	return a.Field
}

// Txn collects what an operation reads and what it writes. It is for one
// goroutine and one run of the operation: where that is run again, it gets a new
// one. What it writes is not seen by what it reads, which is the View.
type Txn struct {
	now     time.Time
	actor   string
	checks  map[string]*clusterv1.Check
	puts    map[string]*clusterv1.Put
	deletes map[string]*clusterv1.Locator
	touches map[string]*clusterv1.Locator
	audit   []*clusterv1.AuditEvent
	events  event.Log
	spends  []*clusterv1.SetSpend
	revokes bool
	version uint32 // the greatest that a record needs; 0: it has none
	err     *fault.Error
}

// NewTxn begins a transaction that is decided now, for an actor as
// tenancy.Principal.Actor writes it.
func NewTxn(now time.Time, actor string) *Txn {
	return &Txn{
		now: now.Round(0), actor: actor,
		checks: map[string]*clusterv1.Check{}, puts: map[string]*clusterv1.Put{},
		deletes: map[string]*clusterv1.Locator{}, touches: map[string]*clusterv1.Locator{},
	}
}

// Time is what the records will be stamped with.
func (t *Txn) Time() time.Time { return t.now }

// Actor is who the records will be stamped with.
func (t *Txn) Actor() string { return t.actor }

// Stamped is the Meta that a record written in this transaction will have, but
// for its revision, which is not known before it is committed. before is the Meta
// that it has now; the zero Meta for one that is new.
func (t *Txn) Stamped(before Meta) Meta {
	if before.CreatedAt.IsZero() {
		before.CreatedAt, before.CreatedBy = t.now, t.actor
	}
	before.UpdatedAt, before.UpdatedBy, before.Revision = t.now, t.actor, 0
	return before
}

// Saw notes that a record was read: the transaction is made only if it has that
// revision still; 0 means that it was not there.
func (t *Txn) Saw(at At, revision uint64) {
	t.checks[at.name()] = &clusterv1.Check{At: at.locator(), Revision: revision}
}

// Put writes a record, in place of what is there. Its stamp is made when it is
// committed; one that it has is left out.
func (t *Txn) Put(at At, r proto.Message) {
	if f := r.ProtoReflect().Descriptor().Fields().ByNumber(at.field()); f != nil && r.ProtoReflect().Has(f) {
		r = proto.Clone(r)
		r.ProtoReflect().Clear(f)
	}
	text, err := proto.MarshalOptions{Deterministic: true}.Marshal(r)
	if err != nil { // only for text that is not UTF-8, which no request has
		t.err = &fault.Error{Op: "record.put", Kind: fault.Malformed, Code: "invalid_value", Detail: "A value holds text that is not UTF-8.", Err: err}
		return
	}
	t.version = max(t.version, versionOf(r.ProtoReflect()))
	delete(t.deletes, at.name())
	t.puts[at.name()] = &clusterv1.Put{At: at.locator(), Record: text}
}

// Delete deletes a record.
func (t *Txn) Delete(at At) {
	delete(t.puts, at.name())
	t.events.Amounts(at.name(), nil)
	t.deletes[at.name()] = at.locator()
}

// Claim takes a name for the record of the key owner. That the name is free has
// to be so when it is committed; whether it is now is for who calls to see.
func (t *Txn) Claim(space store.Space, name, owner []byte) {
	at := At{Space: space, Key: name}
	if _, ours := t.deletes[at.name()]; !ours { // else it changes hands within this transaction
		t.Saw(at, 0)
	}
	t.Put(at, &clusterv1.Claim{Owner: owner})
}

// Release gives a name back.
func (t *Txn) Release(space store.Space, name []byte) { t.Delete(At{Space: space, Key: name}) }

// Grow marks that something was added to a collection. Who needs to have seen all
// of a collection notes the mark with Saw.
func (t *Txn) Grow(mark At) { t.touches[mark.name()] = mark.locator() }

// Revokes says that the transaction takes rights away: it is then answered only
// when every node that can be reached goes by it.
func (t *Txn) Revokes() { t.revokes = true }

// Revoking reports whether Revokes was called.
func (t *Txn) Revoking() bool { return t.revokes }

// Empty reports whether the transaction writes nothing.
func (t *Txn) Empty() bool { return len(t.puts)+len(t.deletes)+len(t.touches)+len(t.spends) == 0 }

// Message is the transaction as the log carries it. The error is a *fault.Error
// for what no record can hold.
func (t *Txn) Message() (*clusterv1.Transaction, error) {
	if t.err != nil {
		return nil, t.err
	}
	out := &clusterv1.Transaction{TimeUnixNano: Nanos(t.now), Audit: t.auditEvents(), SetSpends: t.spends}
	for _, c := range t.checks {
		out.Checks = append(out.GetChecks(), c)
	}
	for _, p := range t.puts {
		out.Puts = append(out.GetPuts(), p)
	}
	for _, d := range t.deletes {
		out.Deletes = append(out.GetDeletes(), d)
	}
	for name, l := range t.touches {
		if _, put := t.puts[name]; !put {
			out.Touches = append(out.GetTouches(), l)
		}
	}
	slices.SortFunc(out.GetChecks(), func(a, b *clusterv1.Check) int { return compare(a.GetAt(), b.GetAt()) })
	slices.SortFunc(out.GetPuts(), func(a, b *clusterv1.Put) int { return compare(a.GetAt(), b.GetAt()) })
	slices.SortFunc(out.GetDeletes(), compare)
	slices.SortFunc(out.GetTouches(), compare)
	return out, nil
}

// compare orders records as the state has them, so that one operation is always
// the same bytes.
func compare(a, b *clusterv1.Locator) int {
	if a.GetSpace() != b.GetSpace() {
		return int(a.GetSpace()) - int(b.GetSpace())
	}
	return bytes.Compare(a.GetKey(), b.GetKey())
}

// Join makes one key of parts, none of which has a zero byte.
func Join(parts ...string) []byte {
	var out []byte
	for i, p := range parts {
		if i > 0 {
			out = append(out, 0)
		}
		out = append(out, p...)
	}
	return out
}

// Newest is a key that orders times from the latest to the earliest.
func Newest(t time.Time) []byte {
	return binary.BigEndian.AppendUint64(nil, ^uint64(Nanos(t)))
}

// Replay is the answer of an operation that may be asked for again, under an
// Idempotency-Key.
type Replay struct {
	Scope       [32]byte // hash of who asks for what under which key
	Fingerprint [32]byte // hash of the request
	Answer      []byte   // sealed
}

// Remember keeps the answer with what the transaction changes. stale is the
// revision of one of the same scope that is too old to count, 0 if there is none.
func (t *Txn) Remember(r Replay, stale uint64) {
	at := At{Space: store.SpaceReplay, Key: r.Scope[:]}
	t.Saw(at, stale)
	t.Put(at, &clusterv1.Replay{Fingerprint: r.Fingerprint[:], SealedAnswer: r.Answer})
}

// Remembered is an answer that was kept.
type Remembered struct {
	Fingerprint [32]byte
	Answer      []byte // sealed
	Stale       bool   // it is too old to count
	Meta
}

// ReadReplay reads the record of an answer.
func ReadReplay(value []byte) (Remembered, error) {
	r := &clusterv1.Replay{}
	if err := proto.Unmarshal(value, r); err != nil {
		return Remembered{}, Unreadable(err)
	}
	out := Remembered{Answer: r.GetSealedAnswer(), Meta: MetaOf(r.GetStamp())}
	copy(out.Fingerprint[:], r.GetFingerprint())
	return out, nil
}
