package xds_test

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	extproc "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	types "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/modelgateway/modelgateway/envoy/contract"
)

// order is what the processor makes of a request.
type order struct {
	plan    []string          // cluster names, in order
	headers map[string]string // for attempt 1
	remove  []string          // for attempt 1
	body    string            // for attempt 1; empty: as it came
	refuse  int               // status of an immediate answer
	rewrite string            // body of later attempts; empty: as it came
	path    string            // of later attempts
	next    string            // Check: an answer whose start has this is given to the next group
}

// processor stands in for ext_proc: it does what its order says.
type processor struct {
	extproc.UnimplementedExternalProcessorServer

	mu       sync.Mutex
	order    order
	messages []string // kinds of messages of downstream streams
	ids      []string // of the requests
	upstream []map[string]string
}

func (p *processor) set(o order) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.order, p.messages, p.ids, p.upstream = o, nil, nil, nil
}

func (p *processor) saw() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.messages...)
}

// Process serves one stream of one filter.
func (p *processor) Process(s extproc.ExternalProcessor_ProcessServer) error {
	md, _ := metadata.FromIncomingContext(s.Context())
	role := strings.Join(md.Get(contract.RoleKey), ",")
	inPieces := role == contract.RolePieces
	if inPieces {
		role = ""
	}
	var whole []byte  // of a body in pieces, so far
	released := false // the answer's headers
	for {
		m, err := s.Recv()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if inPieces && (m.GetRequestHeaders() != nil || m.GetRequestBody() != nil) {
			body := m.GetRequestBody()
			whole = append(whole, body.GetBody()...)
			if body != nil && !body.GetEndOfStream() {
				continue
			}
			if body == nil {
				p.answer(role, m)
				continue
			}
			body.Body = whole
		}
		replies := p.answer(role, m)
		if inPieces && m.GetRequestBody() != nil {
			replies = pieces(replies[0], whole)
		}
		if role != "" && m.GetResponseBody() != nil {
			if released {
				replies = replies[1:]
			}
			released = true
		}
		for _, reply := range replies {
			if err := s.Send(reply); err != nil {
				return err
			}
		}
	}
}

// pieces turns the answer to a whole body into those to one that came in pieces.
func pieces(r *extproc.ProcessingResponse, came []byte) []*extproc.ProcessingResponse {
	if r.GetImmediateResponse() != nil {
		return one(r)
	}
	common := r.GetRequestBody().GetResponse()
	body := came
	if m := common.GetBodyMutation(); m != nil {
		body, common.BodyMutation = m.GetBody(), nil
	}
	out := []*extproc.ProcessingResponse{{
		DynamicMetadata: r.GetDynamicMetadata(),
		Response:        &extproc.ProcessingResponse_RequestHeaders{RequestHeaders: &extproc.HeadersResponse{Response: common}},
	}}
	for len(body) > 0 {
		n := min(len(body), 64<<10)
		out = append(out, &extproc.ProcessingResponse{Response: &extproc.ProcessingResponse_RequestBody{RequestBody: &extproc.BodyResponse{
			Response: &extproc.CommonResponse{BodyMutation: &extproc.BodyMutation{Mutation: &extproc.BodyMutation_StreamedResponse{
				StreamedResponse: &extproc.StreamedBodyResponse{Body: body[:n], EndOfStream: n == len(body)},
			}}},
		}}})
		body = body[n:]
	}
	return out
}

func (p *processor) answer(role string, m *extproc.ProcessingRequest) []*extproc.ProcessingResponse {
	p.mu.Lock()
	defer p.mu.Unlock()
	attributes := map[string]string{}
	for _, s := range m.GetAttributes() {
		for name, v := range s.GetFields() {
			attributes[name] = v.GetStringValue()
			if v.GetStringValue() == "" {
				attributes[name] = strconv.Itoa(int(v.GetNumberValue()))
			}
		}
	}
	switch role {
	case "":
	default:
		return p.upstreamAnswer(role, m, attributes)
	}
	switch m.GetRequest().(type) {
	case *extproc.ProcessingRequest_RequestHeaders:
		p.messages = append(p.messages, "request_headers")
		for _, h := range m.GetRequestHeaders().GetHeaders().GetHeaders() {
			if h.GetKey() == "x-request-id" {
				p.ids = append(p.ids, string(h.GetRawValue()))
			}
		}
		return one(&extproc.ProcessingResponse{Response: &extproc.ProcessingResponse_RequestHeaders{RequestHeaders: &extproc.HeadersResponse{}}})
	case *extproc.ProcessingRequest_RequestBody:
		p.messages = append(p.messages, "request_body")
		return []*extproc.ProcessingResponse{p.admit()}
	case *extproc.ProcessingRequest_ResponseHeaders:
		p.messages = append(p.messages, "response_headers")
		return one(&extproc.ProcessingResponse{Response: &extproc.ProcessingResponse_ResponseHeaders{ResponseHeaders: &extproc.HeadersResponse{}}})
	case *extproc.ProcessingRequest_ResponseBody:
		return one(&extproc.ProcessingResponse{Response: &extproc.ProcessingResponse_ResponseBody{ResponseBody: &extproc.BodyResponse{}}})
	}
	return nil
}

