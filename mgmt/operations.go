package mgmt

import (
	"context"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
)

// operation is one rpc of the API.
type operation struct {
	name string // /package.Service/Method
	surface.Operation
	of            surface.Service
	input, output protoreflect.MessageType
	routes        []surface.Route
	service       any
	handler       grpc.MethodHandler
}

// operations are all of them by name. It takes services as a gRPC server does, and
// hands requests to them within the process.
type operations struct {
	all   map[string]*operation
	chain grpc.UnaryServerInterceptor // what every request goes through first
	err   error
}

// RegisterService adds a service.
func (o *operations) RegisterService(desc *grpc.ServiceDesc, service any) {
	if o.err != nil {
		return
	}
	if o.all == nil {
		o.all = map[string]*operation{}
	}
	for _, m := range desc.Methods {
		op := &operation{name: "/" + desc.ServiceName + "/" + m.MethodName, service: service, handler: m.Handler}
		var ok bool
		if op.of, op.Operation, ok = described(desc.ServiceName, m.MethodName); !ok {
			o.err = fmt.Errorf("%s is not in the table of operations; run make proto", op.name)
			return
		}
		d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(desc.ServiceName + "." + m.MethodName))
		method, is := d.(protoreflect.MethodDescriptor)
		if err != nil || !is {
			o.err = fmt.Errorf("there is no description of %s: %w", op.name, err)
			return
		}
		if op.input, err = protoregistry.GlobalTypes.FindMessageByName(method.Input().FullName()); err == nil {
			op.output, err = protoregistry.GlobalTypes.FindMessageByName(method.Output().FullName())
		}
		if err != nil {
			o.err = fmt.Errorf("messages of %s: %w", op.name, err)
			return
		}
		for _, r := range surface.Routes() {
			if r.RPC == op.name {
				op.routes = append(op.routes, r)
			}
		}
		if len(op.routes) == 0 {
			o.err = fmt.Errorf("there is no route to %s", op.name)
			return
		}
		o.all[op.name] = op
	}
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

// Invoke hands a request to its operation. An error comes back as it is. The
// answer and the service's are the same within, so neither is to be changed.
func (o *operations) Invoke(ctx context.Context, method string, args, reply any, _ ...grpc.CallOption) error {
	op, ok := o.all[method]
	if !ok {
		return fmt.Errorf("there is no operation %s", method)
	}
	out, err := op.handler(op.service, ctx, func(in any) error { return adopt(in, args) }, o.chain)
	if err != nil {
		return err
	}
	return adopt(reply, out)
}

// NewStream is for operations that stream, of which there are none.
func (o *operations) NewStream(_ context.Context, _ *grpc.StreamDesc, method string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, fmt.Errorf("the operation %s does not stream", method)
}

// adopt makes a message that is empty have what another has, without a copy of
// what is in it.
func adopt(to, from any) error {
	t, ok := to.(proto.Message)
	f, is := from.(proto.Message)
	if !ok || !is || t.ProtoReflect().Descriptor() != f.ProtoReflect().Descriptor() {
		return fmt.Errorf("%T is not %T", from, to)
	}
	into := t.ProtoReflect()
	f.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		into.Set(field, v)
		return true
	})
	return nil
}
