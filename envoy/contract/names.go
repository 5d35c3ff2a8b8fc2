package contract

import "github.com/modelgateway/modelgateway/cluster/id"

// Clusters of the bootstrap.
const (
	ClusterProcessor = "modelgateway_processor" // ext_proc, attempt log and xDS over gRPC
	ClusterBodies    = "modelgateway_bodies"    // the same, over connections for long bodies alone
	ClusterGateway   = "modelgateway_http"      // everything that is not inference: REST, health, models
	ClusterGRPC      = "modelgateway_grpc"      // the management API over gRPC
)

// The names that the static listener refers to.
const (
	Listener           = "ingress"
	RouteConfig        = "ingress"
	ListenerManagement = "management" // has its own routes
)

// GRPCPath is a regular expression of the paths of the management API over gRPC,
// /package.Service/Method.
const GRPCPath = `/[a-z0-9_]+(\.[a-z0-9_]+)*\.[A-Za-z0-9]+/[A-Za-z0-9]+`

// MetadataPlan is the namespace of the dynamic metadata in which ext_proc gives
// the router its ordered plan, and MetadataPlanGroups the key that Envoy's
// priority_group cluster specifier reads there.
const (
	MetadataPlan       = "gateway.plan"
	MetadataPlanGroups = "priority_groups"
)

// LongBody is the declared length from which on Envoy sends a body to ext_proc in pieces
// as it comes. A shorter one takes about a millisecond of one turn of Envoy's loop.
const LongBody = 1 << 20

// Edited is by how much the gateway may lengthen a body of the largest size: Envoy's limit
// holds for what replaces the body as well. The gateway rejects what is longer as it came.
const Edited = 64 << 10

// Role is the gRPC metadata by which a stream from Envoy says which filter it
// comes from. The downstream filter, one stream a request, sends none
// for most requests.
const (
	RoleKey     = "gateway-role"
	RolePieces  = "pieces"  // the downstream filter, of a request whose body comes in pieces
	RoleRewrite = "rewrite" // upstream filter: rewrites attempts after the first
	RoleCheck   = "check"   // upstream filter: rewrites, and looks at the answer before the client does
)

// AddressUnresolved is where a cluster whose name has no address sends an attempt: the
// limited broadcast address, to which TCP cannot connect.
const AddressUnresolved = "255.255.255.255"

// Variant is which of an endpoint's clusters an attempt uses.
type Variant uint8

// The variants. Each is a cluster of its own for the same endpoint.
const (
	Bare    Variant = iota // attempt 1, which the downstream filter prepared: no upstream filter
	Rewrite                // later attempts: the upstream filter puts in body, path and credentials
	Check                  // as Rewrite, and the answer is held until its start was looked at
)

// ClusterName is the name of an endpoint's cluster.
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

// Attributes that ext_proc asks Envoy for, beside the messages themselves.
const (
	AttrRequestID   = "request.id"
	AttrAttempt     = "upstream.request_attempt_count"
	AttrCodeDetails = "response.code_details"
	AttrCluster     = "xds.cluster_name"
)

// ResponseAttributes lists what the downstream filter asks for with an answer.
func ResponseAttributes() []string { return []string{AttrAttempt, AttrCodeDetails} }

// UpstreamAttributes lists what an upstream filter asks for.
func UpstreamAttributes() []string { return []string{AttrRequestID, AttrAttempt, AttrCluster} }

// Headers of Envoy's router, by which ext_proc steers one request.
const (
	HeaderMaxRetries     = "x-envoy-max-retries"
	HeaderPerTryTimeout  = "x-envoy-upstream-rq-per-try-timeout-ms"
	HeaderTimeout        = "x-envoy-upstream-rq-timeout-ms"
	HeaderRetriableCodes = "x-envoy-retriable-status-codes"
)
