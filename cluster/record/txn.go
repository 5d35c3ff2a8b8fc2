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

// At is the location of a record.
type At struct {
	Space store.Space
	Key   []byte
	Field protowire.Number // of the stamp; 0 means StampField
}

// name returns the location as a map key.
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

// Txn collects the reads and writes of one run of an operation. A repeated run gets a new Txn.
// Reads come from the View and do not see the writes of the transaction. A Txn is not safe for
// concurrent use.
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
	fence   bool
	version uint32 // the highest version that a record needs; 0 if there are no records
	err     *fault.Error
}

// NewTxn begins a transaction. The actor is formatted by tenancy.Principal.Actor.
func NewTxn(now time.Time, actor string) *Txn {
	return &Txn{
		now: now.Round(0), actor: actor,
		checks: map[string]*clusterv1.Check{}, puts: map[string]*clusterv1.Put{},
		deletes: map[string]*clusterv1.Locator{}, touches: map[string]*clusterv1.Locator{},
	}
}

// Time returns the time of the stamps that the transaction writes.
func (t *Txn) Time() time.Time { return t.now }

// Actor returns the actor of the stamps that the transaction writes.
func (t *Txn) Actor() string { return t.actor }

// Stamped returns the Meta that a record written in this transaction will have, except for its
// revision, which is not known before the commit. before is the current Meta, or the zero Meta
// for a new record.
func (t *Txn) Stamped(before Meta) Meta {
	if before.CreatedAt.IsZero() {
		before.CreatedAt, before.CreatedBy = t.now, t.actor
	}
	before.UpdatedAt, before.UpdatedBy, before.Revision = t.now, t.actor, 0
	return before
}

// Require adds a precondition: at commit, the record still has this revision. A revision of 0
// means that the record does not exist.
func (t *Txn) Require(at At, revision uint64) {
	t.checks[at.name()] = &clusterv1.Check{At: at.locator(), Revision: revision}
}

// Put writes a record and replaces the existing one. The commit sets the stamp; a stamp in r is
// ignored.
func (t *Txn) Put(at At, r proto.Message) {
	if f := r.ProtoReflect().Descriptor().Fields().ByNumber(at.field()); f != nil && r.ProtoReflect().Has(f) {
		r = proto.Clone(r)
		r.ProtoReflect().Clear(f)
	}
	text, err := proto.MarshalOptions{Deterministic: true}.Marshal(r)
	if err != nil { // only for text that is not UTF-8, which requests cannot contain
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

// Claim assigns a unique name to the record with the key owner. The commit fails if the name is
// taken by then. The caller checks whether it is taken now.
func (t *Txn) Claim(space store.Space, name, owner []byte) {
	at := At{Space: space, Key: name}
	if _, released := t.deletes[at.name()]; !released { // otherwise the name changes its owner within this transaction
		t.Require(at, 0)
	}
	t.Put(at, &clusterv1.Claim{Owner: owner})
}

// Release frees a name.
func (t *Txn) Release(space store.Space, name []byte) { t.Delete(At{Space: space, Key: name}) }

// Touch marks that a collection has grown. An operation that must have seen the whole
// collection passes the mark to Require.
func (t *Txn) Touch(mark At) { t.touches[mark.name()] = mark.locator() }

// RequireFence states that the transaction removes permissions: the commit is acknowledged only
// after every reachable node has applied it.
func (t *Txn) RequireFence() { t.fence = true }

// NeedsFence reports whether RequireFence was called.
func (t *Txn) NeedsFence() bool { return t.fence }

// Empty reports whether the transaction writes nothing.
func (t *Txn) Empty() bool { return len(t.puts)+len(t.deletes)+len(t.touches)+len(t.spends) == 0 }

// Message returns the transaction as the log carries it. The error is a *fault.Error for a
// value that no record can hold.
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

// compare orders locators as the state does, so that equal transactions have equal bytes.
func compare(a, b *clusterv1.Locator) int {
	if a.GetSpace() != b.GetSpace() {
		return int(a.GetSpace()) - int(b.GetSpace())
	}
	return bytes.Compare(a.GetKey(), b.GetKey())
}

// Join returns one key made of parts. No part may contain a zero byte.
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

// Newest returns a time as a key that sorts from the latest to the earliest.
func Newest(t time.Time) []byte {
	return binary.BigEndian.AppendUint64(nil, ^uint64(Nanos(t)))
}

// Replay is the stored response of an operation that a client may repeat with the same
// Idempotency-Key.
type Replay struct {
	Scope       [32]byte // hash of the caller, the operation and the idempotency key
	Fingerprint [32]byte // hash of the request
	Answer      []byte   // sealed
}

// Remember stores the response in the same transaction. stale is the revision of an expired
// response of the same scope, 0 if there is none.
func (t *Txn) Remember(r Replay, stale uint64) {
	at := At{Space: store.SpaceReplay, Key: r.Scope[:]}
	t.Require(at, stale)
	t.Put(at, &clusterv1.Replay{Fingerprint: r.Fingerprint[:], SealedAnswer: r.Answer})
}

// Remembered is a stored response.
type Remembered struct {
	Fingerprint [32]byte
	Answer      []byte // sealed
	Stale       bool   // expired
	Meta
}

// ReadReplay decodes the record of a stored response.
func ReadReplay(value []byte) (Remembered, error) {
	r := &clusterv1.Replay{}
	if err := proto.Unmarshal(value, r); err != nil {
		return Remembered{}, Unreadable(err)
	}
	out := Remembered{Answer: r.GetSealedAnswer(), Meta: MetaOf(r.GetStamp())}
	copy(out.Fingerprint[:], r.GetFingerprint())
	return out, nil
}
