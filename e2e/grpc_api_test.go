package e2e

import (
	"context"
	"errors"
	"io"
	"net/http"
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

	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// grpcConn is a connection to a gateway's one port.
func grpcConn(t *testing.T, g *gatewayProcess) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(strings.TrimPrefix(g.url, "http://"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func grpcAs(t *testing.T, key string, more ...string) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return metadata.AppendToOutgoingContext(ctx, append(more, "authorization", "Bearer "+key)...)
}

// The management API answers gRPC on the port of everything else, through Envoy,
// and by the same rules as over REST.
func TestGRPCThroughEnvoy(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	conn := grpcConn(t, g)
	keys := gatewayv1.NewKeyServiceClient(conn)

	var header metadata.MD
	alias := "over-grpc"
	request := &gatewayv1.GenerateKeyRequest{KeyAlias: &alias}
	made, err := keys.GenerateKey(grpcAs(t, adminKey, "idempotency-key", "one"), request, grpc.Header(&header))
	if err != nil || !strings.HasPrefix(made.GetKey(), "sk-") || made.GetRevision() == 0 {
		t.Fatalf("%v %v", made, err)
	}
	if id := header.Get("x-gateway-request-id"); len(id) != 1 || !strings.HasPrefix(id[0], "req_") {
		t.Errorf("%v", header)
	}
	again, err := keys.GenerateKey(grpcAs(t, adminKey, "idempotency-key", "one"), request, grpc.Header(&header))
	if err != nil || again.GetKey() != made.GetKey() || len(header.Get("idempotency-replayed")) != 1 {
		t.Errorf("again: %v %v", header, err)
	}
	rest := g.get("/key/info?key=" + made.GetToken())
	if rest.status != http.StatusOK || !strings.Contains(rest.body, alias) {
		t.Errorf("over REST: %d %s", rest.status, rest.body)
	}

	_, err = keys.GenerateKey(grpcAs(t, adminKey), request)
	if status.Code(err) != codes.AlreadyExists {
		t.Errorf("the alias again: %v", err)
	}
	_, err = keys.GenerateKey(grpcAs(t, adminKey), &gatewayv1.GenerateKeyRequest{Models: []string{"a", ""}})
	var fields []string
	for _, d := range status.Convert(err).Details() {
		if bad, ok := d.(*errdetails.BadRequest); ok {
			for _, v := range bad.GetFieldViolations() {
				fields = append(fields, v.GetField())
			}
		}
	}
	if status.Code(err) != codes.InvalidArgument || strings.Join(fields, " ") != "models[1]" {
		t.Errorf("an invalid request: %v", err)
	}
	for key, want := range map[string]codes.Code{made.GetKey(): codes.PermissionDenied, "sk-nobody-has-this-key-00": codes.Unauthenticated} {
		if _, err := keys.GenerateKey(grpcAs(t, key), &gatewayv1.GenerateKeyRequest{}); status.Code(err) != want {
			t.Errorf("not an admin: %v, want %v", err, want)
		}
		if _, err := services(t, conn, key); status.Code(err) != want {
			t.Errorf("reflection, not an admin: %v, want %v", err, want)
		}
	}
	if all, err := services(t, conn, adminKey); err != nil || !strings.Contains(all, "gateway.v1.KeyService") {
		t.Errorf("reflection: %s %v", all, err)
	}
}

// services are the names that the reflection shows to the owner of a key.
func services(t *testing.T, conn *grpc.ClientConn, key string) (string, error) {
	t.Helper()
	stream, err := reflectionv1.NewServerReflectionClient(conn).ServerReflectionInfo(grpcAs(t, key))
	if err != nil {
		return "", err
	}
	// A stream that the server has ended already says io.EOF here, and why to
	// Recv.
	err = stream.Send(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}})
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	got, err := stream.Recv()
	if err != nil {
		return "", err
	}
	return got.GetListServicesResponse().String(), nil
}

// What is not gRPC does not reach the gRPC server, and what is does not reach
// inference.
func TestOnlyGRPCIsGRPC(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	for _, path := range []string{"/gateway.v1.KeyService/GenerateKey", "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"} {
		a := g.do(http.MethodPost, path, strings.NewReader("{}"))
		if a.status != http.StatusNotFound {
			t.Errorf("%s as JSON: %d %s", path, a.status, a.body)
		}
	}
	a := g.do(http.MethodPost, "/gateway.v1.KeyService/GenerateKey", strings.NewReader("nonsense"), with("content-type", "application/grpc"))
	if code := a.header.Get("grpc-status"); a.status != http.StatusOK || code == "" || code == "0" {
		t.Errorf("nonsense as gRPC: %d %v %s", a.status, a.header, a.body)
	}
}
