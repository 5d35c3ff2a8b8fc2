package operation

import (
	"context"
	"errors"
	"fmt"
	"path"

	"buf.build/go/protovalidate"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
)

// Operation is one rpc of the API.
type Operation struct {
	RPC string // /package.Service/Method
	surface.Operation
	Service       surface.Service
	Input, Output protoreflect.MessageType
	Routes        []surface.Route
	Handler       grpc.MethodHandler
	impl          any // the service's implementation
}

// Table has all operations by name, and runs them.
type Table struct {
	Config
	All   map[string]*Operation
	Rules protovalidate.Validator // of the fields of requests
	err   error
}

// Config is what operations need. All of it is required.
type Config struct {
	State  Changes
	Sealer Sealer
	// Complete adds to a response what is not in the agreed state.
	Complete func(ctx context.Context, response proto.Message) error
	// Read is called after a request that changes nothing.
	Read func(ctx context.Context, c *Call)
}

// New returns the operations of the services that register adds.
func New(cfg Config, register func(grpc.ServiceRegistrar)) (*Table, error) {
	rules, err := protovalidate.New()
	if err != nil {
		return nil, err
	}
	o := &Table{Config: cfg, All: map[string]*Operation{}, Rules: rules}
	register(o)
	return o, o.err
}

// RegisterService adds a service, as a gRPC server does.
func (o *Table) RegisterService(desc *grpc.ServiceDesc, service any) {
	for _, m := range desc.Methods {
		op, err := newOperation("/"+desc.ServiceName+"/"+m.MethodName, protoreflect.FullName(desc.ServiceName))
		if err != nil {
			o.err = errors.Join(o.err, err)
			continue
		}
		op.impl, op.Handler = service, m.Handler
		o.All[op.RPC] = op
	}
}

// newOperation describes a method of a service by its protos and by the table of
// operations.
func newOperation(name string, service protoreflect.FullName) (*Operation, error) {
	op, method := &Operation{RPC: name}, protoreflect.Name(path.Base(name))
	var ok bool
	if op.Service, op.Operation, ok = described(string(service), string(method)); !ok {
		return nil, fmt.Errorf("%s is not in the table of operations; run make proto", name)
	}
	d, err := protoregistry.GlobalFiles.FindDescriptorByName(service.Append(method))
	m, is := d.(protoreflect.MethodDescriptor)
	if err != nil || !is {
		return nil, fmt.Errorf("there is no description of %s: %w", name, err)
	}
	if op.Input, err = protoregistry.GlobalTypes.FindMessageByName(m.Input().FullName()); err == nil {
		op.Output, err = protoregistry.GlobalTypes.FindMessageByName(m.Output().FullName())
	}
	if err != nil {
		return nil, fmt.Errorf("messages of %s: %w", name, err)
	}
	for _, r := range surface.Routes() {
		if r.RPC == name {
			op.Routes = append(op.Routes, r)
		}
	}
	if len(op.Routes) == 0 {
		return nil, fmt.Errorf("there is no route to %s", name)
	}
	return op, nil
}

// described returns the rows of a service and of one of its methods.
func described(service, method string) (surface.Service, surface.Operation, bool) {
	for _, s := range surface.Services() {
		for _, op := range s.Operations {
			if s.Name == service && op.Name == method {
				return s, op, true
			}
		}
	}
	return surface.Service{}, surface.Operation{}, false
}

// Invoke runs the operation of a request. It returns errors unchanged. The response shares
// its fields with the service's response, so nobody may change either.
func (o *Table) Invoke(ctx context.Context, method string, args, reply any, _ ...grpc.CallOption) error {
	op, ok := o.All[method]
	if !ok {
		return fmt.Errorf("there is no operation %s", method)
	}
	out, err := op.Handler(op.impl, ctx, func(in any) error { return adopt(in, args) }, o.Run)
	if err != nil {
		return err
	}
	return adopt(reply, out)
}

// NewStream returns an error: no operation streams.
func (o *Table) NewStream(_ context.Context, _ *grpc.StreamDesc, method string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, fmt.Errorf("the operation %s does not stream", method)
}

// adopt gives an empty message the fields of another without copying them.
func adopt(to, from any) error {
	t, ok := to.(proto.Message)
	source, is := from.(proto.Message)
	if !ok || !is || t.ProtoReflect().Descriptor() != source.ProtoReflect().Descriptor() {
		return fmt.Errorf("%T is not %T", from, to)
	}
	into := t.ProtoReflect()
	source.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		into.Set(f, v)
		return true
	})
	return nil
}
