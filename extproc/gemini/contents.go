package gemini

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

type content struct {
	Role  string `json:"role,omitzero"`
	Parts []part `json:"parts"`
}

// The roles.
const (
	roleUser  = "user"
	roleModel = "model"
)

// part is a part of a content of any kind; each kind uses one of the members.
type part struct {
	Text      *string           `json:"text,omitzero"` // a pointer: a text may be empty but must be there
	Inline    *blob             `json:"inlineData,omitzero"`
	File      *fileData         `json:"fileData,omitzero"`
	Call      *functionCall     `json:"functionCall,omitzero"`
	Response  *functionResponse `json:"functionResponse,omitzero"`
	Signature string            `json:"thoughtSignature,omitzero"`

	raw   jsontext.Value // the whole part, if the canonical form has no kind for it
	order int            // of a response: the place of its call in the history
}

// MarshalJSONTo writes the part.
func (p *part) MarshalJSONTo(enc *jsontext.Encoder) error {
	if p.raw != nil {
		return enc.WriteValue(p.raw)
	}
	type plain part
	return json.MarshalEncode(enc, (*plain)(p))
}

type functionCall struct {
	ID   string         `json:"id,omitzero"`
	Name string         `json:"name"`
	Args jsontext.Value `json:"args"`
}

type functionResponse struct {
	ID       string   `json:"id,omitzero"`
	Name     string   `json:"name"`
	Response outcome  `json:"response"`
	Parts    []medium `json:"parts,omitzero"`
}

// outcome is the result of a call. The text stays one, also if it is JSON: in an object the API would
// round its numbers.
type outcome struct {
	Output *string `json:"output,omitzero"`
	Error  *string `json:"error,omitzero"`
}

// medium is a part of a response to a call.
type medium struct {
	Inline *blob     `json:"inlineData,omitzero"`
	File   *fileData `json:"fileData,omitzero"`
}

// pastCall is a call of the history.
type pastCall struct {
	name  string
	order int
}

// firstTurn is the user's turn that the API requires if the caller has none.
const firstTurn = "Please continue."

// contents writes systemInstruction and contents. All system messages go to systemInstruction, tool results
// become the user's, and adjacent messages of one role are merged.
func (b *builder) contents() error {
	for i := range b.in.Messages {
		m := &b.in.Messages[i]
		parts, err := b.parts(m, i)
		if err != nil {
			return err
		}
		switch m.Role {
		case wire.System, wire.Developer:
			err = b.instruct(m, parts, i)
		case wire.User, wire.ToolRole:
			b.say(roleUser, parts)
		case wire.Assistant:
			b.say(roleModel, parts)
		}
		if err != nil {
			return err
		}
	}
	if !b.part && (len(b.out.Contents) == 0 || b.out.Contents[0].Role != roleUser) {
		first := content{Role: roleUser, Parts: []part{textPart(firstTurn)}}
		b.out.Contents = slices.Insert(b.out.Contents, 0, first)
	}
	if b.target.Features.SignedCalls {
		for _, c := range b.out.Contents {
			sign(c.Parts)
		}
	}
	return nil
}

// sign marks the first call of a turn as one whose signature is not known, if it has none. The
// others of a turn need none.
func sign(parts []part) {
	for i := range parts {
		if p := &parts[i]; p.Call != nil {
			p.Signature = cmp.Or(p.Signature, NoSignature)
			return
		}
	}
}

