package journal

import (
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/inject"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// commit writes g in one batch. It is called by one goroutine at a time.
func (j *Journal) commit(g *group) *fault.Error {
	began := time.Now()
	w := writing{j: j, batch: j.store.NewBatch()}
	err := w.fill(g)
	if err == nil && !w.batch.Empty() {
		// A crash before this is done leaves nothing of the group or all of it.
		// Nothing: the intents of earlier groups are still there and the next
		// Open charges them; nobody has been told of this group. All: as below.
		w.beforeCommit()
		err = w.batch.Commit()
		w.done.Elapsed = time.Since(began)
	}
	// Not deferred: when Commit does not return, the batch still is Pebble's.
	w.batch.Close()
	if err != nil {
		return unavailable("The gateway cannot record usage. It has to be restarted.", err)
	}
	// A crash from here on leaves the events, which stay until they are shipped,
	// and the intents, which the next Open turns into events. Those who wait
	// have not heard of it, and need not: their callers have not got the end of
	// their answers either.
	w.afterCommit()
	if w.done.Events > 0 {
		j.recorded(j.lastSeq, w.cost, began)
		j.news.tell()
	}
	j.cfg.Committed(w.done)
	return nil
}

// writing is one commit on its way.
type writing struct {
	j     *Journal
	batch *store.Batch
	done  Commit
	cost  money.Pico // of the events
}

// beforeCommit and afterCommit are where tests kill the process.
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

// fill puts g into the batch. The settles go first: an intent that is ended in
// the group it came with is then known before it would be written. The other
// way round it would be written and deleted, and Pebble would carry both through
// its log and its memtable to no end.
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

// endIntents deletes what was written of the intents, once.
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

// record writes an event under the next number. The number and the event are in
// one batch, so that a number is used if and only if its event is there.
func (w *writing) record(ev *Event) error {
	w.j.lastSeq++
	ev.ID = EventID{Node: w.j.identity.Node, Epoch: w.j.identity.Epoch, Seq: w.j.lastSeq}
	if !w.j.repairing { // an event of an intent has the intent's time
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
