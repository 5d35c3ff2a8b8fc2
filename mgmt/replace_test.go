package mgmt

import (
	"context"
	"testing"

	"buf.build/go/protovalidate"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// replace replaces the method of an operation by a function. The pipeline before it stays.
func replace(t *testing.T, s *Server, name string, f func(ctx context.Context, in proto.Message) (proto.Message, error)) {
	t.Helper()
	op, ok := s.operations.All[name]
	if !ok {
		t.Fatalf("%s is not served", name)
	}
	op.Handler = func(_ any, ctx context.Context, decode func(any) error, chain grpc.UnaryServerInterceptor) (any, error) {
		in := op.Input.New().Interface()
		if err := decode(in); err != nil {
			return nil, err
		}
		return chain(ctx, in, &grpc.UnaryServerInfo{FullMethod: name}, func(ctx context.Context, req any) (any, error) {
			out, err := f(ctx, req.(proto.Message))
			if err != nil {
				return nil, err
			}
			return out, nil
		})
	}
}

// lax finds nothing wrong with anything.
type lax struct{}

func (lax) Validate(proto.Message, ...protovalidate.ValidationOption) error { return nil }
