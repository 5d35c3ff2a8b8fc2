package pipeline

import (
	"strconv"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/extproc/admission"
	"github.com/modelgateway/modelgateway/extproc/message"
	"github.com/modelgateway/modelgateway/extproc/operation"
	"github.com/modelgateway/modelgateway/extproc/reply"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Headers of responses; docs/requests.md explains them.
const (
	headerRequestID     = "x-request-id"
	headerGatewayID     = "x-gateway-request-id"
	headerModelID       = "x-gateway-model-id"
	headerModelGroup    = "x-gateway-model-group"
	headerRetries       = "x-gateway-attempted-retries"
	headerFallbacks     = "x-gateway-attempted-fallbacks"
	headerCost          = "x-gateway-response-cost"
	headerDuration      = "x-gateway-response-duration-ms"
	headerTokenCount    = "x-gateway-token-count"
	headerVersion       = "x-gateway-version"
	contentTypeJSON     = "application/json"
	headerContentType   = "content-type"
	headerContentLength = "content-length"
)

// errorResponse returns the response for an error.
func (p *Pipeline) errorResponse(x *Exchange, e *fault.Error) *message.Response {
	im := &message.Response{Status: e.HTTPStatus()}
	im.Set = append(im.Set, message.Header{Name: headerContentType, Value: contentTypeJSON})
	if x == nil {
		im.Body = e.OpenAI()
	} else {
		e = x.withCallersID(e)
		at := operation.Match{Operation: x.op}
		im.Body = at.ErrorBody(e, x.Inbound.Path, string(x.ID))
		if name, value, ok := at.ErrorType(e, x.Inbound.Path); ok {
			im.Set = append(im.Set, message.Header{Name: name, Value: value})
		}
		im.Set = x.appendGuardrails(x.appendPrompt(x.appendIdentity(im.Set)))
		if len(x.Plan) > 0 && x.Tries > 0 {
			im.Set = append(im.Set, x.served()...)
		}
	}
	for _, h := range e.Headers() {
		im.Set = append(im.Set, message.Header{Name: h.Name, Value: h.Value})
	}
	im.Set = x.appendDebug(im.Set, 1)
	im.Set = admission.AppendExceeded(im.Set, e)
	return im
}

// appendIdentity adds the headers with the request's id. Anthropic's clients read it under another
// name.
func (x *Exchange) appendIdentity(dst []message.Header) []message.Header {
	dst = append(dst, message.Header{Name: headerRequestID, Value: string(x.ID)}, message.Header{Name: headerGatewayID, Value: string(x.ID)})
	if x.op != nil && x.op.Language.Name() == wire.Anthropic {
		dst = append(dst, message.Header{Name: "request-id", Value: string(x.ID)})
	}
	return dst
}

// served returns the headers that name the deployment and the earlier attempts.
func (x *Exchange) served() []message.Header {
	a, steps := x.last(), x.steps(x.lastIndex())
	return []message.Header{
		{Name: headerModelID, Value: string(a.Deployment.ID)},
		{Name: headerModelGroup, Value: string(x.Group.Asked)},
		{Name: headerRetries, Value: strconv.Itoa(steps.Retries)},
		{Name: headerFallbacks, Value: strconv.Itoa(steps.Fallbacks)},
	}
}

// answerHeaders returns the headers of a successful response.
func (p *Pipeline) answerHeaders(x *Exchange, h *reply.Head) *message.Edit {
	m := &message.Edit{Remove: h.Remove}
	n := 13 + len(h.Passed)
	if len(x.bounds) > 0 {
		n += admission.MostHeaders
	}
	m.Set = make([]message.Header, 0, n)
	m.Set = x.appendGuardrails(x.appendPrompt(x.appendIdentity(m.Set)))
	m.Set = append(m.Set, x.served()...)
	m.Set = append(m.Set, h.Passed...)
	m.Set = append(m.Set, message.Header{Name: headerVersion, Value: p.deps.Settings.Version})
	m.Set = x.appendDebug(m.Set, 0)
	if len(x.bounds) > 0 {
		m.Set = p.admission.AppendLimits(m.Set, &x.admission, x.bounds)
	}
	return m
}

func costHeader(cost money.Pico) message.Header {
	return message.Header{Name: headerCost, Value: cost.String()}
}

func durationHeader(d time.Duration) message.Header {
	return message.Header{Name: headerDuration, Value: strconv.FormatFloat(float64(d.Microseconds())/1000, 'f', -1, 64)}
}
