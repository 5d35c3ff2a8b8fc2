package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/delivery"
)

// receiverBehind is how old the oldest record that waits for the webhook may get before
// it is a problem. Positions are saved each second.
const receiverBehind = 30 * time.Second

// receiverProblems reports a webhook whose receiver falls behind, with the settings that help.
// Any node can report it: records and positions are in the replicated state.
func (n *Node) receiverProblems(ctx context.Context, now time.Time) []string {
	if !n.View().Delivery.Ready() {
		return nil
	}
	var at delivery.Cursor
	var head audit.ChainHead
	var oldest audit.Record
	var waits bool
	err := n.Audit(func(r audit.Reader) (err error) {
		if at, err = delivery.CursorOf(r, delivery.Webhook); err != nil || at.Next == 0 {
			return err
		}
		if head, err = audit.Head(r, audit.DefaultWorkspace); err != nil {
			return err
		}
		oldest, waits, err = audit.Get(ctx, r, audit.DefaultWorkspace, max(at.Next, head.First))
		return err
	})
	if err != nil {
		return []string{"delivery: how far the webhook has got cannot be read: " + err.Error()}
	}
	if !waits || now.Sub(oldest.Recorded) < receiverBehind {
		return nil
	}
	return []string{fmt.Sprintf(
		"delivery: %d records of the audit log wait for the webhook, the oldest for %s; the receiver fails or is too slow. gateway_delivery_failures and the leader's log say whether it fails. "+
			"If it is too slow, raise general_settings.%s (with 500, one request takes up to 500 records as an array) or %s by POST /config/update.",
		head.Size+1-oldest.Number, now.Sub(oldest.Recorded).Round(time.Second), delivery.FieldBatch, delivery.FieldParallel,
	)}
}
