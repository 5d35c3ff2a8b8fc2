package gateway

import (
	"context"
	"errors"
	"net"
	"time"
)

// leave waits until the process is asked to end, and then as long as load
// balancers are given to notice that no requests should come here any more. It
// returns at once when there is nobody left to serve.
func (g *gateway) leave(ctx, edge context.Context) {
	select {
	case <-edge.Done():
		return
	case <-ctx.Done():
	}
	g.leaving.Store(true)
	// The cause of a signal's context is the signal; see signal.NotifyContext.
	g.logger.InfoContext(edge, "shutdown requested", "cause", context.Cause(ctx).Error(), "in_flight", g.processor.InFlight())
	if g.cfg.ShutdownDelay > 0 {
		g.logger.InfoContext(edge, "shutting down: not ready any more, still serving", "shutdown_delay", g.cfg.ShutdownDelay.String())
		select {
		case <-edge.Done():
			return
		case <-time.After(g.cfg.ShutdownDelay):
		}
	}
	g.logger.InfoContext(edge, "shutting down: Envoy accepts no more requests and finishes those under way", "in_flight", g.processor.InFlight())
}

// stopTime bounds how long streams from Envoy may take to end once it has none left.
const stopTime = 5 * time.Second

func (g *gateway) stopGRPC() {
	timer := time.AfterFunc(stopTime, func() {
		g.grpc.Stop()
		g.bulk.Stop()
	})
	defer timer.Stop()
	g.bulk.GracefulStop()
	g.grpc.GracefulStop()
}

// close gives back what assemble opened.
func (g *gateway) close() error {
	var errs []error
	if g.deliverer != nil {
		errs = append(errs, g.deliverer.Close())
	}
	g.outside.Close()
	g.tokenClients.Close()
	if g.node != nil {
		errs = append(errs, g.node.Close())
	}
	if g.bucket != nil {
		errs = append(errs, g.bucket.Close())
	}
	for _, l := range []net.Listener{g.grpcL, g.bulkL, g.httpL, g.apiL} {
		if l != nil {
			if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}
