package xds

import (
	mutation "github.com/envoyproxy/go-control-plane/envoy/config/common/mutation_rules/v3"
	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	processor "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	headers "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/header_mutation/v3"
	codec "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/upstream_codec/v3"
	hcm "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	types "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/envoy/contract"
)

// upstreamFilters returns the upstream filters of an attempt. Bare has none: its request was
// prepared before the router.
func upstreamFilters(in Input, v contract.Variant) ([]*hcm.HttpFilter, error) {
	var first *processor.ExternalProcessor
	switch v {
	case contract.Bare:
		return nil, nil
	case contract.Rewrite:
		first = upstreamProcessor(in, contract.RoleRewrite)
	case contract.Check:
		first = upstreamProcessor(in, contract.RoleCheck)
		// The response headers wait for the verdict on the first piece of the body; then
		// everything streams.
		first.ProcessingMode.ResponseHeaderMode = processor.ProcessingMode_SEND
		first.ProcessingMode.ResponseBodyMode = processor.ProcessingMode_STREAMED
		first.SendBodyWithoutWaitingForHeaderResponse = true
	}
	one, err := filter(contract.FilterProcessor, first)
	if err != nil {
		return nil, err
	}
	// Envoy removes the content-length of a replaced body, whatever the processor sets.
	// HTTP/1.1 would then use chunked encoding, which not every server supports. So the length
	// travels as metadata and is restored here.
	length, err := filter(contract.FilterHeaders, &headers.HeaderMutation{
		Mutations: &headers.Mutations{RequestMutations: []*mutation.HeaderMutation{contentLength()}},
	})
	if err != nil {
		return nil, err
	}
	last, err := filter("envoy.filters.http.upstream_codec", &codec.UpstreamCodec{})
	if err != nil {
		return nil, err
	}
	return []*hcm.HttpFilter{one, length, last}, nil
}

// upstreamProcessor calls the processor with the headers of an attempt. It does not send the
// body, which the processor has kept from the first attempt.
func upstreamProcessor(in Input, role string) *processor.ExternalProcessor {
	return &processor.ExternalProcessor{
		GrpcService: &core.GrpcService{
			TargetSpecifier: &core.GrpcService_EnvoyGrpc_{
				EnvoyGrpc: &core.GrpcService_EnvoyGrpc{ClusterName: contract.ClusterProcessor},
			},
			InitialMetadata: []*core.HeaderValue{{Key: contract.RoleKey, Value: role}},
		},
		StatusOnError:            &types.HttpStatus{Code: types.StatusCode_ServiceUnavailable},
		MessageTimeout:           durationpb.New(in.MessageTimeout),
		RequestAttributes:        contract.UpstreamAttributes(),
		AllowContentLengthHeader: true,
		EmitClientSpan:           wrapperspb.Bool(false),
		MetadataOptions: &processor.MetadataOptions{ReceivingNamespaces: &processor.MetadataOptions_MetadataNamespaces{
			Untyped: []string{contract.MetadataRequest},
		}},
		MutationRules: &mutation.HeaderMutationRules{AllowAllRouting: wrapperspb.Bool(true)},
		ProcessingMode: &processor.ProcessingMode{
			RequestHeaderMode:   processor.ProcessingMode_SEND,
			RequestBodyMode:     processor.ProcessingMode_NONE,
			RequestTrailerMode:  processor.ProcessingMode_SKIP,
			ResponseHeaderMode:  processor.ProcessingMode_SKIP,
			ResponseBodyMode:    processor.ProcessingMode_NONE,
			ResponseTrailerMode: processor.ProcessingMode_SKIP,
		},
	}
}

// contentLength sets the header from the metadata; without metadata nothing changes.
func contentLength() *mutation.HeaderMutation {
	return &mutation.HeaderMutation{Action: &mutation.HeaderMutation_Append{Append: &core.HeaderValueOption{
		Header: &core.HeaderValue{
			Key:   "content-length",
			Value: "%DYNAMIC_METADATA(" + contract.MetadataRequest + ":content-length)%",
		},
		AppendAction: core.HeaderValueOption_OVERWRITE_IF_EXISTS_OR_ADD,
	}}}
}

func filter(name string, config proto.Message) (*hcm.HttpFilter, error) {
	packed, err := pack(config)
	if err != nil {
		return nil, err
	}
	return &hcm.HttpFilter{Name: name, ConfigType: &hcm.HttpFilter_TypedConfig{TypedConfig: packed}}, nil
}

// pack wraps m in deterministic bytes, because a version is a hash of them.
func pack(m proto.Message) (*anypb.Any, error) {
	out := &anypb.Any{}
	if err := anypb.MarshalFrom(out, m, proto.MarshalOptions{Deterministic: true}); err != nil {
		return nil, &fault.Error{Op: "xds", Kind: fault.Internal, Err: err}
	}
	return out, nil
}
