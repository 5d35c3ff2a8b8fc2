package googlecaller

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// callerRequest is the body of a caller's request.
type callerRequest struct {
	Contents   []callerContent   `json:"contents"`
	System     *callerContent    `json:"systemInstruction"`
	Tools      []jsontext.Value  `json:"tools"`
	ToolConfig *callerToolConfig `json:"toolConfig"`
	Safety     []callerSafety    `json:"safetySettings"`
	Config     callerConfig      `json:"generationConfig"`
	Cached     jsontext.Value    `json:"cachedContent"`
	Tier       string            `json:"serviceTier"`
	Labels     jsontext.Value    `json:"labels"` // for bills; a hint
	Model      jsontext.Value    `json:"model"`  // the path's decides
	Extra      jsontext.Value    `json:",embed"`

	calls history
}

type callerSafety struct {
	Category  string `json:"category"`
	Threshold string `json:"threshold"`
	Method    string `json:"method"`
}

// mostContents bounds what a hostile body costs.
const mostContents = 100_000

// canonical converts the body to the canonical form.
func (c *callerRequest) canonical() (*wire.Request, error) {
	switch {
	case len(c.Contents) == 0:
		return nil, fault.Field("contents", dialect.CodeMissing, "contents is missing; send at least one content.")
	case len(c.Contents) > mostContents:
		return nil, fault.Field("contents", dialect.CodeMany, "contents has more than %d entries.", mostContents)
	case dialect.Present(c.Cached) != nil:
		return nil, CachedContent()
	}
	a := &wire.Request{Caller: wire.Gemini, IncludeUsage: true}
	for _, step := range []func(*wire.Request) error{c.system, c.contents, c.tools, c.choice, c.config, c.extra} {
		if err := step(a); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// CachedContent is the error for a request that names cached content.
func CachedContent() error {
	return fault.Field("cachedContent", "unsupported_parameter",
		"cachedContent names what is stored in the provider's account, which all callers of the gateway share. Leave it out; models cache the beginnings of prompts by themselves.")
}

// system reads systemInstruction, which becomes the first message.
func (c *callerRequest) system(a *wire.Request) error {
	if c.System == nil || len(c.System.Parts) == 0 {
		return nil
	}
	m := wire.Message{Role: wire.System}
	for j := range c.System.Parts {
		p := &c.System.Parts[j]
		at := wire.Place{Member: "systemInstruction", Field: "parts", Part: j + 1}
		if p.Text == nil || p.Thought {
			return fault.Field(at.String(), dialect.CodeValue, "%s must be a text.", at)
		}
		m.Parts = append(m.Parts, wire.Part{Text: *p.Text, At: at})
	}
	a.Messages = append(a.Messages, m)
	return nil
}

// extra keeps the members that have no canonical form.
func (c *callerRequest) extra(a *wire.Request) error {
	if tier := strings.ToLower(c.Tier); tier != "" {
		switch tier {
		case "flex", "priority":
		default:
			tier = "default"
		}
		a.Extra = append(a.Extra, wire.Field{Name: "service_tier", Value: jsontext.Value(`"` + tier + `"`)})
	}
	if c.filters() {
		a.Extra = append(a.Extra, wire.Field{Name: "safetySettings", Value: jsontext.Value("true")})
	}
	more, err := dialect.Extra(c.Extra, decisive)
	a.Extra = append(a.Extra, more...)
	return err
}

// filters reports whether the request asks for a filter. That there is none is what other providers do anyway.
func (c *callerRequest) filters() bool {
	return slices.ContainsFunc(c.Safety, func(s callerSafety) bool {
		return s.Threshold != "BLOCK_NONE" && s.Threshold != "OFF" && s.Threshold != "" && s.Threshold != "HARM_BLOCK_THRESHOLD_UNSPECIFIED"
	})
}

// decisive reports whether the gateway acts on a member.
func decisive(name string) bool {
	switch name {
	case "contents", "systeminstruction", "tools", "toolconfig", "safetysettings", "generationconfig", "cachedcontent", "servicetier":
		return true
	}
	return false
}
