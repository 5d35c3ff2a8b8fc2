package anthropic

import (
	"encoding/base64"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// callerBlock is a content block of a request, of any type.
type callerBlock struct {
	callerBlockBody

	raw jsontext.Value // the whole block, if the canonical form has no kind for it
}

type callerBlockBody struct {
	Type      string         `json:"type"`
	Text      *string        `json:"text"`
	Source    *callerSource  `json:"source"`
	Title     string         `json:"title"`
	Context   string         `json:"context"`
	Citations jsontext.Value `json:"citations"`
	Thinking  string         `json:"thinking"`
	Signature string         `json:"signature"`
	Data      string         `json:"data"`
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Input     jsontext.Value `json:"input"`
	ToolUseID string         `json:"tool_use_id"`
	Content   jsontext.Value `json:"content"` // read when the block's type is known
	IsError   bool           `json:"is_error"`
	Cache     jsontext.Value `json:"cache_control"`
}

// callerSource is where an image or a document is: an object. The source of a search result is
// a text, and is not read.
type callerSource struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
	URL       string `json:"url"`
	FileID    string `json:"file_id"`

	plain bool // it is a text
}

// UnmarshalJSONFrom reads an object or a string.
func (s *callerSource) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '"' {
		s.plain = true
		return dec.SkipValue()
	}
	type object callerSource
	return json.UnmarshalDecode(dec, (*object)(s))
}

// native reports whether the canonical form has no kind for the block: servers' tools, search
// results, documents made of blocks, and types that came later.
func (b *callerBlock) native() bool {
	switch b.Type {
	case "", "text", "image", "thinking", "redacted_thinking", "tool_use", "tool_result":
		return false
	case "document":
		return b.Source != nil && b.Source.Type == "content"
	}
	return true
}

// textOnly reads a block where only text may be.
func (b *callerBlock) textOnly(at wire.Place) (wire.Part, error) {
	if b.Type != "text" {
		param := at.String() + ".type"
		return wire.Part{}, fault.Field(param, dialect.CodeValue, "%s must be text.", param)
	}
	return b.part(wire.System, at)
}

// part converts the block. role is that of its message, or wire.ToolRole for a block of a tool's
// result.
func (b *callerBlock) part(role wire.Role, at wire.Place) (wire.Part, error) {
	out := wire.Part{Cache: dialect.Present(b.Cache), At: at}
	missing := func(name string) error {
		param := at.String() + name
		return fault.Field(param, dialect.CodeMissing, "%s is missing.", param)
	}
	switch {
	case out.Cache != nil && out.Cache.Kind() != '{':
		param := at.String() + ".cache_control"
		return out, fault.Field(param, dialect.CodeType, "%s must be an object.", param)
	case b.Type == "":
		return out, missing(".type")
	case !b.fits(role):
		param := at.String() + ".type"
		return out, fault.Field(param, dialect.CodeValue, "%s: a block of type %s cannot be in a message of this role.", param, fault.Quote(b.Type))
	case b.raw != nil:
		out.Kind, out.Native = wire.NativePart, &wire.Native{Language: wire.Anthropic, Type: b.Type, Raw: b.raw}
		return out, nil
	}
	var err error
	switch b.Type {
	case "text":
		if b.Text == nil {
			return out, missing(".text")
		}
		out.Text, out.Citations = *b.Text, ownCitations(b.Citations)
	case "image", "document":
		err = b.media(&out)
	case "thinking":
		out.Kind, out.Text, out.Signature = wire.ThinkingPart, b.Thinking, b.Signature
	case "redacted_thinking":
		if b.Data == "" {
			return out, missing(".data")
		}
		out.Kind, out.Signature = wire.RedactedPart, b.Data
	case "tool_use":
		out.Kind = wire.ToolCallPart
		out.Call, err = b.call(at)
	case "tool_result":
		if b.ToolUseID == "" {
			return out, missing(".tool_use_id")
		}
		out.Kind = wire.ToolResultPart
		out.Result, err = b.result(at)
	}
	return out, err
}

