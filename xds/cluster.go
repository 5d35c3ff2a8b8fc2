package xds

import (
	"net/netip"
	"time"

	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpoint "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	family "github.com/envoyproxy/go-control-plane/envoy/extensions/clusters/common/dns/v3"
	dns "github.com/envoyproxy/go-control-plane/envoy/extensions/clusters/dns/v3"
	tls "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	httpopts "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	matcher "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/envoy/contract"
)

// unlimited is what Envoy's circuit breakers are set to. The limits that matter
// are kept in Go, per key and per deployment, where they can be told to the
// caller; Envoy's defaults (1,024 requests, 3 retries) would answer 503 unasked.
const unlimited = 1_000_000

// upstreamOptions is the key of a cluster's HTTP options.
const upstreamOptions = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"

// newCluster makes one variant of an endpoint.
func newCluster(in Input, e catalog.Endpoint, v contract.Variant) (*cluster.Cluster, error) {
	if e.Host == "" || e.Port == 0 {
		return nil, problem(e, "the endpoint has no host or no port")
	}
	options, err := httpOptions(in, e, v)
	if err != nil {
		return nil, err
	}
	name := contract.ClusterName(e.ID, v)
	c := &cluster.Cluster{
		Name:                          name,
		ConnectTimeout:                durationpb.New(in.ConnectTimeout),
		PerConnectionBufferLimitBytes: wrapperspb.UInt32(in.BodyLimit),
		CircuitBreakers: &cluster.CircuitBreakers{Thresholds: []*cluster.CircuitBreakers_Thresholds{{
			MaxConnections:     wrapperspb.UInt32(unlimited),
			MaxPendingRequests: wrapperspb.UInt32(unlimited),
			MaxRequests:        wrapperspb.UInt32(unlimited),
			MaxRetries:         wrapperspb.UInt32(unlimited),
		}}},
		UpstreamConnectionOptions: &cluster.UpstreamConnectionOptions{
			TcpKeepalive: &core.TcpKeepalive{
				KeepaliveProbes:   wrapperspb.UInt32(3),
				KeepaliveTime:     wrapperspb.UInt32(30),
				KeepaliveInterval: wrapperspb.UInt32(10),
			},
		},
		TypedExtensionProtocolOptions: map[string]*anypb.Any{upstreamOptions: options},
	}
	if err := discover(c, e); err != nil {
		return nil, err
	}
	if e.Scheme == "https" {
		if c.TransportSocket, err = transport(in, e); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// discover says how the endpoint's addresses are found: as they stand, or by DNS
// for as long as its answers say.
//
// A cluster without any address is answered with 503 before a retry is thought
// of, so a name that never resolved would keep its request from the fallbacks.
// Hence a second priority with an address that refuses at once: an attempt on it
// fails like any other, and the next group has its turn. The address is the limited
// broadcast address: the kernel refuses without a packet. A closed port of the loopback
// would do until somebody opens it, and would then be sent requests with keys in them.
func discover(c *cluster.Cluster, e catalog.Endpoint) error {
	c.LoadAssignment = &endpoint.ClusterLoadAssignment{
		ClusterName: c.GetName(),
		Endpoints:   []*endpoint.LocalityLbEndpoints{at(0, e.Host, uint32(e.Port))},
	}
	if _, err := netip.ParseAddr(e.Host); err == nil {
		c.ClusterDiscoveryType = &cluster.Cluster_Type{Type: cluster.Cluster_STATIC}
		return nil
	}
	c.LoadAssignment.Endpoints = append(c.LoadAssignment.Endpoints, at(1, contract.AddressUnresolved, 1))
	// A name that does not resolve must not hold the configuration back, and a
	// cluster that waits for its name is one that plans cannot find.
	c.WaitForWarmOnInit = wrapperspb.Bool(false)
	resolver, err := pack(&dns.DnsCluster{
		DnsLookupFamily: family.DnsLookupFamily_V4_PREFERRED, // IPv6 often resolves where it does not route
		RespectDnsTtl:   true,
		DnsRefreshRate:  durationpb.New(30 * time.Second), // where an answer has no TTL
		DnsJitter:       durationpb.New(time.Second),
		DnsFailureRefreshRate: &dns.DnsCluster_RefreshRate{
			BaseInterval: durationpb.New(time.Second),
			MaxInterval:  durationpb.New(10 * time.Second),
		},
	})
	if err != nil {
		return err
	}
	c.ClusterDiscoveryType = &cluster.Cluster_ClusterType{ClusterType: &cluster.Cluster_CustomClusterType{
		Name: "envoy.cluster.dns", TypedConfig: resolver,
	}}
	return nil
}

// at is one address in a locality of its own, for only those have priorities.
func at(priority uint32, host string, port uint32) *endpoint.LocalityLbEndpoints {
	return &endpoint.LocalityLbEndpoints{
		Priority: priority,
		LbEndpoints: []*endpoint.LbEndpoint{{HostIdentifier: &endpoint.LbEndpoint_Endpoint{Endpoint: &endpoint.Endpoint{
			Address: &core.Address{Address: &core.Address_SocketAddress{SocketAddress: &core.SocketAddress{
				Address:       host,
				PortSpecifier: &core.SocketAddress_PortValue{PortValue: port},
			}}},
		}}}},
	}
}

// httpOptions says what is spoken to an endpoint, and which filters an attempt
// passes. Plain http is HTTP/1.1; over TLS the handshake chooses.
func httpOptions(in Input, e catalog.Endpoint, v contract.Variant) (*anypb.Any, error) {
	filters, err := upstreamFilters(in, v)
	if err != nil {
		return nil, err
	}
	o := &httpopts.HttpProtocolOptions{
		CommonHttpProtocolOptions: &core.HttpProtocolOptions{IdleTimeout: durationpb.New(in.IdleTimeout)},
		HttpFilters:               filters,
		UpstreamProtocolOptions: &httpopts.HttpProtocolOptions_ExplicitHttpConfig_{
			ExplicitHttpConfig: &httpopts.HttpProtocolOptions_ExplicitHttpConfig{
				ProtocolConfig: &httpopts.HttpProtocolOptions_ExplicitHttpConfig_HttpProtocolOptions{
					HttpProtocolOptions: &core.Http1ProtocolOptions{},
				},
			},
		},
	}
	if e.Scheme == "https" {
		o.UpstreamProtocolOptions = &httpopts.HttpProtocolOptions_AutoConfig{
			AutoConfig: &httpopts.HttpProtocolOptions_AutoHttpConfig{
				HttpProtocolOptions: &core.Http1ProtocolOptions{},
				Http2ProtocolOptions: &core.Http2ProtocolOptions{
					InitialStreamWindowSize:     wrapperspb.UInt32(1 << 20),
					InitialConnectionWindowSize: wrapperspb.UInt32(16 << 20),
					// Finds a connection that a middlebox forgot before a request does.
					ConnectionKeepalive: &core.KeepaliveSettings{
						Interval: durationpb.New(30 * time.Second),
						Timeout:  durationpb.New(10 * time.Second),
					},
				},
			},
		}
	}
	return pack(o)
}

// transport verifies an https provider: a certificate of a known authority, for
// this very host, over TLS 1.2 or later.
func transport(in Input, e catalog.Endpoint) (*core.TransportSocket, error) {
	if in.CAFile == "" {
		return nil, problem(e, "no file of certificate authorities is known, so an https provider cannot be verified; install ca-certificates or set SSL_CERT_FILE")
	}
	san := &tls.SubjectAltNameMatcher{
		SanType: tls.SubjectAltNameMatcher_DNS,
		Matcher: &matcher.StringMatcher{MatchPattern: &matcher.StringMatcher_Exact{Exact: e.Host}},
	}
	context := &tls.UpstreamTlsContext{Sni: e.Host}
	if _, err := netip.ParseAddr(e.Host); err == nil {
		san.SanType = tls.SubjectAltNameMatcher_IP_ADDRESS
		context.Sni = "" // RFC 6066: an address is no server name
	}
	context.CommonTlsContext = &tls.CommonTlsContext{
		TlsParams: &tls.TlsParameters{
			TlsMinimumProtocolVersion: tls.TlsParameters_TLSv1_2,
			TlsMaximumProtocolVersion: tls.TlsParameters_TLSv1_3,
		},
		ValidationContextType: &tls.CommonTlsContext_ValidationContext{
			ValidationContext: &tls.CertificateValidationContext{
				TrustedCa:                 &core.DataSource{Specifier: &core.DataSource_Filename{Filename: in.CAFile}},
				MatchTypedSubjectAltNames: []*tls.SubjectAltNameMatcher{san},
			},
		},
	}
	config, err := pack(context)
	if err != nil {
		return nil, err
	}
	return &core.TransportSocket{
		Name:       "envoy.transport_sockets.tls",
		ConfigType: &core.TransportSocket_TypedConfig{TypedConfig: config},
	}, nil
}
