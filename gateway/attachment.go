package gateway

import (
	"context"
	"sync/atomic"

	"github.com/modelgateway/modelgateway/config"
	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/envoy/launch"
	"github.com/modelgateway/modelgateway/extproc/attach"
)

// attachment is the second way of requests from Envoy to the gateway, next to ext_proc. Routes
// lead there while each of Envoy's workers has a link, and to ext_proc otherwise.
type attachment struct {
	links    *attach.Links // nil: requests come by ext_proc alone
	complete atomic.Bool
	changed  chan struct{} // has room for one: complete has changed
}

// attach prepares the links if the configuration wants them and Envoy can load the module. It
// returns the directory of the module, and "" if it cannot.
func (g *gateway) attach(ctx context.Context, envoy launch.Binary, path string) string {
	if g.cfg.Envoy.Attachment != config.AttachModule {
		return ""
	}
	if g.cfg.Envoy.Mode != config.EnvoyChild {
		g.logger.WarnContext(ctx, "envoy.attachment is ext_proc, because somebody else starts Envoy")
		return ""
	}
	dir, err := envoy.FindModule(contract.AttachFile)
	if err != nil {
		g.logger.WarnContext(ctx, "envoy.attachment is ext_proc, because Envoy runs without a module", "module", contract.AttachFile, "reason", err.Error())
		return ""
	}
	g.attachment.links = attach.NewLinks(path, func(s *attach.Stream) error { return g.processor.Attached(s) }, func(complete bool) {
		g.logger.InfoContext(ctx, "the way of short requests from Envoy has changed", "module", complete)
		g.attachment.set(complete)
	}, g.logger)
	return dir
}

func (a *attachment) set(complete bool) {
	a.complete.Store(complete)
	select {
	case a.changed <- struct{}{}:
	default:
	}
}

func (a *attachment) run(ctx context.Context) error {
	if a.links == nil {
		return nil
	}
	return a.links.Run(ctx)
}
