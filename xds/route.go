package xds

import (
	"math"
	"net/http"
	"strconv"
	"strings"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	route "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	modules "github.com/envoyproxy/go-control-plane/envoy/extensions/dynamic_modules/v3"
	dynamic "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/dynamic_modules/v3"
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

// newRoutes returns the route table. The first matching route applies:
//
//  1. planned: ext_proc has put a plan into the metadata. Only this route leads to providers.
//     It matches any path, because ext_proc has already replaced the path with the provider's.
//     A client cannot set metadata.
//  2. TRACE and similar methods: rejected.
//  3. inference: enables ext_proc. It leads to the gateway, which responds to requests without
//     a plan. Each path has three routes: one for short bodies, and two for long bodies and
//     bodies of undeclared length, which ext_proc receives in pieces. Below the prefixes of providers
//     it takes every method: unknown paths lead to the provider, if the key may use them.
//  4. gRPC to the path of an operation: the gateway's gRPC server, without ext_proc.
//  5. everything else: the gateway's HTTP server, without ext_proc.
//
// Rejected alternatives:
//
//   - One inference route that follows a plan by path. Envoy selects the route again once the
//     plan exists, and by then the path has changed.
//   - Not sending the request headers to ext_proc, which would save a message. Envoy would then
//     forward them before the response to the body, and ignore the header changes in that
//     response.
func newRoutes(in Input) (*route.RouteConfiguration, error) {
	planned, err := plannedRoute(in)
	if err != nil {
		return nil, err
	}
	routes := append([]*route.Route{planned}, rejectedMethods()...)
	for _, path := range dataplane.Paths() {
		of, err := inferenceRoutes(in, routeName(path), exactly(path))
		if err != nil {
			return nil, err
		}
		routes = append(routes, of...)
	}
	// Last of them, because Envoy takes longer to compare a pattern than a path.
	for _, prefix := range dataplane.Prefixes() {
		name, methods := "inference_below_"+strings.Trim(prefix, "/"), methodIs(http.MethodPost)
		if dataplane.IsPassed(prefix + "x") {
			reads, err := readRoute(in, name+"_read", prefix)
			if err != nil {
				return nil, err
			}
			all := dataplane.PassedMethods()
			routes, methods = append(routes, reads), methodIn(all[:]...)
		}
		of, err := inferenceRoutes(in, name, below(prefix, methods))
		if err != nil {
			return nil, err
		}
		routes = append(routes, of...)
	}
	for i, pattern := range dataplane.Patterns() {
		of, err := inferenceRoutes(in, "inference_pattern_"+strconv.Itoa(i+1), matching(pattern))
		if err != nil {
			return nil, err
		}
		routes = append(routes, of...)
	}
	// A retry may send this much again. A provider's request may be longer than the caller's,
	// at least by its model name.
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

// routeName returns the name of the routes of a path.
func routeName(path string) string {
	return "inference_" + strings.ReplaceAll(strings.Trim(path, "/"), "/", "_")
}

// inferenceRoutes returns the routes of one path, or of a pattern of them. ext_proc receives a short body from Envoy's
// buffer, whose limit the route raises. A body in pieces is never in that buffer before it is
// admitted.
func inferenceRoutes(in Input, name string, paths func() *route.RouteMatch) ([]*route.Route, error) {
	var out []*route.Route
	for _, r := range []struct {
		suffix  string
		match   func(*route.RouteMatch)
		filters map[string]proto.Message
		limit   uint64
	}{
		{"_undeclared", func(m *route.RouteMatch) { m.Headers = append(m.Headers, noLength()) }, inPieces(), 0},
		{"_long", func(m *route.RouteMatch) { m.Headers = append(m.Headers, longLength()) }, inPieces(), 0},
		{"", func(*route.RouteMatch) {}, shortBody(in), uint64(in.BodyLimit) + contract.Edited},
	} {
		filters, err := overrides(r.filters)
		if err != nil {
			return nil, err
		}
		match := paths()
		r.match(match)
		to := toGateway(name+r.suffix, match, filters)
		if r.limit > 0 {
			to.RequestBodyBufferLimit = wrapperspb.UInt64(r.limit)
		}
		out = append(out, to)
	}
	return out, nil
}

// plannedName is the name of the route that follows a plan.
const plannedName = "planned"

// plannedRoute sends a request to the clusters of its plan, in order.
func plannedRoute(in Input) (*route.Route, error) {
	specifier, err := pack(&groups.PriorityGroupClusterSpecifier{
		OverrideMetadataNamespace: contract.MetadataPlan,
		PriorityGroups: []*groups.PriorityGroup{{ // required; used for a plan without groups
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
		// The processor removes all headers that providers must not see, except this one:
		// without it Envoy finds no route.
		RequestHeadersToRemove: []string{"x-forwarded-proto"},
		Action: &route.Route_Route{Route: &route.RouteAction{
			Timeout: durationpb.New(0), // streams have no total limit; each attempt has its own
			ClusterSpecifier: &route.RouteAction_InlineClusterSpecifierPlugin{
				InlineClusterSpecifierPlugin: &route.ClusterSpecifierPlugin{Extension: &core.TypedExtensionConfig{
					Name: "envoy.router.cluster_specifier_plugin.priority_group", TypedConfig: specifier,
				}},
			},
			RetryPolicy: retryPolicy(in.Router),
		}},
	}, nil
}

// toGateway returns a route to the gateway's HTTP server, which also responds to inference
// requests without a plan.
func toGateway(name string, match *route.RouteMatch, perFilter map[string]*anypb.Any) *route.Route {
	return &route.Route{
		// Envoy has already sent 100-continue. Go's server would respond to any other
		// expectation with an error and an empty body.
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

// toGRPC returns the route of the management API for gRPC clients, matched by path and content
// type. No other path has this form.
func toGRPC() *route.Route {
	return &route.Route{
		Name: "grpc",
		Match: &route.RouteMatch{
			PathSpecifier: &route.RouteMatch_SafeRegex{SafeRegex: &matcher.RegexMatcher{Regex: contract.GRPCPath}},
			Headers:       []*route.HeaderMatcher{methodIs(http.MethodPost)},
			Grpc:          &route.RouteMatch_GrpcRouteMatchOptions{},
		},
		Action: &route.Route_Route{Route: &route.RouteAction{
			Timeout:          durationpb.New(0), // the caller sets its timeout, and the server has limits
			ClusterSpecifier: &route.RouteAction_Cluster{Cluster: contract.ClusterGRPC},
		}},
	}
}

// rejectedMethods returns routes that reject methods without a handler. TRACE would also echo a
// request to its sender.
func rejectedMethods() []*route.Route {
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

// withProcessor enables ext_proc for a route. It receives the request headers, the complete request
// body, the response headers and the streamed response.
func withProcessor() *processor.ExtProcPerRoute {
	return &processor.ExtProcPerRoute{Override: &processor.ExtProcPerRoute_Overrides{Overrides: &processor.ExtProcOverrides{
		ProcessingMode: &processor.ProcessingMode{
			RequestHeaderMode:   processor.ProcessingMode_SEND,
			RequestBodyMode:     processor.ProcessingMode_BUFFERED, // other modes with a retry would send the body twice
			RequestTrailerMode:  processor.ProcessingMode_SKIP,
			ResponseHeaderMode:  processor.ProcessingMode_SEND,
			ResponseBodyMode:    processor.ProcessingMode_STREAMED,
			ResponseTrailerMode: processor.ProcessingMode_SEND, // otherwise a response that ends with trailers has no last piece
		},
	}}}
}

// shortBody enables the filter that takes a short body to the gateway.
func shortBody(in Input) map[string]proto.Message {
	if in.Attached {
		return map[string]proto.Message{contract.FilterAttach: &dynamic.DynamicModuleFilterPerRoute{
			DynamicModuleConfig: &modules.DynamicModuleConfig{Name: contract.AttachModule},
			FilterName:          "attach",
		}}
	}
	return map[string]proto.Message{contract.FilterProcessor: withProcessor()}
}

// inPieces enables ext_proc for a long body. It receives and returns the body in pieces, so
// that no iteration of Envoy's event loop copies a complete one. It has its own connections, so
// that short requests do not wait behind pieces.
func inPieces() map[string]proto.Message {
	c := withProcessor()
	o := c.GetOverrides()
	o.ProcessingMode.RequestBodyMode = processor.ProcessingMode_FULL_DUPLEX_STREAMED
	o.ProcessingMode.RequestTrailerMode = processor.ProcessingMode_SEND // required by Envoy for this mode
	o.GrpcService = &core.GrpcService{TargetSpecifier: &core.GrpcService_EnvoyGrpc_{
		EnvoyGrpc: &core.GrpcService_EnvoyGrpc{ClusterName: contract.ClusterBodies},
	}}
	o.GrpcInitialMetadata = []*core.HeaderValue{{Key: contract.RoleKey, Value: contract.RolePieces}}
	return map[string]proto.Message{contract.FilterProcessor: c}
}

// metadataPresent matches a request for which a filter has set a metadata key.
func metadataPresent(namespace, key string) *matcher.MetadataMatcher {
	return &matcher.MetadataMatcher{
		Filter: namespace,
		Path: []*matcher.MetadataMatcher_PathSegment{{
			Segment: &matcher.MetadataMatcher_PathSegment_Key{Key: key},
		}},
		Value: &matcher.ValueMatcher{MatchPattern: &matcher.ValueMatcher_PresentMatch{PresentMatch: true}},
	}
}

// longLength matches a request with a long declared length.
func longLength() *route.HeaderMatcher {
	return &route.HeaderMatcher{
		Name:                 "content-length",
		HeaderMatchSpecifier: &route.HeaderMatcher_RangeMatch{RangeMatch: &types.Int64Range{Start: contract.LongBody, End: math.MaxInt64}},
	}
}

// noLength matches a request without a declared length.
func noLength() *route.HeaderMatcher {
	return &route.HeaderMatcher{
		Name: "content-length", InvertMatch: true,
		HeaderMatchSpecifier: &route.HeaderMatcher_PresentMatch{PresentMatch: true},
	}
}

// exactly returns a match of the requests to a path.
func exactly(path string) func() *route.RouteMatch {
	return func() *route.RouteMatch {
		return &route.RouteMatch{
			PathSpecifier: &route.RouteMatch_Path{Path: path},
			Headers:       []*route.HeaderMatcher{methodIs(http.MethodPost)},
		}
	}
}

// below returns a match of the requests to the paths that begin with a prefix.
func below(prefix string, methods *route.HeaderMatcher) func() *route.RouteMatch {
	return func() *route.RouteMatch {
		return &route.RouteMatch{
			PathSpecifier: &route.RouteMatch_Prefix{Prefix: prefix},
			Headers:       []*route.HeaderMatcher{methods},
		}
	}
}

// readRoute returns the route of requests that read below a prefix. They have no body, so they need no connection to
// the processor for bodies in pieces.
func readRoute(in Input, name, prefix string) (*route.Route, error) {
	filters, err := overrides(map[string]proto.Message{contract.FilterProcessor: withProcessor()})
	if err != nil {
		return nil, err
	}
	to := toGateway(name, below(prefix, methodIn(http.MethodGet, http.MethodHead))(), filters)
	to.RequestBodyBufferLimit = wrapperspb.UInt64(uint64(in.BodyLimit) + contract.Edited)
	return to, nil
}

// matching returns a match of the requests to the paths of a pattern.
func matching(pattern string) func() *route.RouteMatch {
	return func() *route.RouteMatch {
		return &route.RouteMatch{
			PathSpecifier: &route.RouteMatch_SafeRegex{SafeRegex: &matcher.RegexMatcher{Regex: pattern}},
			Headers:       []*route.HeaderMatcher{methodIs(http.MethodPost)},
		}
	}
}

func anyPath() *route.RouteMatch {
	return &route.RouteMatch{PathSpecifier: &route.RouteMatch_Prefix{Prefix: "/"}}
}

// methodIn matches some methods.
func methodIn(methods ...string) *route.HeaderMatcher {
	return &route.HeaderMatcher{
		Name: ":method",
		HeaderMatchSpecifier: &route.HeaderMatcher_StringMatch{StringMatch: &matcher.StringMatcher{
			MatchPattern: &matcher.StringMatcher_SafeRegex{SafeRegex: &matcher.RegexMatcher{Regex: strings.Join(methods, "|")}},
		}},
	}
}

func methodIs(method string) *route.HeaderMatcher {
	return &route.HeaderMatcher{
		Name: ":method",
		HeaderMatchSpecifier: &route.HeaderMatcher_StringMatch{StringMatch: &matcher.StringMatcher{
			MatchPattern: &matcher.StringMatcher_Exact{Exact: method},
		}},
	}
}

// overrides packs the filter configuration of a route, by filter name.
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
