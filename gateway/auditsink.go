package gateway

import (
	"fmt"

	"github.com/modelgateway/modelgateway/auditsink"
	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/delivery"
)

// guard says what a webhook may reach.
func (g *gateway) guard() delivery.Guard {
	return delivery.Guard{AllowPrivate: g.cfg.Audit.PrivateWebhooks}
}

// pace is how many records the webhook gets at a time, as the configuration has it.
func (g *gateway) pace() delivery.Pace {
	return delivery.Pace{Batch: int(g.cfg.Webhook.Batch), Parallel: int(g.cfg.Webhook.Parallel)}
}

// newDeliverer makes what takes the audit log to where it is wanted.
func (g *gateway) newDeliverer() (*auditsink.Deliverer, error) {
	d, err := auditsink.New(auditsink.Config{
		Source:  auditsink.Log{View: g.node.Audit, Changed: g.node.Recorded, Workspace: audit.DefaultWorkspace},
		Usage:   g.node.UsageRows(),
		Cursors: g.node.Cursors(), Leads: g.node.Leads,
		Settings: func() delivery.Settings { return g.node.View().Delivery }, Guard: g.guard(), Pace: g.pace(),
		QueueURL: g.cfg.Audit.QueueURL.Reveal(), BucketURL: g.cfg.Audit.BucketURL, Report: g.node.Report, Logger: g.logger,
	})
	if err != nil {
		return nil, fmt.Errorf("delivery of the audit log: %w", err)
	}
	return d, nil
}
