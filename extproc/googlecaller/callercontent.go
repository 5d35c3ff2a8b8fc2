package googlecaller

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/contents"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/gemini"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// The roles of contents.
const (
	roleUser  = "user"
	roleModel = "model"
)

type callerContent struct {
	Role  string       `json:"role"`
	Parts []callerPart `json:"parts"`
}

// callerPart is a part of any kind. It is kept raw as well, for kinds that only Google has.
type callerPart struct {
	callerPartBody

	raw jsontext.Value
}

type callerPartBody struct {
	Text      *string         `json:"text"`
	Thought   bool            `json:"thought"`
	Signature string          `json:"thoughtSignature"`
	Inline    *callerBlob     `json:"inlineData"`
	File      *callerFile     `json:"fileData"`
	Call      *callerCall     `json:"functionCall"`
	Response  *callerResponse `json:"functionResponse"`

	Code       jsontext.Value `json:"executableCode"`
	CodeResult jsontext.Value `json:"codeExecutionResult"`
	OwnCall    jsontext.Value `json:"toolCall"`
	OwnResult  jsontext.Value `json:"toolResponse"`
}

type callerBlob struct {
	Type string `json:"mimeType"`
	Data string `json:"data"`
	Name string `json:"displayName"`
}

type callerFile struct {
	Type string `json:"mimeType"`
	URI  string `json:"fileUri"`
	Name string `json:"displayName"`
}

type callerCall struct {
	ID   string         `json:"id"`
	Name string         `json:"name"`
	Args jsontext.Value `json:"args"`
}

type callerResponse struct {
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	Response jsontext.Value `json:"response"`
	Parts    []callerPart   `json:"parts"`
}

// UnmarshalJSONFrom reads a part.
func (p *callerPart) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &p.callerPartBody); err != nil {
		return dialect.Reject(err, dialect.Path(dec.StackPointer()))
	}
	if p.native() != "" {
		p.raw = raw.Clone()
	}
	return nil
}

// native returns the kind of a part for which the canonical form has none; empty for others. Files that
// are in Google's stores can be read by Google alone.
func (p *callerPartBody) native() string {
	switch {
	case p.Text != nil || p.Inline != nil || p.Call != nil || p.Response != nil:
		return ""
	case p.File != nil:
		if _, elsewhere := dialect.ImageAddress(p.File.URI); elsewhere && !contents.IsStored(p.File.URI) {
			return ""
		}
		return "fileData"
	case dialect.Present(p.Code) != nil:
		return "executableCode"
	case dialect.Present(p.CodeResult) != nil:
		return "codeExecutionResult"
	case dialect.Present(p.OwnCall) != nil:
		return "toolCall"
	case dialect.Present(p.OwnResult) != nil:
		return "toolResponse"
	}
	return ""
}

// history has the calls of the contents so far. Calls and their results may lack ids: the result of a
// function is then that of its first call without one.
type history struct {
	open []openCall
	own  map[string]bool // all ids that the caller has given
	made int
}

// openCall is a call that has no result yet.
type openCall struct {
	own  string // the caller's id; empty if there is none
	id   string // the canonical one
	name string
}

// contents reads contents.
func (c *callerRequest) contents(a *wire.Request) error {
	c.calls.own = map[string]bool{}
	for i := range c.Contents {
		for j := range c.Contents[i].Parts {
			if call := c.Contents[i].Parts[j].Call; call != nil && call.ID != "" {
				c.calls.own[call.ID] = true
			}
		}
	}
	for i := range c.Contents {
		m, err := c.Contents[i].canonical(i, &c.calls)
		if err != nil {
			return err
		}
		c.join(a, &m)
	}
	return nil
}

// join adds a message. The history of Google's libraries has a content for each event of a stream, so adjacent ones of
// the model are one message, whose texts are one text.
func (c *callerRequest) join(a *wire.Request, m *wire.Message) {
	n := len(a.Messages)
	if n == 0 || m.Role != wire.Assistant || a.Messages[n-1].Role != wire.Assistant {
		a.Messages = append(a.Messages, *m)
		return
	}
	last := &a.Messages[n-1]
	for i := range m.Parts {
		p := &m.Parts[i]
		end := len(last.Parts) - 1
		same := end >= 0 && last.Parts[end].Kind == p.Kind && (p.Kind == wire.TextPart || p.Kind == wire.ThinkingPart)
		switch {
		case same:
			last.Parts[end].Text += p.Text
		case p.Kind != wire.TextPart || p.Text != "":
			last.Parts = append(last.Parts, *p)
		}
	}
}

