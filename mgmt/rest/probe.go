package rest

import (
	"context"
	"errors"
	"net/http"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// A generated handler has no name. It puts the operation and the path into the context of
// its request. So each handler gets one probe: a request that reaches no operation.

// probeKey is the context key under which a probe receives the name.
type probeKey struct{}

// probe returns the operation and the path of a handler, with a space between them.
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

// answerProbe returns the name to a probe.
func answerProbe(ctx context.Context, _ *http.Request) metadata.MD {
	if to, ok := ctx.Value(probeKey{}).(*string); ok {
		method, _ := runtime.RPCMethod(ctx)
		path, _ := runtime.HTTPPathPattern(ctx)
		*to = method + " " + path
	}
	return nil
}

// probed keeps probes from the operations.
type probed struct{ grpc.ClientConnInterface }

// Invoke passes a request on to its operation.
func (p probed) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	if ctx.Value(probeKey{}) != nil {
		return errors.New("this request is a probe")
	}
	return p.ClientConnInterface.Invoke(ctx, method, args, reply, opts...)
}

// nowhere discards a response.
type nowhere struct{}

// Header is of no use.
func (nowhere) Header() http.Header { return http.Header{} }

// Write writes nothing.
func (nowhere) Write(p []byte) (int, error) { return len(p), nil }

// WriteHeader writes nothing.
func (nowhere) WriteHeader(int) {}
