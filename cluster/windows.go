package cluster

import (
	"context"
	"log/slog"
	"time"

	"github.com/modelgateway/modelgateway/cluster/failpoint"
	"github.com/modelgateway/modelgateway/cluster/keys"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

const (
	// rollPause is how often the leader looks for windows that are over.
	rollPause = time.Second
	// rollMost is how many begin anew with one entry of the log: at midnight there may
	// be a hundred thousand.
	rollMost = 2000
)

// rollWindows has the leader begin the windows of budgets anew whose time is over.
// One that is used before the leader comes to it is begun by who uses it.
func (n *Node) rollWindows(ctx context.Context) error {
	ticker := time.NewTicker(rollPause)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		for n.consensus.IsLeader() && ctx.Err() == nil {
			found, err := n.rollOnce(ctx, time.Now())
			if err != nil {
				n.logger.LogAttrs(ctx, slog.LevelWarn, "budget windows could not be begun anew", slog.Any("error", err))
			}
			if err != nil || found < rollMost {
				break
			}
		}
	}
}

// rollOnce begins at most rollMost windows anew and returns how many were over. A
// crash after it leaves them begun; one that was proposed twice is not over the
// second time.
func (n *Node) rollOnce(ctx context.Context, now time.Time) (int, error) {
	var due []ledger.DueWindow
	err := n.consensus.View(func(state *store.Store) (err error) {
		due, err = ledger.Due(ctx, state, now, rollMost)
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
		if next, ok := keys.NextReset(w.Duration, now); ok {
			end.ResetsUnixNano = next.UnixNano()
		}
		roll.Windows = append(roll.GetWindows(), end)
	}
	failpoint.Hit("window.before")
	err = n.commit(ctx, &clusterv1.Command{Change: &clusterv1.Command_RollWindows{RollWindows: roll}})
	failpoint.Hit("window.rolled")
	return len(due), err
}
