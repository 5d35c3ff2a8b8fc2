package journal_test

import (
	"context"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/modelgateway/modelgateway/cluster/journal"
)

// delayed returns a journal with an IntentDelay, and its commits.
func delayed(t *testing.T, d time.Duration) (*node, <-chan journal.Commit) {
	t.Helper()
	commits := make(chan journal.Commit, 16)
	return start(t, config(vfs.NewMem()), journal.Config{
		IntentDelay: d, Committed: func(c journal.Commit) { commits <- c },
	}), commits
}

func next(t *testing.T, commits <-chan journal.Commit) journal.Commit {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	select {
	case c := <-commits:
		return c
	case <-ctx.Done():
		t.Fatal("there was no commit")
		return journal.Commit{}
	}
}

// An intent without a waiting caller is written after the delay.
func TestDelayedIntentIsWrittenByItself(t *testing.T) {
	n, commits := delayed(t, time.Millisecond)
	for range 3 { // the timer restarts each time
		n.Intent(fullIntent("req_1"))
		if c := next(t, commits); c.Intents != 1 {
			t.Fatalf("commit %+v, want one intent", c)
		}
	}
}

// A waiting caller ends the delay.
func TestDelayedIntentIsWrittenForWhoWaits(t *testing.T) {
	n, commits := delayed(t, time.Hour)
	await(t, n.Intent(fullIntent("req_1")))
	if c := next(t, commits); c.Intents != 1 {
		t.Errorf("commit %+v, want one intent", c)
	}
	<-n.Intent(fullIntent("req_2")).Done()
	if c := next(t, commits); c.Intents != 1 {
		t.Errorf("commit %+v, want one intent", c)
	}
}

// A response within the delay settles its intent before it is written, and writes the other
// intents.
func TestDelayedIntentsGoWithASettle(t *testing.T) {
	n, commits := delayed(t, time.Hour)
	other := n.Intent(fullIntent("req_1"))
	quick := n.Intent(fullIntent("req_2"))
	await(t, n.Settle([]*journal.Pending{quick}, []journal.Event{fullEvent("req_2")}))
	if c := next(t, commits); c.Intents != 1 || c.Netted != 1 || c.Events != 1 {
		t.Errorf("commit %+v, want one intent, one event, and one netted intent", c)
	}
	await(t, other)
}