func (p *processor) admit() *extproc.ProcessingResponse {
	o := p.order
	if o.refuse != 0 {
		return &extproc.ProcessingResponse{Response: &extproc.ProcessingResponse_ImmediateResponse{ImmediateResponse: &extproc.ImmediateResponse{
			Status:  &types.HttpStatus{Code: types.StatusCode(o.refuse)},
			Body:    []byte(`{"error":{"message":"ours"}}`),
			Headers: mutation(map[string]string{"content-type": "application/json", "x-ours": "yes"}),
		}}}
	}
	common := &extproc.CommonResponse{ClearRouteCache: true, HeaderMutation: mutation(o.headers)}
	common.HeaderMutation.RemoveHeaders = o.remove
	if o.body != "" {
		common.HeaderMutation.SetHeaders = append(common.HeaderMutation.SetHeaders, header("content-length", strconv.Itoa(len(o.body))))
		common.BodyMutation = &extproc.BodyMutation{Mutation: &extproc.BodyMutation_Body{Body: []byte(o.body)}}
	}
	r := &extproc.ProcessingResponse{Response: &extproc.ProcessingResponse_RequestBody{RequestBody: &extproc.BodyResponse{Response: common}}}
	if o.plan == nil {
		return r
	}
	var groups []any
	for i, name := range o.plan {
		groups = append(groups, map[string]any{
			"name": strconv.Itoa(i), "clusters": []any{map[string]any{"cluster_name": name, "weight": 1}},
		})
	}
	r.DynamicMetadata = metadataOf(map[string]any{
		contract.MetadataPlan: map[string]any{contract.MetadataPlanGroups: groups},
	})
	return r
}

func metadataOf(v map[string]any) *structpb.Struct {
	s, err := structpb.NewStruct(v)
	if err != nil {
		panic(err)
	}
	return s
}

func (p *processor) upstreamAnswer(role string, m *extproc.ProcessingRequest, attributes map[string]string) []*extproc.ProcessingResponse {
	switch m.GetRequest().(type) {
	case *extproc.ProcessingRequest_RequestHeaders:
		attributes["role"] = role
		p.upstream = append(p.upstream, attributes)
		common := &extproc.CommonResponse{HeaderMutation: mutation(map[string]string{"authorization": "Bearer of " + attributes[contract.AttrCluster]})}
		if p.order.path != "" {
			common.HeaderMutation.SetHeaders = append(common.HeaderMutation.SetHeaders, header(":path", p.order.path))
		}
		if p.order.rewrite != "" {
			common.Status = extproc.CommonResponse_CONTINUE_AND_REPLACE
			common.BodyMutation = &extproc.BodyMutation{Mutation: &extproc.BodyMutation_Body{Body: []byte(p.order.rewrite)}}
			common.HeaderMutation.SetHeaders = append(common.HeaderMutation.SetHeaders, header("content-length", strconv.Itoa(len(p.order.rewrite))))
		}
		reply := &extproc.ProcessingResponse{Response: &extproc.ProcessingResponse_RequestHeaders{RequestHeaders: &extproc.HeadersResponse{Response: common}}}
		if p.order.rewrite != "" {
			reply.DynamicMetadata = metadataOf(map[string]any{contract.MetadataRequest: map[string]any{"content-length": strconv.Itoa(len(p.order.rewrite))}})
		}
		return one(reply)
	case *extproc.ProcessingRequest_ResponseHeaders:
		if m.GetResponseHeaders().GetEndOfStream() {
			return one(&extproc.ProcessingResponse{Response: &extproc.ProcessingResponse_ResponseHeaders{ResponseHeaders: &extproc.HeadersResponse{}}})
		}
		return nil // wait for the body
	case *extproc.ProcessingRequest_ResponseBody:
		common := &extproc.CommonResponse{}
		if p.order.next != "" && strings.Contains(string(m.GetResponseBody().GetBody()), p.order.next) {
			common.HeaderMutation = mutation(map[string]string{":status": strconv.Itoa(contract.StatusNext)})
		}
		return []*extproc.ProcessingResponse{
			{Response: &extproc.ProcessingResponse_ResponseHeaders{ResponseHeaders: &extproc.HeadersResponse{Response: common}}},
			{Response: &extproc.ProcessingResponse_ResponseBody{ResponseBody: &extproc.BodyResponse{}}},
		}
	}
	return nil
}

func one(r *extproc.ProcessingResponse) []*extproc.ProcessingResponse {
	return []*extproc.ProcessingResponse{r}
}

func mutation(values map[string]string) *extproc.HeaderMutation {
	out := &extproc.HeaderMutation{}
	for name, value := range values {
		out.SetHeaders = append(out.SetHeaders, header(name, value))
	}
	return out
}

func header(name, value string) *core.HeaderValueOption {
	return &core.HeaderValueOption{
		Header:       &core.HeaderValue{Key: name, RawValue: []byte(value)},
		AppendAction: core.HeaderValueOption_OVERWRITE_IF_EXISTS_OR_ADD,
	}
}
