package mgmt

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	"github.com/modelgateway/modelgateway/mgmt/rest"
	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// dial serves gRPC for as long as the test runs, and returns a connection to it.
func dial(t *testing.T, s *Server) *grpc.ClientConn {
	t.Helper()
	l := bufconn.Listen(1 << 20)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.ServeGRPC(ctx, l) }()
	conn, err := grpc.NewClient("passthrough:///buffer", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return conn
}

// callWith returns a context for calls with a key and more metadata.
func callWith(t *testing.T, key string, more ...string) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	if key != "" {
		more = append(more, "authorization", "Bearer "+key)
	}
	return metadata.AppendToOutgoingContext(ctx, more...)
}

// detail is the first detail of a type that an error has, or nil.
func detail[T any](err error) (found T) {
	for _, d := range status.Convert(err).Details() {
		if one, ok := d.(T); ok {
			return one
		}
	}
	return found
}

func TestGRPCAnswers(t *testing.T) {
	s, _ := newFake(t)
	conn := dial(t, s)
	var header metadata.MD
	out, err := gatewayv1.NewClusterServiceClient(conn).GetStatus(callWith(t, masterKey), &gatewayv1.GetStatusRequest{}, grpc.Header(&header))
	if err != nil || out.GetState() != "follower" {
		t.Fatalf("%v %v", out, err)
	}
	if id := header.Get(headerGatewayRequestID); len(id) != 1 || !strings.HasPrefix(id[0], "req_") || header.Get(operation.HeaderRevision)[0] != "41" {
		t.Errorf("%v", header)
	}
	id := callWith(t, masterKey, "x-request-id", "8e03978e-40d5-43e8-bc93-6894a57f9324")
	if _, err := gatewayv1.NewClusterServiceClient(conn).GetStatus(id, &gatewayv1.GetStatusRequest{}, grpc.Header(&header)); err != nil || header.Get(headerGatewayRequestID)[0] != "req_8e03978e40d543e8bc936894a57f9324" {
		t.Errorf("%v %v", header, err)
	}
}

// Every operation identifies its caller over gRPC as over REST.
func TestGRPCIdentifiesTheCaller(t *testing.T) {
	s, n := newFake(t)
	conn := dial(t, s)
	n.fail(fault.New(fault.Unavailable, "", "The nodes are away."))
	for name, op := range s.operations.All {
		for key, want := range map[string]codes.Code{
			"": codes.Unauthenticated, "sk-nobody-has-this-key-00": codes.Unauthenticated, "not a key": codes.Unauthenticated, plainKey: codes.PermissionDenied,
		} {
			if key == plainKey && op.Access <= surface.AnyKey {
				continue
			}
			var header metadata.MD
			err := conn.Invoke(callWith(t, key), name, op.Input.New().Interface(), op.Output.New().Interface(), grpc.Header(&header))
			if status.Code(err) != want || len(header.Get(headerGatewayRequestID)) != 1 || detail[*errdetails.ErrorInfo](err).GetDomain() != errorDomain {
				t.Errorf("%s with key %q: %v %v", name, key, err, header)
			}
		}
	}
	if err := conn.Invoke(callWith(t, masterKey), "/gateway.v1.KeyService/Nope", &gatewayv1.GetKeyRequest{}, &gatewayv1.GetKeyResponse{}); status.Code(err) != codes.Unimplemented {
		t.Errorf("an operation that is not there: %v", err)
	}
}

func TestGRPCErrorsHaveDetails(t *testing.T) {
	s, n := newFake(t)
	members := gatewayv1.NewClusterServiceClient(dial(t, s))
	_, err := members.RemoveMember(callWith(t, masterKey), &gatewayv1.RemoveMemberRequest{NodeId: "nope"})
	if status.Code(err) != codes.InvalidArgument || detail[*errdetails.ErrorInfo](err).GetReason() != "validation_error" {
		t.Errorf("%v", err)
	}
	if bad := detail[*errdetails.BadRequest](err).GetFieldViolations(); len(bad) != 1 || bad[0].GetField() != "node_id" || bad[0].GetReason() != "invalid_value" || bad[0].GetDescription() == "" {
		t.Errorf("%v", bad)
	}
	n.fail(&fault.Error{Kind: fault.Unavailable, Code: "no_leader", Detail: "No majority.", RetryAfter: time.Hour})
	_, err = members.GetStatus(callWith(t, masterKey), &gatewayv1.GetStatusRequest{})
	if status.Code(err) != codes.Unavailable || detail[*errdetails.ErrorInfo](err).GetReason() != "no_leader" || detail[*errdetails.RetryInfo](err).GetRetryDelay().AsDuration() != operation.MostRetryAfter {
		t.Errorf("%v", err)
	}
	_, err = members.GetStatus(callWith(t, ""), &gatewayv1.GetStatusRequest{})
	if detail[*errdetails.ErrorInfo](err).GetReason() != "missing_api_key" {
		t.Errorf("%v", err)
	}
	_, err = members.RemoveMember(callWith(t, masterKey), &gatewayv1.RemoveMemberRequest{NodeId: strings.Repeat("x", rest.MaxBody+1)})
	if status.Code(err) != codes.ResourceExhausted {
		t.Errorf("a large request: %v", err)
	}
}

// A panic loses one request, and its text is not in the response.
func TestGRPCSurvivesPanics(t *testing.T) {
	s, n := newFake(t)
	members := gatewayv1.NewClusterServiceClient(dial(t, s))
	n.panics("the secret of the machine")
	_, err := members.GetStatus(callWith(t, masterKey), &gatewayv1.GetStatusRequest{})
	if status.Code(err) != codes.Internal || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
	n.panics("")
	if _, err := members.GetStatus(callWith(t, masterKey), &gatewayv1.GetStatusRequest{}); err != nil {
		t.Errorf("%v", err)
	}
}

// Reflection shows all services, to callers that see everything.
func TestGRPCReflection(t *testing.T) {
	s, _ := newFake(t)
	client := reflectionv1.NewServerReflectionClient(dial(t, s))
	list := func(key string) (*reflectionv1.ServerReflectionResponse, error) {
		stream, err := client.ServerReflectionInfo(callWith(t, key))
		if err != nil {
			return nil, err
		}
		// A stream that the server has ended already says io.EOF here, and why
		// to Recv.
		err = stream.Send(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}})
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		return stream.Recv()
	}
	got, err := list(masterKey)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, one := range got.GetListServicesResponse().GetService() {
		names[one.GetName()] = true
	}
	for name := range s.operations.All {
		if service, _, _ := strings.Cut(strings.TrimPrefix(name, "/"), "/"); !names[service] {
			t.Errorf("%s is not shown", service)
		}
	}
	for key, want := range map[string]codes.Code{plainKey: codes.PermissionDenied, "": codes.Unauthenticated} {
		if _, err := list(key); status.Code(err) != want {
			t.Errorf("with key %q: %v", key, err)
		}
	}
}
