package contract

import "github.com/modelgateway/modelgateway/cluster/id"

// Clusters of the bootstrap.
const (
	ClusterProcessor = "modelgateway_processor" // ext_proc, attempt log and xDS over gRPC
	ClusterBodies    = "modelgateway_bodies"    // the same, over separate connections for long bodies
	ClusterGateway   = "modelgateway_http"      // everything except inference: REST, health, models
	ClusterGRPC      = "modelgateway_grpc"      // the management API over gRPC
)

// The names in the static listener.
const (
	Listener           = "ingress"
	RouteConfig        = "ingress"
	ListenerManagement = "management" // has its own routes
	ListenerLinks      = "links"      // of the module AttachModule
)

// GRPCPath is a regular expression of the paths of the management API over gRPC,
// /package.Service/Method.
const GRPCPath = `/[a-z0-9_]+(\.[a-z0-9_]+)*\.[A-Za-z0-9]+/[A-Za-z0-9]+`

// MetadataPlan is the namespace of the dynamic metadata with which ext_proc gives the router
// its ordered plan. MetadataPlanGroups is the key that Envoy's priority_group cluster specifier
// reads there.
const (
	MetadataPlan       = "gateway.plan"
	MetadataPlanGroups = "priority_groups"
)

// LongBody is the declared length from which on Envoy sends a body to ext_proc in pieces. A
// shorter one takes about a millisecond in one iteration of Envoy's event loop.
const LongBody = 1 << 20

// Edited is the number of bytes by which the gateway may lengthen a body of the largest size.
// Envoy's limit also applies to a replaced body. The gateway itself enforces the limit for the
// received body.
const Edited = 64 << 10

// Role is the gRPC metadata with which a stream from Envoy names its filter. The downstream
// filter, with one stream per request, sends none for most requests.
const (
	RoleKey     = "gateway-role"
	RolePieces  = "pieces"  // the downstream filter, for a request body in pieces
	RoleRewrite = "rewrite" // upstream filter: rewrites attempts after the first
	RoleCheck   = "check"   // upstream filter: rewrites, and inspects the response before the client receives it
)

// AddressUnresolved is the target of attempts in a cluster whose name has no address: the
// limited broadcast address, to which TCP cannot connect.
const AddressUnresolved = "255.255.255.255"

// Variant is one of an endpoint's clusters.
type Variant uint8

// The variants. Each has its own cluster for the same endpoint.
const (
	Bare    Variant = iota // attempt 1, which the downstream filter prepared: no upstream filter
	Rewrite                // later attempts: the upstream filter sets body, path and credentials
	Check                  // like Rewrite, and holds the response until its start has been inspected
)

// ClusterName returns the name of an endpoint's cluster.
func ClusterName(endpoint id.Endpoint, v Variant) string {
	switch v {
	case Rewrite:
		return string(endpoint) + "~rewrite"
	case Check:
		return string(endpoint) + "~check"
	case Bare:
	}
	return string(endpoint)
}

// Attributes that ext_proc requests from Envoy in addition to the messages.
const (
	AttrRequestID   = "request.id"
	AttrAttempt     = "upstream.request_attempt_count"
	AttrCodeDetails = "response.code_details"
	AttrCluster     = "xds.cluster_name"
)

// ResponseAttributes lists the attributes of a response for the downstream filter.
func ResponseAttributes() []string { return []string{AttrAttempt, AttrCodeDetails} }

// UpstreamAttributes lists the attributes for an upstream filter.
func UpstreamAttributes() []string { return []string{AttrRequestID, AttrAttempt, AttrCluster} }

// Headers for Envoy's router, with which ext_proc controls one request.
const (
	HeaderMaxRetries     = "x-envoy-max-retries"
	HeaderPerTryTimeout  = "x-envoy-upstream-rq-per-try-timeout-ms"
	HeaderTimeout        = "x-envoy-upstream-rq-timeout-ms"
	HeaderRetriableCodes = "x-envoy-retriable-status-codes"
)
