package journal

import (
	"encoding/binary"
	"errors"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/usage"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// recordVersion is the version of all records of this package. Fields may be
// added without a new one; it changes when an old reader would misread.
const recordVersion = 1

// fullerVersion is the version of an intent or event that a reader of version 1 would post
// differently: its cost counts at accounts of parents, or its audit record has the caller's
// status, the steps of the request or why attempts failed. Such a reader stops, because all
// nodes must come to the same state.
const fullerVersion = 2

// endUserVersion is the version of an intent or event whose cost counts at an end user of
// an organization. A reader of an older version would post it to an end user that all
// organizations share; it stops instead.
const endUserVersion = 3

// intentVersion is the version of an intent. Intents of older versions had the fields of
// the attempt themselves, under other numbers: see olderIntent.
const intentVersion = 4

func versionOf(m *clusterv1.UsageEvent) uint32 {
	switch {
	case m.GetEndUserOfOrganization():
		return endUserVersion
	case len(m.GetParentHashes()) > 0, m.GetCountedApart(), m.GetClientStatus() != 0, len(m.GetFailures()) > 0:
		return fullerVersion
	}
	return recordVersion
}

// errVersion is a record that a newer gateway wrote.
var errVersion = errors.New("record of an unknown version")

// errKey is a key that is not of the form that its space has.
var errKey = errors.New("malformed key")

// errGap is a number that is missing between two events.
var errGap = errors.New("the numbers of the events have a gap")

// encoder turns domain values into records. Its messages and its buffer serve
// again and again; what a method returns is valid until the next call.
type encoder struct {
	usage   usage.Encoder
	intent  clusterv1.UsageIntent
	attempt clusterv1.UsageEvent // of the intent: no result is ever in it
	event   clusterv1.UsageEvent
	notice  clusterv1.Notice
	account clusterv1.AccountID
	buf     []byte
	key     [16]byte
}

func (e *encoder) marshal(m proto.Message) ([]byte, error) {
	var err error
	e.buf, err = proto.MarshalOptions{}.MarshalAppend(e.buf[:0], m)
	return e.buf, err
}

// intentKey is the key of the intent with that number.
func (e *encoder) intentKey(number uint64) []byte {
	return binary.BigEndian.AppendUint64(e.key[:0], number)
}

// eventKey is the key of the event with that number.
func (e *encoder) eventKey(epoch, seq uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(e.key[:0], epoch), seq)
}

// markKey is the key of the mark of an epoch.
func (e *encoder) markKey(epoch uint64) []byte {
	return binary.BigEndian.AppendUint64(e.key[:0], epoch)
}

func (e *encoder) mark(lastSeq uint64) ([]byte, error) {
	return e.marshal(&clusterv1.JournalMark{Version: recordVersion, LastSeq: lastSeq})
}

func (e *encoder) encodeIntent(a *usage.Attempt) ([]byte, error) {
	e.usage.Attempt(&e.attempt, a)
	e.attempt.Version = versionOf(&e.attempt)
	e.intent.Version, e.intent.Event = intentVersion, &e.attempt
	return e.marshal(&e.intent)
}

func (e *encoder) encodeEvent(ev *Event) ([]byte, error) {
	m := &e.event
	e.usage.Attempt(m, &ev.Attempt)
	e.usage.Result(m, &ev.Result)
	m.Fallbacks = encodeFallbacks(m.Fallbacks[:0], ev.Fallbacks)
	m.Notice = e.encodeNotice(ev.Notice)
	m.Version = versionOf(m)
	return e.marshal(m)
}

func encodeFallbacks(dst []*clusterv1.FallbackTaken, list []Fallback) []*clusterv1.FallbackTaken {
	for i := range list {
		f := &list[i]
		dst = append(dst, &clusterv1.FallbackTaken{
			Attempt: int64(f.Attempt), Deployment: usage.Text(string(f.Deployment)), Provider: usage.Text(f.Provider), Model: usage.Text(f.Model),
			Status: int64(f.Status), ErrorCode: usage.Text(f.ErrorCode), From: usage.Text(f.From), To: usage.Text(f.To),
		})
	}
	return dst
}

func (e *encoder) encodeNotice(n *Notice) *clusterv1.Notice {
	if n == nil {
		return nil
	}
	m := &e.notice
	m.Type = usage.Text(n.Type)
	m.Code = usage.Text(n.Code)
	m.Count = n.Count
	m.DetailsJson = usage.Text(n.Details)
	m.Account = nil
	if n.Account != (id.Account{}) {
		a := &e.account
		a.Kind = clusterv1.AccountKind(n.Account.Kind)
		a.Owner = usage.Text(n.Account.Owner)
		a.Part = usage.Text(n.Account.Part)
		m.Account = a
	}
	m.AccountEpoch = n.AccountEpoch
	return m
}
