package xds

import (
	"math"
	"net/http"
	"strings"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	route "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	processor "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	groups "github.com/envoyproxy/go-control-plane/envoy/extensions/router/cluster_specifiers/priority_group/v3"
	matcher "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	types "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/modelgateway/modelgateway/dataplane"
	"github.com/modelgateway/modelgateway/envoy/contract"
)

// newRoutes makes the one route table. The first route that matches counts:
//
//  1. planned: ext_proc has put a plan into the metadata. Only this route leads to
//     providers, and it matches no path, for ext_proc has by then written the
//     provider's path into the request. A client cannot set metadata.
//  2. TRACE and its kin: refused.
//  3. inference: turns ext_proc on. It leads to the gateway, which answers what got
//     no plan. There are three routes of each path: one for short bodies, and two for
//     long bodies and for those of undeclared length, which ext_proc gets in pieces.
//  4. gRPC to an operation's path: the gateway's gRPC server, without ext_proc.
//  5. all else: the gateway's own server, without ext_proc.
//
// Two roads not taken. One inference route that follows a plan by path: the
// table is consulted again once the plan is there, and by then the path has
// changed. And not sending the request's headers to ext_proc, which would save a
// message: Envoy then lets them leave before the body was answered, and ignores
// what that answer says about them.
func newRoutes(in Input) (*route.RouteConfiguration, error) {
	planned, err := plannedRoute(in)
	if err != nil {
		return nil, err
	}
	routes := append([]*route.Route{planned}, refusedMethods()...)
	for _, path := range dataplane.Paths() {
		of, err := inferenceRoutes(in, path)
		if err != nil {
			return nil, err
		}
		routes = append(routes, of...)
	}
	// What a retry may send again. A provider's request may be longer than the
	// caller's, by the name of its model at least.
	planned.RequestBodyBufferLimit = wrapperspb.UInt64(2 * uint64(in.BodyLimit))
	routes = append(routes, toGRPC(), toGateway("gateway", anyPath(), nil))
	return &route.RouteConfiguration{
		Name: contract.RouteConfig,
		VirtualHosts: []*route.VirtualHost{{
			Name:    "all",
			Domains: []string{"*"},
			Routes:  routes,
		}},
	}, nil
}

// inferenceRoutes are those of one path. ext_proc takes a short body from the buffer,
// whose limit the route raises. A body in pieces is never in that buffer before it is
// admitted.
func inferenceRoutes(in Input, path string) ([]*route.Route, error) {
	name := "inference_" + strings.ReplaceAll(strings.Trim(path, "/"), "/", "_")
	var out []*route.Route
	for _, r := range []struct {
		suffix  string
		match   func(*route.RouteMatch)
		filters map[string]proto.Message
		limit   uint64
	}{
		{"_undeclared", func(m *route.RouteMatch) { m.Headers = append(m.Headers, noLength()) }, inPieces(), 0},
		{"_long", func(m *route.RouteMatch) { m.Headers = append(m.Headers, longLength()) }, inPieces(), 0},
		{"", func(*route.RouteMatch) {}, map[string]proto.Message{contract.FilterProcessor: shown()}, uint64(in.BodyLimit) + contract.Edited},
	} {
		filters, err := overrides(r.filters)
		if err != nil {
			return nil, err
		}
		match := inference(path)
		r.match(match)
		to := toGateway(name+r.suffix, match, filters)
		if r.limit > 0 {
			to.RequestBodyBufferLimit = wrapperspb.UInt64(r.limit)
		}
		out = append(out, to)
	}
	return out, nil
}

// plannedName is the route that follows a plan.
const plannedName = "planned"

