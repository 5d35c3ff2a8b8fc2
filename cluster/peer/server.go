package peer

import (
	"context"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	grpcpeer "google.golang.org/grpc/peer"

	"github.com/modelgateway/modelgateway/cluster/id"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Server answers other nodes.
type Server struct {
	grpc *grpc.Server
}

const (
	// maxMessage bounds what a node takes from another: a command with everything
	// that a management request of a mebibyte can hold, and room.
	maxMessage = 8 << 20
	// stopTime bounds how long calls under way may take to end.
	stopTime = 2 * time.Second
)

// NewServer returns a server. who says which node a connection comes from.
func NewServer(service clusterv1.PeerServiceServer, who func(net.Conn) (id.Node, bool)) *Server {
	s := &Server{grpc: grpc.NewServer(
		grpc.Creds(identified{who}),
		grpc.MaxRecvMsgSize(maxMessage),
		grpc.ConnectionTimeout(connectTime),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: keepaliveTime / 2, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: keepaliveTime, Timeout: keepaliveWait}),
		grpc.UnaryInterceptor(answer),
	)}
	clusterv1.RegisterPeerServiceServer(s.grpc, service)
	return s
}

// Run answers on l until ctx ends, and then lets the calls under way end, for a
// short time.
func (s *Server) Run(ctx context.Context, l net.Listener) error {
	stopped := make(chan struct{})
	unhook := context.AfterFunc(ctx, func() {
		defer close(stopped)
		timer := time.AfterFunc(stopTime, s.grpc.Stop)
		defer timer.Stop()
		s.grpc.GracefulStop()
	})
	err := s.grpc.Serve(l)
	if unhook() {
		s.grpc.Stop() // Serve ended by itself
		return err
	}
	// It was asked to end, and what the listener says of that is no news.
	<-stopped
	return nil
}

// Caller returns the node that made a call; false if its certificate names none.
func Caller(ctx context.Context) (id.Node, bool) {
	p, ok := grpcpeer.FromContext(ctx)
	if !ok {
		return "", false
	}
	info, ok := p.AuthInfo.(callerInfo)
	return info.node, ok && info.named
}

// callerInfo is what a connection says of its other end.
type callerInfo struct {
	credentials.CommonAuthInfo
	node  id.Node
	named bool
}

// AuthType implements credentials.AuthInfo.
func (callerInfo) AuthType() string { return "link" }

// identified takes connections as they are, for they are mutual TLS already, and
// notes who is at the other end.
type identified struct {
	who func(net.Conn) (id.Node, bool)
}

// ClientHandshake implements credentials.TransportCredentials; it is not used.
func (identified) ClientHandshake(_ context.Context, _ string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return conn, callerInfo{}, nil
}

// ServerHandshake implements credentials.TransportCredentials.
func (c identified) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	node, named := c.who(conn)
	return conn, callerInfo{
		CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity},
		node:           node, named: named,
	}, nil
}

// Info implements credentials.TransportCredentials.
func (identified) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: "link"}
}

// Clone implements credentials.TransportCredentials.
func (c identified) Clone() credentials.TransportCredentials { return c }

// OverrideServerName implements credentials.TransportCredentials; there is no name.
func (identified) OverrideServerName(string) error { return nil }
