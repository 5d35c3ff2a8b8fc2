package audit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/modelgateway/modelgateway/cluster/block"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// The kinds of terms of records.
const (
	termKey      = 'k'
	termType     = 'e'
	termRequest  = 'r'
	termOrg      = 'o'
	termTeam     = 't'
	termCustomer = 'c'
	termModel    = 'm'
	termProvider = 'p'
)

// logOf is the log of the records of a chain. A record has its number in the chain and the time of its event. Its
// value is a cluster.v1.AuditEntry.
func logOf(workspace string) block.Log {
	return block.Log{Space: store.SpaceAuditLog, Prefix: workspace + "\x00", Unique: string(rune(termRequest)), Chain: hashes{}}
}

// Log returns the log of the records of a chain, for sealing.
func Log(workspace string) block.Log { return logOf(workspace) }

// SealMultiple is the number after whose multiples a sealed segment may end, because a chain is trimmed there.
const SealMultiple = segment

// writer appends the records of one call of AppendAll: to the log, or as older versions do if the log was not begun.
type writer struct {
	tx        Tx
	workspace string
	packs     bool
	entries   []block.Entry
}

func newWriter(tx Tx, workspace string, size uint64, events int) (*writer, error) {
	last, begun, err := logOf(workspace).End(tx)
	if err == nil && begun && last != size {
		err = damagedHead(nil)
	}
	w := &writer{tx: tx, workspace: workspace, packs: begun}
	if begun {
		w.entries = make([]block.Entry, 0, events)
	}
	return w, err
}

func (w *writer) add(number uint64, x entry, e *clusterv1.AuditEvent) {
	if !w.packs {
		writeOlder(w.tx, w.workspace, number, x, e)
		return
	}
	w.entries = append(w.entries, block.Entry{Number: number, Time: max(x.time, 0), Terms: termsOf(valuesOf(e)), Value: x.wire()})
}

func (w *writer) end() error { return logOf(w.workspace).Append(w.tx, w.entries) }

// values has the values by which a record is found; empty for none.
type values struct {
	key                                                 []byte
	kind, request, org, team, customer, model, provider string
}

// valuesOf returns the values of a new record.
func valuesOf(e *clusterv1.AuditEvent) values {
	out := values{
		kind: clean(e.GetType()), request: clean(e.GetRequestId()), org: clean(e.GetOrgId()), team: clean(e.GetTeamId()),
		customer: clean(e.GetCustomerId()), model: clean(e.GetModel()), provider: clean(e.GetProvider()),
	}
	if isKeyHash(e.GetKeyHash()) {
		out.key = e.GetKeyHash()
	}
	return out
}

func termsOf(x values) []block.Term {
	out := make([]block.Term, 0, 8)
	if len(x.key) > 0 {
		out = append(out, block.NewTerm(termKey, x.key))
	}
	for _, v := range [...]struct {
		kind byte
		text string
	}{
		{termType, x.kind},
		{termRequest, x.request},
		{termOrg, x.org},
		{termTeam, x.team},
		{termCustomer, x.customer},
		{termModel, x.model},
		{termProvider, x.provider},
	} {
		if v.text != "" {
			out = append(out, block.NewTerm(v.kind, v.text))
		}
	}
	return out
}

// appendTerms appends the terms of a stored record, in the order of termsOf.
func appendTerms(out []block.Term, external, internal members) []block.Term {
	if key, ok := id.ParseKeyHash(external.text("user_key_hash")); ok {
		out = append(out, block.NewTerm(termKey, key[:]))
	}
	for _, v := range [...]struct {
		kind byte
		of   members
		name string
	}{
		{termType, external, "event_type"},
		{termRequest, internal, "request_id"},
		{termOrg, external, "org_id"},
		{termTeam, external, "team_id"},
		{termCustomer, internal, "customer_id"},
		{termModel, external, "model"},
		{termProvider, external, "provider"},
	} {
		value := v.of.get(v.name)
		switch {
		case len(value) < 3 || value[0] != '"': // null, or empty
		case bytes.IndexByte(value, '\\') < 0:
			out = append(out, block.NewTerm(v.kind, value[1:len(value)-1]))
		default:
			out = append(out, block.NewTerm(v.kind, v.of.text(v.name)))
		}
	}
	return out
}

// hashes takes the hashes out of stored records: that of the record itself, and the one before it in its external
// object. A block stores each of them once.
type hashes struct{}

// Split implements block.Chain.
func (hashes) Split(to, value []byte) (rest []byte, link block.Link, ok bool) {
	x, err := decodeEntry(value)
	if err != nil {
		return to, link, false
	}
	// Within a string the quotes would be escaped.
	const member = `"previous_event_hash":"` + hashPrefix
	at := bytes.Index(x.external, []byte(member))
	end := at + len(member) + 2*len(link.Previous)
	if at < 0 || end > len(x.external) {
		return to, link, false
	}
	before, digits, after := x.external[:at+len(member)], x.external[at+len(member):end], x.external[end:]
	if _, err := hex.Decode(link.Previous[:], digits); err != nil {
		return to, link, false
	}
	var lower [2 * len(link.Previous)]byte // as Join writes them
	hex.Encode(lower[:], link.Previous[:])
	link.Own = x.hash
	for _, part := range [...][]byte{before, after, x.internal} {
		to = protowire.AppendBytes(to, part)
	}
	to = protowire.AppendVarint(to, uint64(x.recorded))
	to = protowire.AppendVarint(to, uint64(x.time))
	return to, link, x.canonical(value) && bytes.Equal(lower[:], digits)
}

