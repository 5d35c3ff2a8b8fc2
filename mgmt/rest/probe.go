package rest

import (
	"context"
	"errors"
	"net/http"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// A generated handler does not say what it handles, but to its request: it puts
// the operation and the path into the context. So each is asked once, with a
// request that reaches no operation.

// probeKey is where a request that only asks has its answer.
type probeKey struct{}

// probe returns which operation and path a handler is for, with a space between.
func probe(h runtime.HandlerFunc) (string, error) {
	var name string
	ctx := context.WithValue(context.Background(), probeKey{}, &name)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "/", http.NoBody)
	if err != nil {
		return "", err
	}
	h(nowhere{}, r, nil)
	if name == "" {
		return "", errors.New("a generated handler does not say what it handles")
	}
	return name, nil
}

// answerProbe writes down what a request has come to.
func answerProbe(ctx context.Context, _ *http.Request) metadata.MD {
	if to, ok := ctx.Value(probeKey{}).(*string); ok {
		method, _ := runtime.RPCMethod(ctx)
		path, _ := runtime.HTTPPathPattern(ctx)
		*to = method + " " + path
	}
	return nil
}

// probed keeps requests that only ask from the operations.
type probed struct{ grpc.ClientConnInterface }

// Invoke hands a request to its operation.
func (p probed) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	if ctx.Value(probeKey{}) != nil {
		return errors.New("this request asks only what handles it")
	}
	return p.ClientConnInterface.Invoke(ctx, method, args, reply, opts...)
}

// nowhere is where answers go that nobody waits for.
type nowhere struct{}

// Header is of no use.
func (nowhere) Header() http.Header { return http.Header{} }

// Write writes nothing.
func (nowhere) Write(p []byte) (int, error) { return len(p), nil }

// WriteHeader writes nothing.
func (nowhere) WriteHeader(int) {}