// plannedRoute sends a request where its plan says, in the plan's order.
func plannedRoute(in Input) (*route.Route, error) {
	specifier, err := pack(&groups.PriorityGroupClusterSpecifier{
		OverrideMetadataNamespace: contract.MetadataPlan,
		PriorityGroups: []*groups.PriorityGroup{{ // required; a plan without groups ends here
			Name:     "none",
			Clusters: []*groups.ClusterWeight{{ClusterName: contract.ClusterGateway, Weight: wrapperspb.UInt32(1)}},
		}},
	})
	if err != nil {
		return nil, err
	}
	match := anyPath()
	match.DynamicMetadata = []*matcher.MetadataMatcher{metadataPresent(contract.MetadataPlan, contract.MetadataPlanGroups)}
	return &route.Route{
		Name:  plannedName,
		Match: match,
		// The processor takes away what providers must not see, but for this header:
		// without it Envoy finds no route.
		RequestHeadersToRemove: []string{"x-forwarded-proto"},
		Action: &route.Route_Route{Route: &route.RouteAction{
			Timeout: durationpb.New(0), // answers stream for as long as they do; each attempt has its own limit
			ClusterSpecifier: &route.RouteAction_InlineClusterSpecifierPlugin{
				InlineClusterSpecifierPlugin: &route.ClusterSpecifierPlugin{Extension: &core.TypedExtensionConfig{
					Name: "envoy.router.cluster_specifier_plugin.priority_group", TypedConfig: specifier,
				}},
			},
			RetryPolicy: retryPolicy(in.Router),
		}},
	}, nil
}

// toGateway is a route to the gateway's own server, which also answers inference
// requests that have no plan.
func toGateway(name string, match *route.RouteMatch, perFilter map[string]*anypb.Any) *route.Route {
	return &route.Route{
		// Envoy has answered 100-continue. Of any other expectation Go's server knows nothing
		// but to fail, with an empty body.
		RequestHeadersToRemove: []string{"expect"},
		Name:                   name,
		Match:                  match,
		TypedPerFilterConfig:   perFilter,
		Action: &route.Route_Route{Route: &route.RouteAction{
			Timeout:          durationpb.New(0),
			ClusterSpecifier: &route.RouteAction_Cluster{Cluster: contract.ClusterGateway},
		}},
	}
}

// toGRPC is the route of the management API for those who speak gRPC, which tells
// by its path and its content type. Paths of that form are nobody else's.
func toGRPC() *route.Route {
	return &route.Route{
		Name: "grpc",
		Match: &route.RouteMatch{
			PathSpecifier: &route.RouteMatch_SafeRegex{SafeRegex: &matcher.RegexMatcher{Regex: contract.GRPCPath}},
			Headers:       []*route.HeaderMatcher{methodIs(http.MethodPost)},
			Grpc:          &route.RouteMatch_GrpcRouteMatchOptions{},
		},
		Action: &route.Route_Route{Route: &route.RouteAction{
			Timeout:          durationpb.New(0), // the caller says how long it waits, and the server does not wait for ever
			ClusterSpecifier: &route.RouteAction_Cluster{Cluster: contract.ClusterGRPC},
		}},
	}
}

// refusedMethods are routes for methods that nothing here answers, and of which
// TRACE would read a request back to its sender.
func refusedMethods() []*route.Route {
	var out []*route.Route
	for _, method := range []string{http.MethodTrace, "TRACK", http.MethodConnect} {
		match := anyPath()
		match.Headers = []*route.HeaderMatcher{methodIs(method)}
		out = append(out, &route.Route{
			Name:  "refused_" + strings.ToLower(method),
			Match: match,
			Action: &route.Route_DirectResponse{DirectResponse: &route.DirectResponseAction{
				Status: http.StatusMethodNotAllowed,
			}},
			ResponseHeadersToAdd: []*core.HeaderValueOption{{
				Header: &core.HeaderValue{Key: "allow", Value: "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"},
			}},
		})
	}
	return out
}

