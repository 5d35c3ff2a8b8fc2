package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/delivery"
	"github.com/modelgateway/modelgateway/mgmt/deliver"
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
func (g *gateway) newDeliverer() (*deliver.Deliverer, error) {
	d, err := deliver.New(deliver.Config{
		Source:  deliver.Log{View: g.node.Audit, Changed: g.node.Recorded, Workspace: audit.DefaultWorkspace},
		Cursors: g.node.Cursors(), Leads: g.node.Leads,
		Settings: func() delivery.Settings { return g.node.View().Delivery }, Guard: g.guard(), Pace: g.pace(),
		QueueURL: g.cfg.Audit.QueueURL.Reveal(), BucketURL: g.cfg.Audit.BucketURL, Logger: g.logger,
	})
	if err != nil {
		return nil, fmt.Errorf("delivery of the audit log: %w", err)
	}
	return d, nil
}

const (
	// priceMapTime is how long reading the price map may take.
	priceMapTime = 30 * time.Second
	// priceMapBytes bounds it: LiteLLM's has 3 MB.
	priceMapBytes = 64 << 20
)

// priceMap returns what reads the price map that the configuration names; nil if it
// names none. The address is the operator's own, so it may be anywhere.
func priceMap(address string) func(ctx context.Context) ([]byte, error) {
	if address == "" {
		return nil
	}
	return func(ctx context.Context) ([]byte, error) {
		ctx, cancel := context.WithTimeout(ctx, priceMapTime)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
		if err != nil {
			return nil, err
		}
		answer, err := http.DefaultClient.Do(request)
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err // the rest is the address, which may hold a credential
		}
		if err != nil {
			return nil, err
		}
		defer func() { _ = answer.Body.Close() }() // read to the end, or given up
		if answer.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("answered with %s", answer.Status)
		}
		data, err := io.ReadAll(io.LimitReader(answer.Body, priceMapBytes+1))
		if err == nil && len(data) > priceMapBytes {
			err = fmt.Errorf("it is larger than %d bytes", priceMapBytes)
		}
		return data, err
	}
}
