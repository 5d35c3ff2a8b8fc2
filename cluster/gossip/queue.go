package gossip

import (
	"strconv"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// queues are what is to be broadcast. Hints have a queue of their own and go
// first: they are few and small, and a busy node's numbers must not hold them up.
//
// A later message about the same thing takes the place of an earlier one, so a
// queue is never longer than what there is to tell, even while there is nobody to tell it to.
type queues struct {
	hints   memberlist.TransmitLimitedQueue
	numbers memberlist.TransmitLimitedQueue
}

// take returns messages for one packet of at most limit bytes, each of which
// takes overhead bytes besides.
func (q *queues) take(overhead, limit int) [][]byte {
	out := q.hints.GetBroadcasts(overhead, limit)
	for _, m := range out {
		limit -= overhead + len(m)
	}
	return append(out, q.numbers.GetBroadcasts(overhead, limit)...)
}

// trim keeps a node that has had nobody to tell for months from keeping the
// hints of every deployment that there ever was.
func (q *queues) trim() {
	if q.hints.NumQueued() > maxHints { // Prune must not be called on a queue never used
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

// hintMessage is a hint in the queue. It is encoded when it is sent.
type hintMessage struct{ hint Hint }

// Message returns the hint with what remains of it now.
func (m *hintMessage) Message() []byte { return encodeHint(m.hint, time.Now()) }

// Name returns what the message is about.
func (m *hintMessage) Name() string { return string(m.hint.Observer) + "/" + string(m.hint.Deployment) }

// Invalidates reports whether the message is about the same as another.
func (m *hintMessage) Invalidates(b memberlist.Broadcast) bool { return sameName(m, b) }

// Finished does nothing: nobody waits for a hint to be sent.
func (*hintMessage) Finished() {}

// numbersMessage is a part of a node's numbers in the queue.
type numbersMessage struct {
	name string
	data []byte
}

// Message returns the part.
func (m *numbersMessage) Message() []byte { return m.data }

// Name returns what the message is about.
func (m *numbersMessage) Name() string { return m.name }

// Invalidates reports whether the message is about the same as another.
func (m *numbersMessage) Invalidates(b memberlist.Broadcast) bool { return sameName(m, b) }

// Finished does nothing: nobody waits for numbers to be sent.
func (*numbersMessage) Finished() {}

func sameName(a memberlist.NamedBroadcast, b memberlist.Broadcast) bool {
	other, ok := b.(memberlist.NamedBroadcast)
	return ok && a.Name() == other.Name()
}
