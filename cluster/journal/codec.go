package journal

import (
	"encoding/binary"
	"errors"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/usage"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// recordVersion is the version of all records of this package. New fields do not need a new
// version. It changes if an older reader would misinterpret a record.
const recordVersion = 1

// fullerVersion is the version of an intent or event that a reader of version 1 would post
// differently. Its cost counts at accounts of parents, or its audit record has the caller's
// status, the steps of the request or the causes of failures. Such a reader stops, because all
// nodes must reach the same state.
const fullerVersion = 2

// endUserVersion is the version of an intent or event whose cost counts at an end user of an
// organization. An older reader would post it to an end user that all organizations share, so
// it stops instead.
const endUserVersion = 3

// boundedByVersion is the version of an intent or event of a key that belongs to no user and
// whose cost counts at the accounts of a user. An older reader would not post it there.
const boundedByVersion = 4

// measuredVersion is the version of an event whose usage the gateway has measured. The audit
// record of an older reader would not say so.
const measuredVersion = 5

// promptVersion is the version of an intent or event of a request with a prompt. The audit record
// of an older reader would not name the prompt.
const promptVersion = 6

// guardrailVersion is the version of an event of a request with guardrails. The audit record of an older
// reader would not name them, and what they found would have no record.
const guardrailVersion = 7

// passthroughVersion is the version of an intent or event of a request that was passed on unread. The audit record of an
// older reader would not name it, and would take its usage for an estimate.
const passthroughVersion = 8

// intentVersion is the version of an intent. Intents of older versions contain the fields of
// the attempt directly, with other numbers: see olderIntent.
const intentVersion = 4

func versionOf(m *clusterv1.UsageEvent) uint32 {
	switch {
	case m.GetPassthrough() != nil:
		return passthroughVersion
	case len(m.GetGuardrails()) > 0, len(m.GetViolations()) > 0:
		return guardrailVersion
	case m.GetPromptId() != "":
		return promptVersion
	case m.GetSource() == clusterv1.UsageSource_USAGE_SOURCE_MEASURED:
		return measuredVersion
	case m.GetBoundedByUser() != "":
		return boundedByVersion
	case m.GetEndUserOfOrganization():
		return endUserVersion
	case len(m.GetParentHashes()) > 0, m.GetCountedApart(), m.GetClientStatus() != 0, len(m.GetFailures()) > 0:
		return fullerVersion
	}
	return recordVersion
}

// errVersion reports a record that a newer gateway wrote.
var errVersion = errors.New("record of an unknown version")

// errKey reports a key that does not have the format of its space.
var errKey = errors.New("malformed key")

// errGap reports a missing number between two events.
var errGap = errors.New("the numbers of the events have a gap")

// encoder encodes domain values as records. It reuses its messages and its buffer: a result is
// valid until the next call.
type encoder struct {
	usage   usage.Encoder
	intent  clusterv1.UsageIntent
	attempt clusterv1.UsageEvent // of the intent; never contains a result
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

// intentKey returns the key of the intent with this number.
func (e *encoder) intentKey(number uint64) []byte {
	return binary.BigEndian.AppendUint64(e.key[:0], number)
}

// eventKey returns the key of the event with this number.
func (e *encoder) eventKey(epoch, seq uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(e.key[:0], epoch), seq)
}

// markKey returns the key of the mark of an epoch.
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
