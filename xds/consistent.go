package xds

import (
	"errors"
	"fmt"

	route "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/envoy/contract"
)

// validated is implemented by every generated message.
type validated interface {
	proto.Message
	ValidateAll() error
}

// Consistent checks what Envoy would reject or, worse, accept. Names must be unique. Every
// cluster in a route must exist. No provider cluster may be reachable without a plan. Every
// message must satisfy its own validation rules. The error is Internal, because no input may
// cause it.
func (r *Resources) Consistent() error {
	var problems []error
	names := map[string]bool{contract.ClusterProcessor: true, contract.ClusterGateway: true, contract.ClusterGRPC: true}
	for _, c := range r.Clusters {
		if names[c.GetName()] {
			problems = append(problems, fmt.Errorf("cluster %s occurs twice", c.GetName()))
		}
		names[c.GetName()] = true
		problems = append(problems, validate(c.GetName(), c))
		if a := c.GetLoadAssignment(); a.GetClusterName() != c.GetName() {
			problems = append(problems, fmt.Errorf("cluster %s has the addresses of %s", c.GetName(), a.GetClusterName()))
		}
	}
	for _, rc := range r.Routes {
		problems = append(problems, validate(rc.GetName(), rc))
		for _, host := range rc.GetVirtualHosts() {
			for _, one := range host.GetRoutes() {
				problems = append(problems, checkRoute(one))
			}
		}
	}
	if err := errors.Join(problems...); err != nil {
		return &fault.Error{Op: "xds", Kind: fault.Internal, Err: err}
	}
	return nil
}

// checkRoute rejects a route to anything but the gateway or a plan.
func checkRoute(r *route.Route) error {
	action := r.GetRoute()
	if action == nil { // a direct response
		return nil
	}
	if action.GetInlineClusterSpecifierPlugin() != nil {
		if len(r.GetMatch().GetDynamicMetadata()) == 0 {
			return fmt.Errorf("route %s follows a plan without asking for one", r.GetName())
		}
		return nil
	}
	if to := action.GetCluster(); to != contract.ClusterGateway && to != contract.ClusterGRPC {
		return fmt.Errorf("route %s leads to %q, which is not the gateway", r.GetName(), action.GetCluster())
	}
	return nil
}

func validate(name string, m validated) error {
	if err := m.ValidateAll(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
