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

// unlimited disables Envoy's circuit breakers. The gateway enforces limits per key and per
// deployment in Go, where it can report them to the caller. Envoy's defaults (1,024 requests, 3
// retries) would respond with 503.
const unlimited = 1_000_000

// upstreamOptions is the key of a cluster's HTTP options.
const upstreamOptions = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"

// newCluster returns one variant of an endpoint's cluster.
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

// discover configures how Envoy finds the endpoint's addresses: as given, or by DNS with its
// TTL.
//
// Envoy responds with 503 for a cluster without any address, before it considers a retry. So a
// name that never resolves would block the fallbacks. Hence a second priority with an address
// that fails at once: an attempt on it fails like any other, and the next group follows. The
// address is the limited broadcast address, which the kernel rejects without a packet. A closed
// loopback port would also do until another process opens it, and would then receive requests
// with keys.
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
	// A name that does not resolve must not delay the configuration, and plans cannot find a
	// cluster that still waits for its name.
	c.WaitForWarmOnInit = wrapperspb.Bool(false)
	resolver, err := pack(&dns.DnsCluster{
		DnsLookupFamily: family.DnsLookupFamily_V4_PREFERRED, // IPv6 often resolves where it does not route
		RespectDnsTtl:   true,
		DnsRefreshRate:  durationpb.New(30 * time.Second), // for responses without a TTL
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

// at returns one address in its own locality, because priorities belong to localities.
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

// httpOptions configures the protocol to an endpoint, and the upstream filters of an attempt.
// Plain http is HTTP/1.1; with TLS the handshake chooses.
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
					// Detects a connection that a middlebox has dropped before a request uses it.
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

// transport configures TLS 1.2 or later to an https provider, and verifies its certificate and
// host.
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
		context.Sni = "" // RFC 6066: an address is not a server name
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