// fits reports whether the block may be in a message of the role. Types that are not understood
// may be anywhere: their provider knows.
func (b *callerBlock) fits(role wire.Role) bool {
	var roles []wire.Role
	switch b.Type {
	case "image", "document":
		roles = []wire.Role{wire.User, wire.ToolRole}
	case "tool_result":
		roles = []wire.Role{wire.User}
	case "thinking", "redacted_thinking", "tool_use":
		roles = []wire.Role{wire.Assistant}
	default:
		return role != wire.System || b.Type == "text"
	}
	return slices.Contains(roles, role)
}

// call reads a tool call. Its input is an object here and a text in the canonical form.
func (b *callerBlock) call(at wire.Place) (*wire.ToolCall, error) {
	input := dialect.Present(b.Input)
	for _, m := range []struct {
		name  string
		given bool
	}{{".id", b.ID != ""}, {".name", b.Name != ""}, {".input", input != nil}} {
		if !m.given {
			return nil, fault.Field(at.String()+m.name, dialect.CodeMissing, "%s%s is missing.", at, m.name)
		}
	}
	if input.Kind() != '{' {
		return nil, fault.Field(at.String()+".input", dialect.CodeType, "%s.input must be an object.", at)
	}
	if err := input.Compact(); err != nil {
		return nil, err
	}
	return &wire.ToolCall{ID: callerID(b.ID), Name: b.Name, Arguments: string(input)}, nil
}

// media reads an image or a document.
func (b *callerBlock) media(out *wire.Part) error {
	param := out.At.String() + ".source"
	s := b.Source
	if s == nil || s.plain {
		return fault.Field(param, dialect.CodeMissing, "%s is missing; it must be an object with a type.", param)
	}
	m := &wire.Media{}
	missing := ""
	switch {
	case s.Type == "base64":
		m.Data, m.Type = s.Data, s.MediaType
		if missing = ".data"; m.Data != "" && m.Type == "" {
			missing = ".media_type"
		}
	case s.Type == "url":
		if missing = ".url"; s.URL != "" {
			address, ok := dialect.ImageAddress(s.URL)
			if !ok {
				return fault.Field(param+".url", dialect.CodeValue, "%s.url must be an https or http address.", param)
			}
			m = address
		}
	case s.Type == "file":
		m.ID, missing = s.FileID, ".file_id"
	case s.Type == "text" && b.Type == "document":
		m.Data, m.Type, missing = base64.StdEncoding.EncodeToString([]byte(s.Data)), "text/plain", ".data"
	default:
		return fault.Field(param+".type", dialect.CodeValue, "%s.type must be base64, url or file, or text for a document.", param)
	}
	if m.Data == "" && m.URL == "" && m.ID == "" || m.Data != "" && m.Type == "" {
		return fault.Field(param+missing, dialect.CodeMissing, "%s%s is missing.", param, missing)
	}
	out.Kind, out.Media = wire.ImagePart, m
	if b.Type == "document" {
		out.Kind, m.Name, m.About, m.Cite = wire.FilePart, b.Title, b.Context, b.cites()
	}
	return nil
}

// cites reports whether a document is to be cited.
func (b *callerBlock) cites() bool {
	var in struct {
		Enabled bool `json:"enabled"`
	}
	return b.Citations != nil && json.Unmarshal(b.Citations, &in) == nil && in.Enabled
}

// ownCitations returns the citations of a text that Anthropic made; nil for none. Those that the
// gateway made for another provider have no proof, and Anthropic rejects them.
func ownCitations(raw jsontext.Value) jsontext.Value {
	var list []jsontext.Value
	if dialect.Present(raw) == nil || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	own := slices.DeleteFunc(list, func(v jsontext.Value) bool {
		var c webCitation
		return json.Unmarshal(v, &c) != nil || c.Type == webLocation && c.Index == ""
	})
	if len(own) == 0 {
		return nil
	}
	out, err := json.Marshal(own)
	if err != nil {
		return nil
	}
	return out
}
