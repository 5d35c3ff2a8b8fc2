package mgmt

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/mgmt/field"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	"github.com/modelgateway/modelgateway/mgmt/rest"
	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
)

// errorDomain marks the reasons of errors that are ours.
const errorDomain = "modelgateway"

// ServeGRPC serves gRPC requests on l until ctx ends, and then waits for the current ones.
func (s *Server) ServeGRPC(ctx context.Context, l net.Listener) error {
	srv := grpc.NewServer(
		grpc.MaxRecvMsgSize(rest.MaxBody),
		grpc.UnaryInterceptor(s.unary),
		grpc.StreamInterceptor(s.stream),
	)
	s.register(srv)
	reflectionv1.RegisterServerReflectionServer(srv, reflection.NewServerV1(reflection.ServerOptions{Services: srv}))
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		timer := time.AfterFunc(stopTime, srv.Stop)
		defer timer.Stop()
		srv.GracefulStop()
	}()
	if err := srv.Serve(l); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return err
	}
	<-stopped
	return nil
}

// unary identifies the caller of a gRPC request, runs its operation and returns errors in
// gRPC's form.
func (s *Server) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (out any, err error) {
	md, _ := metadata.FromIncomingContext(ctx)
	request := requestID(md)
	header := metadata.Pairs(headerRequestID, request, headerGatewayRequestID, request)
	c := &operation.Call{Presented: presented(md.Get), ID: request, IfMatch: md.Get(field.HeaderIfMatch), Idempotency: md.Get(field.HeaderIdempotency)}
	defer func() {
		if p := recover(); p != nil { // as the HTTP server does: one request is lost, not all
			out, err = nil, fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
		if err != nil {
			out, err = nil, statusOf(s.failed(ctx, c, err, clientOf(md, info.FullMethod)))
		}
		_ = grpc.SetHeader(ctx, header) // fails only where the caller has left
	}()
	op, ok := s.operations.All[info.FullMethod]
	if !ok {
		return nil, fault.New(fault.NotFound, "", "There is no such operation.")
	}
	if err := s.identify(c); err != nil {
		return nil, err
	}
	if err := c.Principal.MayUse(op.Routes[0].Method, op.Routes[0].Path); err != nil { // as over REST
		return nil, err
	}
	if out, err = s.operations.Run(operation.With(ctx, c), req, info, next); err != nil {
		return nil, err
	}
	for name, value := range c.Headers(out.(proto.Message)) {
		header.Set(name, value)
	}
	return out, nil
}

// stream serves reflection, the only stream, to callers that may use it.
func (s *Server) stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	if info.FullMethod != reflectionv1.ServerReflection_ServerReflectionInfo_FullMethodName {
		return status.Error(codes.Unimplemented, "There is no such operation.")
	}
	md, _ := metadata.FromIncomingContext(stream.Context())
	c := &operation.Call{Presented: presented(md.Get), ID: requestID(md)}
	err := s.identify(c)
	if err == nil {
		err = c.Principal.MayUse(http.MethodGet, info.FullMethod) // it changes nothing
	}
	if err == nil {
		err = operation.MayUse(surface.Operation{Access: surface.Viewer}, c.Principal)
	}
	if err != nil {
		return statusOf(s.failed(stream.Context(), c, err, clientOf(md, info.FullMethod)))
	}
	return next(srv, stream)
}

// requestID returns the id of a request, from the UUID that Envoy gave it.
func requestID(md metadata.MD) string {
	uuid := ""
	if given := md.Get(headerRequestID); len(given) == 1 {
		uuid = given[0]
	}
	return string(id.RequestFromUUID(uuid))
}

// statusOf returns an error in gRPC's form: its code as the reason, the fields that are
// wrong, and when to retry.
func statusOf(e *fault.Error) error {
	st := status.New(e.Kind.GRPC(), e.Message())
	info := &errdetails.ErrorInfo{Reason: symbolic(e), Domain: errorDomain, Metadata: map[string]string{"http_status": strconv.Itoa(e.HTTPStatus())}}
	if e.Param != "" {
		info.Metadata["param"] = e.Param
	}
	if field.IsInvalid(e) {
		info.Reason = codeValidation
	}
	details := []protoadapt.MessageV1{info}
	if field.IsInvalid(e) {
		bad := &errdetails.BadRequest{}
		for _, p := range field.Problems(e) {
			bad.FieldViolations = append(bad.GetFieldViolations(), &errdetails.BadRequest_FieldViolation{Field: p.Param, Description: p.Message, Reason: p.Code})
		}
		details = append(details, bad)
	}
	if e.RetryAfter > 0 {
		details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(e.RetryAfter)})
	}
	with, err := st.WithDetails(details...)
	if err != nil { // a text is not UTF-8
		return st.Err()
	}
	return with.Err()
}
