package ledger

import (
	"context"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/block"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// The field numbers of cluster.v1.UsageRecord.
const (
	fieldNode  protowire.Number = 1
	fieldEpoch protowire.Number = 2
	fieldSeq   protowire.Number = 3
	fieldEvent protowire.Number = 4
)

// The kinds of terms of usage records.
const (
	termKey          = 'k'
	termTeam         = 't'
	termOrganization = 'o'
	termUser         = 'u'
	termEndUser      = 'c'
	termSession      = 's'
	termRequest      = 'r'
	termPrompt       = 'p'
)

// rowLog is the log of usage records. A record's time is the end of the attempt.
func rowLog() block.Log {
	return block.Log{Space: store.SpaceUsageLog, Unique: string([]byte{termRequest, termSession})}
}

// RowLog returns the log of usage records, for sealing.
func RowLog() block.Log { return rowLog() }

// keep writes the record of an attempt. It stores the event as received, with fields that only
// a newer version knows.
func (p *posting) keep(e *clusterv1.UsageEvent, text []byte) {
	size := len(p.node) + len(text) + 32
	out := protowire.AppendTag(make([]byte, 0, size), fieldNode, protowire.BytesType)
	out = protowire.AppendString(out, p.node)
	if p.epoch != 0 {
		out = protowire.AppendTag(out, fieldEpoch, protowire.VarintType)
		out = protowire.AppendVarint(out, p.epoch)
	}
	out = protowire.AppendTag(out, fieldSeq, protowire.VarintType)
	out = protowire.AppendVarint(out, p.seq)
	out = protowire.AppendTag(out, fieldEvent, protowire.BytesType)
	out = protowire.AppendBytes(out, text)
	if account, hash := keyAccount(e), hashOf(e); hash != account {
		p.index = appendAccountIndex(p.index[:0], hash)
		p.tx.Set(store.SpaceUsageIndex, p.index, account[:])
	}
	if !p.packs {
		p.keepOlder(e, out)
		return
	}
	p.row++
	p.kept = append(p.kept, rowEntry(p.row, e, out))
}

// rowEntry returns an entry of the log of records.
func rowEntry(number uint64, e *clusterv1.UsageEvent, value []byte) block.Entry {
	out := block.Entry{Number: number, Time: max(endOf(e), 0), Value: value, Terms: make([]block.Term, 0, 8)}
	account := keyAccount(e)
	out.Terms = append(out.Terms, block.NewTerm(termKey, account[:]), block.NewTerm(termRequest, e.GetRequest()))
	for _, x := range [...]struct {
		kind  byte
		value string
	}{
		{termTeam, e.GetTeam()},
		{termOrganization, e.GetOrganization()},
		{termUser, e.GetUser()},
		{termEndUser, e.GetEndUser()},
		{termSession, e.GetSession()},
		{termPrompt, e.GetPromptId()},
	} {
		if x.value != "" {
			out.Terms = append(out.Terms, block.NewTerm(x.kind, x.value))
		}
	}
	return out
}

// terms returns the terms that all records have which the filter matches.
func (f *LogFilter) terms() []block.Term {
	var out []block.Term
	for _, x := range [...]struct {
		kind  byte
		value string
	}{
		{termRequest, string(f.Request)},
		{termTeam, string(f.Team)},
		{termOrganization, string(f.Organization)},
		{termUser, string(f.User)},
		{termEndUser, string(f.Customer)},
		{termSession, f.Session},
		{termPrompt, f.Prompt},
	} {
		if x.value != "" {
			out = append(out, block.NewTerm(x.kind, x.value))
		}
	}
	if f.Key != nil {
		out = append(out, block.NewTerm(termKey, f.Key[:]))
	}
	return out
}

// TrimUsage deletes usage records that ended before a time, the first of the log first, until it has deleted most of
// them or more, and returns their number. A record goes when all records of its block are that old; one that is in no
// block yet, when those before it are. Accounts and daily rows stay.
func TrimUsage(tx Tx, before time.Time, most int) (dropped int, f *fault.Error) {
	if most <= 0 {
		return 0, nil
	}
	if dropped, f = trimOlder(tx, before, most); f != nil {
		return 0, f
	}
	n, err := rowLog().Trim(tx, before.UnixNano(), most-dropped)
	if err != nil {
		return 0, unreadable(err)
	}
	return dropped + n, nil
}

// Trimmable reports whether TrimUsage would delete a record.
func Trimmable(ctx context.Context, r Reader, before time.Time) (there bool, err error) {
	end := appendMoment(nil, before.UnixNano())
	err = r.Scan(ctx, store.Range{Space: store.SpaceUsage, To: end, Limit: 1}, func(_, _ []byte) bool {
		there = true
		return false
	})
	if err != nil || there {
		return there, err
	}
	return rowLog().Trimmable(ctx, r, before.UnixNano())
}

// trimOlder deletes records of older versions, as TrimUsage does, and returns their number.
func trimOlder(tx Tx, before time.Time, most int) (int, *fault.Error) {
	var places [][]byte
	var events []*clusterv1.UsageEvent
	var broken error
	end := appendMoment(nil, before.UnixNano())
	err := tx.Scan(store.Range{Space: store.SpaceUsage, To: end, Limit: most}, func(key, value []byte) bool {
		m := &clusterv1.UsageRecord{}
		if broken = proto.Unmarshal(value, m); broken != nil {
			return false
		}
		places, events = append(places, append([]byte(nil), key...)), append(events, m.GetEvent())
		return true
	})
	if err == nil {
		err = broken
	}
	if err != nil {
		return 0, unreadable(err)
	}
	for i, place := range places {
		dropOlder(tx, place, events[i])
	}
	return len(places), nil
}

// placeOf returns the place of a record of the log in the order of the results: its time and its identity.
func placeOf(x block.Record) ([]byte, error) {
	var node []byte
	var epoch, seq uint64
	for b := x.Value; len(b) > 0; {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		b = b[n:]
		switch {
		case number == fieldNode && kind == protowire.BytesType:
			node, n = protowire.ConsumeBytes(b)
		case number == fieldEpoch && kind == protowire.VarintType:
			epoch, n = protowire.ConsumeVarint(b)
		case number == fieldSeq && kind == protowire.VarintType:
			seq, n = protowire.ConsumeVarint(b)
		default:
			n = protowire.ConsumeFieldValue(number, kind, b)
		}
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		b = b[n:]
	}
	return appendUsage(nil, x.Time, string(node), epoch, seq), nil
}
