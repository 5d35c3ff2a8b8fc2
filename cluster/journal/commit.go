package journal

import (
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/inject"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// commit writes g in one batch. Calls must not overlap.
func (j *Journal) commit(g *group) *fault.Error {
	began := time.Now()
	w := writing{j: j, batch: j.store.NewBatch()}
	err := w.fill(g)
	if err == nil && !w.batch.Empty() {
		// A crash before this completes leaves the whole group or nothing of it. Nothing: the
		// next Open charges the intents of earlier groups, and no caller was notified about
		// this group. All: as below.
		w.beforeCommit()
		err = w.batch.Commit()
		w.done.Elapsed = time.Since(began)
	}
	// Not deferred: if Commit does not return, Pebble still uses the batch.
	w.batch.Close()
	if err != nil {
		return unavailable("The gateway cannot record usage. It has to be restarted.", err)
	}
	// A crash from here on leaves the events, which stay until they are shipped. It also leaves
	// the unsettled intents, which the next Open turns into events. Waiting callers were not
	// notified, and their clients have not received the end of the response.
	w.afterCommit()
	if w.done.Events > 0 {
		j.recorded(j.lastSeq, w.cost, began)
		j.news.notify()
	}
	j.cfg.Committed(w.done)
	return nil
}

// writing is one commit in progress.
type writing struct {
	j     *Journal
	batch *store.Batch
	done  Commit
	cost  money.Pico // of the events
}

// beforeCommit and afterCommit are failpoints at which tests kill the process.
func (w *writing) beforeCommit() {
	if w.done.Intents > 0 {
		inject.Crash("journal.intent.before")
	}
	if w.done.Events > 0 {
		inject.Crash("journal.settle.before")
	}
}

func (w *writing) afterCommit() {
	if w.done.Intents > 0 {
		inject.Crash("journal.intent.after")
	}
	if w.done.Events > 0 {
		inject.Crash("journal.settle.synced")
	}
}

// fill adds g to the batch. Settles come first, so that an intent that ends within its own
// group is not written at all. Otherwise Pebble would write and delete it, in its log and its
// memtable.
func (w *writing) fill(g *group) error {
	for _, op := range g.ops {
		w.endIntents(op.settles)
	}
	for _, op := range g.ops {
		if op.intent != nil && !op.settled {
			if err := w.begin(op); err != nil {
				return err
			}
		}
		for i := range op.events {
			if err := w.record(&op.events[i]); err != nil {
				return err
			}
		}
	}
	if w.done.Events == 0 {
		return nil
	}
	value, err := w.j.encoder.mark(w.j.lastSeq)
	if err != nil {
		return err
	}
	w.batch.Set(store.SpaceMark, w.j.encoder.markKey(w.j.identity.Epoch), value)
	return nil
}

// endIntents deletes the written intents, each once.
func (w *writing) endIntents(intents []*Pending) {
	for _, p := range intents {
		switch {
		case p == nil || p.intent == nil || p.settled:
			continue
		case p.number != 0:
			w.batch.Delete(store.SpaceIntent, w.j.encoder.intentKey(p.number))
			w.done.Settled++
		case p.group.err == nil:
			w.done.Netted++
		}
		p.settled = true
	}
}

// begin writes an intent.
func (w *writing) begin(p *Pending) error {
	w.j.dateIntent(p.intent)
	value, err := w.j.encoder.encodeIntent(p.intent)
	if err != nil {
		return err
	}
	w.j.lastIntent++
	p.number = w.j.lastIntent
	w.batch.Set(store.SpaceIntent, w.j.encoder.intentKey(p.number), value)
	w.done.Intents++
	return nil
}

// record writes an event with the next number. The number and the event are in one batch, so
// that a number is used if and only if its event exists.
func (w *writing) record(ev *Event) error {
	w.j.lastSeq++
	ev.ID = EventID{Node: w.j.identity.Node, Epoch: w.j.identity.Epoch, Seq: w.j.lastSeq}
	if !w.j.repairing { // an event of an intent keeps the intent's time
		w.j.dateEvent(ev)
	}
	value, err := w.j.encoder.encodeEvent(ev)
	if err != nil {
		return err
	}
	w.batch.Set(store.SpaceEvent, w.j.encoder.eventKey(ev.ID.Epoch, ev.ID.Seq), value)
	w.cost = money.Add(w.cost, ev.Cost)
	w.done.Events++
	return nil
}
