package responses

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// items writes the messages as items.
func (b *builder) items() error {
	b.out.Input.items = make([]item, 0, len(b.in.Messages))
	custom := map[string]bool{} // ids of calls of custom tools: their results have a type of their own
	for i := range b.in.Messages {
		m := &b.in.Messages[i]
		var err error
		switch m.Role {
		case wire.Assistant:
			err = b.assistant(m, i, custom)
		case wire.ToolRole, wire.System, wire.Developer, wire.User:
			err = b.turn(m, i, custom)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// add appends an item.
func (b *builder) add(one item) { b.out.Input.items = append(b.out.Input.items, one) }

// assistant writes the items of a turn of the assistant, in the order of its parts.
func (b *builder) assistant(m *wire.Message, i int, custom map[string]bool) error {
	said := []part(nil)
	flush := func() {
		switch {
		case len(said) == 1 && said[0].Text != nil:
			b.add(item{Type: typeMessage, Role: "assistant", Content: content{text: said[0].Text}})
		case len(said) > 0:
			// With parts of its own, the message has to look like one that the provider made.
			b.add(item{Type: typeMessage, ID: fmt.Sprintf("msg_%d", len(b.out.Input.items)), Role: "assistant", Status: "completed", Content: content{list: said}})
		}
		said = nil
	}
	for j := range m.Parts {
		p := &m.Parts[j]
		switch p.Kind {
		case wire.TextPart:
			if p.Text != "" {
				none := jsontext.Value("[]")
				said = append(said, part{Type: "output_text", Text: &p.Text, Annotations: &none, Logprobs: &none})
			}
		case wire.RefusalPart:
			said = append(said, part{Type: "refusal", Refusal: p.Text})
		case wire.ThinkingPart, wire.RedactedPart:
			// Another account cannot decrypt it, and its provider rejects what it cannot decrypt.
			foreign := p.Maker != "" && p.Maker != b.target.Deployment
			if one, ok := ownReasoning(p); ok && !foreign {
				flush()
				b.add(one)
			}
		case wire.ToolCallPart:
			flush()
			c := p.Call
			one := item{Type: typeCall, CallID: shortened(c.ID, "call_"), Name: c.Name, Arguments: &c.Arguments}
			if c.Custom {
				custom[c.ID] = true
				one.Type, one.Arguments, one.Input = typeCustomCall, nil, &c.Arguments
			}
			b.add(one)
		case wire.ImagePart, wire.AudioPart, wire.FilePart, wire.ToolResultPart, wire.NativePart:
			return driver.Unsendable(placeOf(p, i), "this kind of content of the assistant", vendor)
		}
	}
	flush()
	return nil
}

// ownReasoning writes reasoning that a provider of this language has encrypted; not ok for
// that of others, which the provider cannot read.
func ownReasoning(p *wire.Part) (out item, ok bool) {
	id, encrypted, ok := readProof(p.Signature)
	if !ok {
		return out, false
	}
	out = item{Type: typeReasoning, ID: id, Encrypted: encrypted, Summary: []textItem{}}
	if p.Text != "" {
		out.Summary = append(out.Summary, textItem{"summary_text", p.Text})
	}
	return out, true
}

// turn writes the results of calls, as items of their own, and what else is in a message.
func (b *builder) turn(m *wire.Message, i int, custom map[string]bool) error {
	rest := make([]wire.Part, 0, len(m.Parts))
	for j := range m.Parts {
		p := &m.Parts[j]
		if p.Kind != wire.ToolResultPart {
			rest = append(rest, *p)
			continue
		}
		one := item{Type: typeResult, CallID: shortened(p.Result.CallID, "call_")}
		if custom[p.Result.CallID] {
			one.Type = typeCustomResult
		}
		var err error
		if one.Output, err = b.content(p.Result.Parts, i); err != nil {
			return err
		}
		b.add(one)
	}
	if len(rest) == 0 && len(m.Parts) > 0 {
		return nil
	}
	role := m.Role
	if role == wire.ToolRole {
		role = wire.User
	}
	said, err := b.content(rest, i)
	b.add(item{Type: typeMessage, Role: string(role), Content: said})
	return err
}

// content writes parts that the model reads: a plain string if one suffices.
func (b *builder) content(parts []wire.Part, i int) (content, error) {
	if len(parts) == 0 {
		return content{text: new(string)}, nil
	}
	if len(parts) == 1 && parts[0].Kind == wire.TextPart {
		return content{text: &parts[0].Text}, nil
	}
	out := content{list: make([]part, 0, len(parts))}
	for j := range parts {
		one, err := b.part(&parts[j], i)
		if err != nil {
			return out, err
		}
		out.list = append(out.list, one)
	}
	return out, nil
}

// part writes a part of the i-th message that the model reads.
func (b *builder) part(p *wire.Part, i int) (part, error) {
	switch p.Kind {
	case wire.TextPart, wire.RefusalPart:
		return part{Type: "input_text", Text: &p.Text}, nil
	case wire.ImagePart:
		if what := b.foreign(p.Media); what != "" {
			return part{}, driver.Unsendable(placeOf(p, i), what, vendor)
		}
		out := part{Type: "input_image", ImageURL: p.Media.URL, FileID: p.Media.ID, Detail: cmp.Or(p.Media.Detail, "auto")} // it is required
		if p.Media.Data != "" {
			out.ImageURL = p.Media.DataURL()
		}
		return out, nil
	case wire.FilePart:
		return b.file(p, i)
	case wire.NativePart:
		return part{}, driver.Unsendable(placeOf(p, i), "a block of type "+fault.Quote(p.Native.Type), vendor)
	case wire.AudioPart:
		return part{}, driver.Unsendable(placeOf(p, i), "audio", vendor)
	case wire.ToolCallPart, wire.ToolResultPart, wire.ThinkingPart, wire.RedactedPart:
	}
	return part{}, driver.Unsendable(placeOf(p, i), "content of this kind", vendor)
}

// foreign names what the API has no form for in a medium; empty if there is nothing. The
// files of a caller of another language are at another provider.
func (b *builder) foreign(m *wire.Media) string {
	switch {
	case m.ID != "" && !b.in.Caller.IsOpenAIs():
		return "a file by its id"
	case m.About != "":
		return "the context of a document"
	}
	return ""
}

// file writes a document. Plain text of other languages becomes text, because OpenAI's files are PDFs.
func (b *builder) file(p *wire.Part, i int) (part, error) {
	m := p.Media
	if what := b.foreign(m); what != "" {
		return part{}, driver.Unsendable(placeOf(p, i), what, vendor)
	}
	if !b.in.Caller.IsOpenAIs() && strings.HasPrefix(m.Type, "text/") && m.Data != "" {
		raw, err := base64.StdEncoding.DecodeString(m.Data)
		if err != nil {
			return part{}, driver.Unsendable(placeOf(p, i), "a file whose data is not base64", vendor)
		}
		plain := string(raw)
		if m.Name != "" {
			plain = m.Name + "\n\n" + plain
		}
		plain = strings.ToValidUTF8(plain, "\uFFFD")
		return part{Type: "input_text", Text: &plain}, nil
	}
	out := part{Type: "input_file", FileID: m.ID, FileData: m.DataURL(), FileURL: m.URL, Filename: m.Name}
	if out.FileData != "" && out.Filename == "" {
		out.Filename = "document.pdf" // the API requires a name
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