// canonical converts the i-th content. One with nothing but results of functions gets the role of a tool.
func (c *callerContent) canonical(i int, calls *history) (wire.Message, error) {
	param := fmt.Sprintf("contents[%d]", i)
	out := wire.Message{Role: wire.User}
	switch c.Role {
	case roleModel:
		out.Role = wire.Assistant
	case "", roleUser, "function":
	default:
		return out, fault.Field(param+".role", dialect.CodeValue, "%s.role must be user or model; instructions go to systemInstruction.", param)
	}
	if len(c.Parts) == 0 {
		return out, fault.Field(param+".parts", dialect.CodeMissing, "%s.parts is missing; send at least one part.", param)
	}
	results := 0
	for j := range c.Parts {
		parts, err := c.Parts[j].canonical(out.Role, wire.Place{Member: "contents", Item: i + 1, Field: "parts", Part: j + 1}, calls)
		if err != nil {
			return out, err
		}
		for k := range parts {
			if parts[k].Result != nil {
				results++
			}
		}
		out.Parts = append(out.Parts, parts...)
	}
	if results > 0 && results == len(out.Parts) {
		out.Role = wire.ToolRole
	}
	return out, nil
}

// canonical converts a part of a message with that role.
func (p *callerPart) canonical(role wire.Role, at wire.Place, calls *history) ([]wire.Part, error) {
	kind := p.native()
	switch {
	case kind != "":
		return []wire.Part{{Kind: wire.NativePart, Native: &wire.Native{Language: wire.Gemini, Type: kind, Raw: p.raw}, At: at}}, nil
	case p.Call != nil:
		return p.call(role, at, calls)
	case p.Response != nil:
		return p.response(role, at, calls)
	case p.Text != nil && p.Thought:
		return []wire.Part{{Kind: wire.ThinkingPart, Text: *p.Text, At: at}}, nil
	case p.Text != nil:
		return append(p.proof("", at), wire.Part{Text: *p.Text, At: at}), nil
	case p.Inline != nil || p.File != nil:
		one, err := p.media(at)
		return []wire.Part{one}, err
	}
	return nil, fault.Field(at.String(), dialect.CodeValue, "%s must have text, inlineData, fileData, functionCall or functionResponse.", at)
}

// proof returns the reasoning that a signature of Google's proves, for the call of that id, or for a text.
func (p *callerPart) proof(call string, at wire.Place) []wire.Part {
	if p.Signature == "" || p.Signature == gemini.NoSignature {
		return nil
	}
	return []wire.Part{{Kind: wire.RedactedPart, Signature: gemini.ProofOf(call, p.Signature), At: at}}
}

// call reads a call of a function. Its arguments are an object here and a text in the canonical form.
func (p *callerPart) call(role wire.Role, at wire.Place, calls *history) ([]wire.Part, error) {
	c, param := p.Call, at.String()+".functionCall"
	args := dialect.Present(c.Args)
	switch {
	case role != wire.Assistant:
		return nil, fault.Field(param, dialect.CodeValue, "%s can be in a content of the role model only.", param)
	case c.Name == "":
		return nil, fault.Field(param+".name", dialect.CodeMissing, "%s.name is missing.", param)
	case args == nil:
		args = jsontext.Value("{}")
	case args.Kind() != '{':
		return nil, fault.Field(param+".args", dialect.CodeType, "%s.args must be an object.", param)
	}
	if err := args.Compact(); err != nil {
		return nil, err
	}
	one := openCall{own: c.ID, id: c.ID, name: c.Name}
	sealed, isSealed := sealedID(p.Signature)
	switch {
	case isSealed:
		one.id = sealed
	case one.id == "":
		one.id = calls.next()
	}
	calls.open = append(calls.open, one)
	out := wire.Part{Kind: wire.ToolCallPart, Call: &wire.ToolCall{ID: one.id, Name: c.Name, Arguments: string(args)}, At: at}
	if isSealed {
		return []wire.Part{out}, nil
	}
	return append(p.proof(one.id, at), out), nil
}

// next makes an id for a call without one.
func (h *history) next() string {
	for {
		id := fmt.Sprintf("call_%d", h.made)
		if h.made++; !h.own[id] {
			return id
		}
	}
}

// answered returns the canonical id of the call that a response is of; not ok if there is none before it.
func (h *history) answered(r *callerResponse) (id string, ok bool) {
	for i, one := range h.open {
		same := one.name == r.Name
		if r.ID != "" && one.own != "" {
			same = one.own == r.ID
		}
		if same {
			h.open = append(h.open[:i:i], h.open[i+1:]...)
			return one.id, true
		}
	}
	return "", false
}