// instruct adds to the system's instruction.
func (b *builder) instruct(m *wire.Message, parts []part, i int) error {
	for _, p := range parts {
		if p.Text == nil {
			return driver.Unsendable(placeOf(&m.Parts[0], i), "a system message with more than text", vendor)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	if b.out.System == nil {
		b.out.System = &content{}
	}
	b.out.System.Parts = append(b.out.System.Parts, parts...)
	return nil
}

// say adds a turn, or adds to the last one. Responses to calls stand first, in the order of their
// calls: models without ids match them by their places.
func (b *builder) say(role string, parts []part) {
	if len(parts) == 0 {
		return
	}
	n := len(b.out.Contents)
	if n == 0 || b.out.Contents[n-1].Role != role {
		b.out.Contents = append(b.out.Contents, content{Role: role})
		n++
	}
	last := &b.out.Contents[n-1]
	last.Parts = append(last.Parts, parts...)
	slices.SortStableFunc(last.Parts, func(p, q part) int {
		if p.Response == nil || q.Response == nil {
			return rank(&p) - rank(&q)
		}
		return p.order - q.order
	})
}

// rank is 0 for responses to calls and 1 for all else.
func rank(p *part) int {
	if p.Response != nil {
		return 0
	}
	return 1
}

func textPart(text string) part { return part{Text: &text} }

// parts writes the parts of the i-th message. Reasoning is not among them: only its signatures go
// back, in the parts that they belong to, and what it stands for of the provider's own tools.
func (b *builder) parts(m *wire.Message, i int) ([]part, error) {
	signed := signaturesOf(m)
	var out []part
	lastText := -1
	for j := range m.Parts {
		p := &m.Parts[j]
		switch p.Kind {
		case wire.TextPart, wire.RefusalPart:
			if p.Text != "" {
				lastText = len(out)
				out = append(out, textPart(p.Text))
			}
		case wire.ThinkingPart, wire.RedactedPart:
			if own := readOwnPart(p.Signature); own != nil && b.target.Features.SignedCalls && !b.vertex {
				out = append(out, part{raw: own})
			}
		case wire.ToolCallPart:
			one, err := b.call(p, i)
			if err != nil {
				return nil, err
			}
			one.Signature = signed.calls[p.Call.ID]
			out = append(out, one)
		case wire.ToolResultPart:
			some, err := b.result(p, i)
			if err != nil {
				return nil, err
			}
			out = append(out, some...)
		case wire.ImagePart, wire.FilePart, wire.AudioPart:
			some, err := mediaParts(p, i)
			if err != nil {
				return nil, err
			}
			out = append(out, some...)
		case wire.NativePart:
			if p.Native.Language != wire.Gemini {
				return nil, driver.Unsendable(placeOf(p, i), "a block of type "+fault.Quote(p.Native.Type), vendor)
			}
			out = append(out, part{raw: p.Native.Raw})
		}
	}
	if lastText >= 0 {
		out[lastText].Signature = signed.text
	}
	return out, nil
}

// placeOf returns the path of a part of the i-th message.
func placeOf(p *wire.Part, i int) string {
	if at := p.At.String(); at != "" {
		return at
	}
	return fmt.Sprintf("messages[%d]", i)
}

// call writes a tool call. Its arguments are a text in the canonical form and an object here.
func (b *builder) call(p *wire.Part, i int) (part, error) {
	c := p.Call
	args := jsontext.Value(strings.TrimSpace(c.Arguments))
	if len(args) == 0 {
		args = jsontext.Value("{}")
	}
	if !args.IsValid() || args.Kind() != '{' {
		return part{}, fault.Field(placeOf(p, i), "invalid_value", "%s: the arguments of the call of tool %q are not a JSON object.", placeOf(p, i), c.Name)
	}
	b.calls[c.ID] = pastCall{c.Name, len(b.calls)}
	return part{Call: &functionCall{ID: b.id(c.ID), Name: c.Name, Args: args}}, nil
}

// id returns the id of a call for models that have ids, and nothing for others.
func (b *builder) id(id string) string {
	if b.target.Features.SignedCalls {
		return id
	}
	return ""
}

// result writes a tool's result. Models without ids take its media next to it, and others in it.
func (b *builder) result(p *wire.Part, i int) ([]part, error) {
	of, ok := b.calls[p.Result.CallID]
	if !ok {
		return nil, fault.Field(placeOf(p, i), "invalid_value", "%s: there is no call before it with the id of this result.", placeOf(p, i))
	}
	out := functionResponse{ID: b.id(p.Result.CallID), Name: of.name}
	var texts []string
	var beside []part
	for j := range p.Result.Parts {
		one := &p.Result.Parts[j]
		if one.Kind == wire.TextPart || one.Kind == wire.RefusalPart {
			texts = append(texts, one.Text)
			continue
		}
		if one.Media == nil {
			return nil, driver.Unsendable(placeOf(one, i), "content of this kind", vendor)
		}
		some, err := mediaParts(one, i)
		if err != nil {
			return nil, err
		}
		for _, m := range some {
			switch {
			case m.Text != nil:
				texts = append(texts, *m.Text)
			case b.target.Features.SignedCalls:
				out.Parts = append(out.Parts, medium{m.Inline, m.File})
			default:
				beside = append(beside, m)
			}
		}
	}
	text := strings.Join(texts, "\n")
	if p.Result.Error {
		out.Response.Error = &text
	} else {
		out.Response.Output = &text
	}
	return append([]part{{Response: &out, order: of.order}}, beside...), nil
}
