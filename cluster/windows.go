package cluster

import (
	"context"
	"log/slog"
	"time"

	"github.com/modelgateway/modelgateway/cluster/inject"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/period"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

const (
	// rollPause is how often the leader looks for windows that are over.
	rollPause = time.Second
	// rollMost is how many windows one entry of the log resets: at midnight there may be a
	// hundred thousand.
	rollMost = 2000
	// mendPause is how often a leader that leads on, with a time that goes on, looks
	// through all windows for ends that are wrong. There should be none, and it reads
	// each account that has a window.
	mendPause = time.Hour
)

// rollWindows resets the windows of budgets that have ended, on the leader. A window that is used
// before the leader reaches it is reset by that use. From time to time, when a node becomes the
// leader, and when the time goes back, it looks for ends that a wrong clock has caused.
func (n *Node) rollWindows(ctx context.Context) error {
	ticker := time.NewTicker(rollPause)
	defer ticker.Stop()
	var looked, last time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		now, known := n.clock.Time()
		if now.Before(last) || !known || !n.consensus.IsLeader() {
			looked = time.Time{}
		}
		if last = now; !known || !n.consensus.IsLeader() {
			continue
		}
		find := finder(dueWindows)
		if time.Since(looked) >= mendPause {
			find, looked = wrongWindows, time.Now()
		}
		for found := rollMost; found >= rollMost && n.consensus.IsLeader() && ctx.Err() == nil; {
			var err error
			if found, err = n.rollOnce(ctx, find); err != nil {
				n.logger.LogAttrs(ctx, slog.LevelWarn, "budget windows could not be begun again", slog.Any("error", err))
				looked = time.Time{}
				break
			}
		}
	}
}

// finder finds windows that are not as they have to be at a time.
type finder func(ctx context.Context, state *store.Store, now time.Time) ([]ledger.DueWindow, error)

// dueWindows finds windows that are over.
func dueWindows(ctx context.Context, state *store.Store, now time.Time) ([]ledger.DueWindow, error) {
	return ledger.Due(ctx, state, now, rollMost)
}

// wrongWindows finds windows that end later than one does which holds now.
func wrongWindows(ctx context.Context, state *store.Store, now time.Time) (out []ledger.DueWindow, err error) {
	err = ledger.Running(ctx, state, now, func(w ledger.DueWindow) bool {
		if next, ok := period.NextReset(w.Duration, now); ok && next.Before(w.Resets) {
			out = append(out, w)
		}
		return len(out) < rollMost
	})
	return out, err
}

// rollOnce has at most rollMost windows that find finds be those that hold now, and
// returns how many there were. A crash after it leaves them so; one that was proposed
// twice is right the second time.
func (n *Node) rollOnce(ctx context.Context, find finder) (int, error) {
	now := n.clock.Now()
	var due []ledger.DueWindow
	err := n.consensus.View(func(state *store.Store) (err error) {
		due, err = find(ctx, state, now)
		return err
	})
	if err != nil || len(due) == 0 {
		return 0, err
	}
	roll := &clusterv1.RollWindows{Windows: make([]*clusterv1.WindowEnd, 0, len(due))}
	for _, w := range due {
		end := &clusterv1.WindowEnd{
			Account: &clusterv1.AccountID{Kind: clusterv1.AccountKind(w.Account.Kind), Owner: w.Account.Owner, Part: w.Account.Part},
			Epoch:   w.Epoch,
		}
		if next, ok := period.NextReset(w.Duration, now); ok {
			end.ResetsUnixNano = next.UnixNano()
		}
		roll.Windows = append(roll.GetWindows(), end)
	}
	inject.Crash("window.before")
	err = n.commit(ctx, &clusterv1.Command{Change: &clusterv1.Command_RollWindows{RollWindows: roll}})
	inject.Crash("window.rolled")
	return len(due), err
}