// Join implements block.Chain.
func (hashes) Join(to, rest []byte, x block.Link) []byte {
	to, _ = join(to, rest, x)
	return to
}

// Follow implements block.Chain.
func (hashes) Follow(to, rest []byte, previous [32]byte) (out []byte, own [32]byte) {
	out, x := join(to, rest, block.Link{Previous: previous})
	if x.own == 0 {
		return out, own
	}
	own = link(previous, sha256.Sum256(x.external), sha256.Sum256(x.internal))
	copy(out[x.own:], own[:])
	return out, own
}

// joined says where the parts of a record are that join has appended.
type joined struct {
	external, internal []byte
	own                int // the index of its hash
}

// join appends a stored record with its hashes. It appends nothing for what Split has not written.
func join(to, rest []byte, x block.Link) (out []byte, at joined) {
	var parts [3][]byte
	for i := range parts {
		part, n := protowire.ConsumeBytes(rest)
		if n < 0 {
			return to, at // the block has a checksum; Split writes nothing else
		}
		parts[i], rest = part, rest[n:]
	}
	recorded, n := protowire.ConsumeVarint(rest)
	time, m := protowire.ConsumeVarint(rest[max(n, 0):])
	if n < 0 || m < 0 {
		return to, at
	}
	to = protowire.AppendTag(to, 1, protowire.BytesType)
	to = protowire.AppendVarint(to, uint64(len(parts[0])+2*len(x.Previous)+len(parts[1])))
	from := len(to)
	to = append(to, parts[0]...)
	to = hex.AppendEncode(to, x.Previous[:])
	to = append(to, parts[1]...)
	at.external, at.internal = to[from:], parts[2]
	to = protowire.AppendTag(to, 2, protowire.BytesType)
	to = protowire.AppendBytes(to, parts[2])
	to = protowire.AppendTag(to, 3, protowire.BytesType)
	to = protowire.AppendBytes(to, x.Own[:])
	at.own = len(to) - len(x.Own)
	to = protowire.AppendTag(to, 4, protowire.VarintType)
	to = protowire.AppendVarint(to, recorded)
	to = protowire.AppendTag(to, 5, protowire.VarintType)
	return protowire.AppendVarint(to, time), at
}

// stored is a stored record.
type stored struct {
	number uint64 // 0: its key is none that the gateway writes
	value  []byte
	older  bool // kept as older versions do
}

// span is a part of a chain: from one number to another.
type span struct {
	workspace string
	from, to  uint64
}

// scan calls fn for each stored record of a part of a chain, in order, until fn returns false. It skips the numbers
// of missing records. Records may be packed meanwhile.
func scan(ctx context.Context, r Reader, x span, fn func(stored) bool) error {
	s := &scanner{ctx: ctx, r: r, workspace: x.workspace, to: x.to, fn: fn, more: true}
	for from := x.from; s.more && from <= x.to; {
		// Each step lists consecutive records of one kind; a gap may be filled by those of the other.
		older, err := s.older(from)
		if err != nil || !s.more {
			return err
		}
		if older.next > from {
			from = older.next
			continue
		}
		packed, err := s.packed(from)
		if err != nil || !s.more {
			return err
		}
		if packed.next > from {
			from = packed.next
			continue
		}
		if from = min(older.then, packed.then); from == math.MaxUint64 {
			return nil
		}
	}
	return nil
}

type scanner struct {
	ctx       context.Context //nolint:containedctx // lives as long as one call of scan
	r         Reader
	workspace string
	to        uint64
	fn        func(stored) bool
	more      bool
	none      bool // there are no records of older versions, and never will be
}

// reached is how far a step came: next is the number after the last record that it listed, and then that of the
// record after the gap, or the highest number.
type reached struct{ next, then uint64 }

func (s *scanner) older(from uint64) (reached, error) {
	at := reached{from, math.MaxUint64}
	if s.none {
		return at, nil
	}
	s.none = true
	err := s.r.Scan(s.ctx, store.Range{
		Space: store.SpaceAudit, Prefix: recordPrefix(s.workspace), From: recordKey(s.workspace, from), To: recordKey(s.workspace, s.to+1),
	}, func(key, value []byte) bool {
		s.none = false
		x := stored{value: value, older: true}
		if len(key) == len(s.workspace)+9 {
			x.number = numberOf(key)
		}
		if x.number > at.next {
			at.then = x.number
			return false
		}
		at.next++
		s.more = s.fn(x)
		return s.more
	})
	return at, err
}

func (s *scanner) packed(from uint64) (reached, error) {
	at := reached{from, math.MaxUint64}
	err := logOf(s.workspace).Range(s.ctx, s.r, from, s.to, func(x block.Record) bool {
		if x.Number > at.next {
			at.then = x.Number
			return false
		}
		at.next++
		s.more = s.fn(stored{number: x.Number, value: x.Value})
		return s.more
	})
	return at, err
}