// shown turns ext_proc on for a route: it gets the request's headers, its body
// whole, the answer's headers and the answer as it streams.
func shown() *processor.ExtProcPerRoute {
	return &processor.ExtProcPerRoute{Override: &processor.ExtProcPerRoute_Overrides{Overrides: &processor.ExtProcOverrides{
		ProcessingMode: &processor.ProcessingMode{
			RequestHeaderMode:   processor.ProcessingMode_SEND,
			RequestBodyMode:     processor.ProcessingMode_BUFFERED, // anything else and a retry: the body is sent twice
			RequestTrailerMode:  processor.ProcessingMode_SKIP,
			ResponseHeaderMode:  processor.ProcessingMode_SEND,
			ResponseBodyMode:    processor.ProcessingMode_STREAMED,
			ResponseTrailerMode: processor.ProcessingMode_SEND, // else an answer that ends with them has no last piece
		},
	}}}
}

// inPieces turns ext_proc on for a long body: it gets each piece as it comes, and gives
// the body back in pieces, so that no turn of Envoy's loop copies a whole one. It has
// connections of its own: short requests do not wait behind pieces.
func inPieces() map[string]proto.Message {
	c := shown()
	o := c.GetOverrides()
	o.ProcessingMode.RequestBodyMode = processor.ProcessingMode_FULL_DUPLEX_STREAMED
	o.ProcessingMode.RequestTrailerMode = processor.ProcessingMode_SEND // Envoy demands it of this mode
	o.GrpcService = &core.GrpcService{TargetSpecifier: &core.GrpcService_EnvoyGrpc_{
		EnvoyGrpc: &core.GrpcService_EnvoyGrpc{ClusterName: contract.ClusterBodies},
	}}
	o.GrpcInitialMetadata = []*core.HeaderValue{{Key: contract.RoleKey, Value: contract.RolePieces}}
	return map[string]proto.Message{contract.FilterProcessor: c}
}

// metadataPresent matches a request of which a filter has noted something.
func metadataPresent(namespace, key string) *matcher.MetadataMatcher {
	return &matcher.MetadataMatcher{
		Filter: namespace,
		Path: []*matcher.MetadataMatcher_PathSegment{{
			Segment: &matcher.MetadataMatcher_PathSegment_Key{Key: key},
		}},
		Value: &matcher.ValueMatcher{MatchPattern: &matcher.ValueMatcher_PresentMatch{PresentMatch: true}},
	}
}

// longLength matches a request that declares a long body.
func longLength() *route.HeaderMatcher {
	return &route.HeaderMatcher{
		Name:                 "content-length",
		HeaderMatchSpecifier: &route.HeaderMatcher_RangeMatch{RangeMatch: &types.Int64Range{Start: contract.LongBody, End: math.MaxInt64}},
	}
}

// noLength matches a request that does not declare the length of its body.
func noLength() *route.HeaderMatcher {
	return &route.HeaderMatcher{
		Name: "content-length", InvertMatch: true,
		HeaderMatchSpecifier: &route.HeaderMatcher_PresentMatch{PresentMatch: true},
	}
}

func inference(path string) *route.RouteMatch {
	return &route.RouteMatch{
		PathSpecifier: &route.RouteMatch_Path{Path: path},
		Headers:       []*route.HeaderMatcher{methodIs(http.MethodPost)},
	}
}

func anyPath() *route.RouteMatch {
	return &route.RouteMatch{PathSpecifier: &route.RouteMatch_Prefix{Prefix: "/"}}
}

func methodIs(method string) *route.HeaderMatcher {
	return &route.HeaderMatcher{
		Name: ":method",
		HeaderMatchSpecifier: &route.HeaderMatcher_StringMatch{StringMatch: &matcher.StringMatcher{
			MatchPattern: &matcher.StringMatcher_Exact{Exact: method},
		}},
	}
}

// overrides packs a route's configuration of filters, by the filters' names.
func overrides(configs map[string]proto.Message) (map[string]*anypb.Any, error) {
	out := make(map[string]*anypb.Any, len(configs))
	for name, config := range configs {
		packed, err := pack(config)
		if err != nil {
			return nil, err
		}
		out[name] = packed
	}
	return out, nil
}
