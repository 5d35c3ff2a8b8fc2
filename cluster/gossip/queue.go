package gossip

import (
	"strconv"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// queues hold pending broadcasts. Hints have their own queue and go first: they are few and
// small, and the numbers of a busy node must not delay them.
//
// A later message replaces an earlier one about the same subject. So a queue never grows beyond
// the current data, even without receivers.
type queues struct {
	hints   memberlist.TransmitLimitedQueue
	numbers memberlist.TransmitLimitedQueue
}

// take returns messages for one packet of at most limit bytes; each takes overhead bytes in
// addition.
func (q *queues) take(overhead, limit int) [][]byte {
	out := q.hints.GetBroadcasts(overhead, limit)
	for _, m := range out {
		limit -= overhead + len(m)
	}
	return append(out, q.numbers.GetBroadcasts(overhead, limit)...)
}

// trim limits the queue of a node that has had no receivers for months.
func (q *queues) trim() {
	if q.hints.NumQueued() > maxHints { // Prune must not be called on an unused queue
		q.hints.Prune(maxHints)
	}
}

// announce queues a hint.
func (q *queues) announce(h Hint) {
	q.hints.QueueBroadcast(&hintMessage{h})
}

// tell queues a part of a node's numbers.
func (q *queues) tell(who id.Node, p *ownPart) {
	name := string(who) + "/" + strconv.FormatUint(uint64(p.index), 10)
	q.numbers.QueueBroadcast(&numbersMessage{name, appendPart(newDelta(), who, p)})
}

// hintMessage is a queued hint. It is encoded when it is sent.
type hintMessage struct{ hint Hint }

// Message returns the hint with its remaining time.
func (m *hintMessage) Message() []byte { return encodeHint(m.hint, time.Now()) }

// Name returns the subject of the message.
func (m *hintMessage) Name() string { return string(m.hint.Observer) + "/" + string(m.hint.Deployment) }

// Invalidates reports whether the message has the same subject as another.
func (m *hintMessage) Invalidates(b memberlist.Broadcast) bool { return sameName(m, b) }

// Finished does nothing: no caller waits for the transmission.
func (*hintMessage) Finished() {}

// numbersMessage is a queued part of a node's numbers.
type numbersMessage struct {
	name string
	data []byte
}

// Message returns the encoded part.
func (m *numbersMessage) Message() []byte { return m.data }

// Name returns the subject of the message.
func (m *numbersMessage) Name() string { return m.name }

// Invalidates reports whether the message has the same subject as another.
func (m *numbersMessage) Invalidates(b memberlist.Broadcast) bool { return sameName(m, b) }

// Finished does nothing: no caller waits for the transmission.
func (*numbersMessage) Finished() {}

func sameName(a memberlist.NamedBroadcast, b memberlist.Broadcast) bool {
	other, ok := b.(memberlist.NamedBroadcast)
	return ok && a.Name() == other.Name()
}