// response reads the result of a call.
func (p *callerPart) response(role wire.Role, at wire.Place, calls *history) ([]wire.Part, error) {
	r, param := p.Response, at.String()+".functionResponse"
	if role == wire.Assistant {
		return nil, fault.Field(param, dialect.CodeValue, "%s can be in a content of the role user only.", param)
	}
	id, ok := calls.answered(r)
	if !ok {
		return nil, fault.Field(param, dialect.CodeValue, "%s must be the result of a functionCall before it that has its id, or its name, and no result yet.", param)
	}
	out := &wire.ToolResult{CallID: id}
	text, failed, err := resultOf(r.Response)
	if err != nil {
		return nil, fault.Field(param+".response", dialect.CodeType, "%s.response must be an object.", param)
	}
	out.Error = failed
	if text != "" || len(r.Parts) == 0 {
		out.Parts = append(out.Parts, wire.Part{Text: text, At: at})
	}
	for i := range r.Parts {
		one := &r.Parts[i]
		if one.Inline == nil && one.File == nil || one.native() != "" {
			return nil, fault.Field(fmt.Sprintf("%s.parts[%d]", param, i), dialect.CodeValue, "%s.parts[%d] must have inlineData or fileData.", param, i)
		}
		part, err := one.media(at)
		if err != nil {
			return nil, err
		}
		out.Parts = append(out.Parts, part)
	}
	return []wire.Part{{Kind: wire.ToolResultPart, Result: out, At: at}}, nil
}

// resultOf returns the text of a function's response, which is an object, and whether it says that the call
// failed. An object with nothing but a text under one of the names that Google's libraries use is that text.
func resultOf(raw jsontext.Value) (text string, failed bool, err error) {
	if raw = dialect.Present(raw); raw == nil {
		return "", false, nil
	}
	var in map[string]jsontext.Value
	if err := json.Unmarshal(raw, &in); err != nil {
		return "", false, err
	}
	if len(in) == 1 {
		for _, name := range [...]string{"output", "result", "error"} {
			if v := in[name]; v.Kind() == '"' && json.Unmarshal(v, &text) == nil {
				return text, name == "error", nil
			}
		}
	}
	_, failed = in["error"]
	if err := raw.Compact(); err != nil {
		return "", false, err
	}
	return string(raw), failed && len(in) == 1, nil
}

// media reads a picture, sound or a document.
func (p *callerPart) media(at wire.Place) (wire.Part, error) {
	m := &wire.Media{}
	var kind string
	if p.Inline != nil {
		param := at.String() + ".inlineData"
		m.Data, m.Name, kind = standardBase64(p.Inline.Data), p.Inline.Name, p.Inline.Type
		switch {
		case m.Data == "":
			return wire.Part{}, fault.Field(param+".data", dialect.CodeMissing, "%s.data is missing.", param)
		case kind == "":
			return wire.Part{}, fault.Field(param+".mimeType", dialect.CodeMissing, "%s.mimeType is missing.", param)
		}
	} else {
		m.URL, m.Name, kind = p.File.URI, p.File.Name, p.File.Type
		if kind == "" {
			kind = gemini.TypeOfURL(m)
		}
	}
	kind, _, _ = strings.Cut(strings.ToLower(kind), ";")
	m.Type = strings.TrimSpace(kind)
	out := wire.Part{Kind: wire.FilePart, Media: m, At: at}
	switch {
	case strings.HasPrefix(m.Type, "image/"):
		out.Kind = wire.ImagePart
	case strings.HasPrefix(m.Type, "audio/") && m.Data != "":
		out.Kind, m.Format = wire.AudioPart, audioFormat(m.Type)
	}
	return out, nil
}

// audioFormat names the format of sound by its MIME type.
func audioFormat(kind string) string {
	switch format := strings.TrimPrefix(kind, "audio/"); format {
	case "mpeg", "mpga":
		return "mp3"
	case "x-wav", "wave", "vnd.wave":
		return "wav"
	default:
		return format
	}
}

// standardBase64 returns base64 in the alphabet that other providers take: Google takes that of URLs too.
func standardBase64(data string) string {
	if !strings.ContainsAny(data, "-_") && len(data)%4 == 0 {
		return data
	}
	data = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(data, "="))
	raw, err := base64.RawStdEncoding.DecodeString(data)
	if err != nil {
		return data
	}
	return base64.StdEncoding.EncodeToString(raw)
}
