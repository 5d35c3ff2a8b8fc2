package pipeline

import (
	"bytes"
	"context"
	"encoding/base64"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/extproc/admission"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/estimate"
	"github.com/modelgateway/modelgateway/extproc/inbound"
	"github.com/modelgateway/modelgateway/extproc/media"
	"github.com/modelgateway/modelgateway/extproc/message"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/tokens"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Values of headerTokenCount: who has counted.
const (
	countedByProvider = "provider"
	countedByGateway  = "estimated"
)

// Local reports whether the gateway responds to the admitted request itself.
func (x *Exchange) Local() bool { return x.local }

// Respond ends a Local request with the gateway's own response: the number of tokens of its input.
// It counts as a request, costs nothing, and has no attempt, so the journal has no event of it.
func (p *Pipeline) Respond(ctx context.Context, x *Exchange) *message.Response {
	ask, err := x.op.Decode(x.withoutExtensions())
	if err != nil {
		return p.Reject(ctx, x, err)
	}
	prompt := prompt{model: estimate.Vocabulary(x.Group.Deployments[0])}
	n := prompt.count(p.deps.Tokens, ask)
	now := p.deps.Now()
	p.admission.Settle(&x.admission, now, admission.Used{})

	r := &message.Response{Status: 200, Body: x.countBody(n)}
	r.Set = append(x.appendIdentity(nil),
		message.Header{Name: headerContentType, Value: contentTypeJSON},
		message.Header{Name: headerTokenCount, Value: countedByGateway},
		message.Header{Name: headerModelGroup, Value: string(x.Group.Asked)},
		message.Header{Name: headerVersion, Value: p.deps.Settings.Version},
		costHeader(money.Pico(0)),
		durationHeader(now.Sub(x.Start)))
	if len(x.bounds) > 0 {
		r.Set = p.admission.AppendLimits(r.Set, &x.admission, x.bounds)
	}
	ctx = context.WithoutCancel(ctx)
	p.deps.Metrics.Local(ctx, x.Group.Name)
	p.logLocal(ctx, x, n, now)
	p.foundOnly(x, nil)
	return r
}

// countBody is a count of tokens in the caller's language.
func (x *Exchange) countBody(n int64) []byte {
	number := strconv.FormatInt(n, 10)
	if x.op.Endpoint == driver.InputTokens {
		return []byte(`{"object":"response.input_tokens","input_tokens":` + number + `}`)
	}
	return []byte(`{"input_tokens":` + number + `}`)
}

func (p *Pipeline) logLocal(ctx context.Context, x *Exchange, n int64, end time.Time) {
	p.deps.Logger.LogAttrs(ctx, slog.LevelInfo, "request answered by the gateway",
		slog.String("request_id", string(x.ID)),
		slog.String("key_alias", x.Principal.Alias),
		slog.String("model", inbound.TruncatedLabel(x.Facts.Model)),
		slog.String("call_type", x.op.CallType),
		slog.String("trace_id", x.Inbound.Trace.ID),
		slog.Int64("input_tokens", n),
		slog.Float64("duration_ms", float64(end.Sub(x.Start).Microseconds())/1000))
}

// prompt collects what a model reads.
type prompt struct {
	model string // whose vocabulary applies
	text  []byte // of everything but messages
	other int64  // tokens of what is not text
}

// perTool is the number of tokens that frame the description of a tool.
const perTool = 8

// count returns the number of tokens of a request's input.
func (c *prompt) count(counter *tokens.Counter, ask *wire.Request) int64 {
	messages := make([]tokens.Message, len(ask.Messages))
	for i := range ask.Messages {
		m := &ask.Messages[i]
		messages[i] = tokens.Message{Role: string(m.Role), Name: m.Name, Content: string(c.parts(nil, m.Parts))}
	}
	for i := range ask.Tools {
		t := &ask.Tools[i]
		c.add(t.Name, t.Description, string(splice.Plain(t.Schema)), string(splice.Plain(t.Raw)))
		c.other += perTool
	}
	c.add(ask.Format.Name, ask.Format.Description, string(splice.Plain(ask.Format.Schema)))
	total := counter.CountMessages(c.model, messages) + c.other
	if len(c.text) > 0 {
		total += counter.Count(c.model, string(c.text))
	}
	return total
}

// add adds texts that are not in messages.
func (c *prompt) add(texts ...string) {
	for _, text := range texts {
		if text != "" {
			c.text = append(append(c.text, text...), '\n')
		}
	}
}

// parts appends the text of parts of a message to dst.
func (c *prompt) parts(dst []byte, parts []wire.Part) []byte {
	for i := range parts {
		p := &parts[i]
		switch p.Kind {
		case wire.TextPart, wire.ThinkingPart, wire.RefusalPart:
			dst = append(dst, p.Text...)
		case wire.ImagePart, wire.AudioPart, wire.FilePart:
			dst = c.media(dst, p)
		case wire.ToolCallPart:
			dst = append(append(append(dst, p.Call.Name...), '\n'), p.Call.Arguments...)
		case wire.ToolResultPart:
			dst = c.parts(dst, p.Result.Parts)
		case wire.NativePart:
			dst = append(dst, splice.Plain(p.Native.Raw)...)
		case wire.RedactedPart: // nobody but its provider can read it
		}
		dst = append(dst, '\n')
	}
	return bytes.TrimRight(dst, "\n")
}

// media counts a picture, sound or a document; it appends the text of a document that is text.
func (c *prompt) media(dst []byte, p *wire.Part) []byte {
	m := p.Media
	if m == nil {
		return dst
	}
	switch {
	case p.Kind == wire.ImagePart:
		width, height, _ := media.Size(beginning(m.Data))
		c.other += estimate.Picture(c.model, m.Detail, width, height)
	case strings.HasPrefix(m.Type, "text/"):
		text, err := base64.StdEncoding.DecodeString(m.Data)
		if err != nil {
			text = []byte(m.Data)
		}
		dst = append(dst, text...)
	default:
		c.other += estimate.Document(len(m.Data))
	}
	return append(append(dst, m.Name...), m.About...)
}

// maxPictureHead bounds the beginning of a picture that is decoded, in characters of base64. The
// size of a JPEG is behind its metadata, which may have 64 KiB each.
const maxPictureHead = 256 << 10

// beginning decodes the beginning of base64; as far as it is valid.
func beginning(data string) []byte {
	data = data[:min(len(data), maxPictureHead)]
	out := make([]byte, base64.StdEncoding.DecodedLen(len(data)))
	n, _ := base64.StdEncoding.Decode(out, []byte(data))
	return out[:n]
}
