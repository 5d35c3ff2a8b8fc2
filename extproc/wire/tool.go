package wire

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Tool is something that the model may call.
type Tool struct {
	Name        string
	Description string
	Schema      jsontext.Value // JSON schema of the arguments, an object; nil if none
	Strict      *bool
	Cache       jsontext.Value // Anthropic's cache_control object; nil if none
	Type        string         // empty for functions; else the type of a tool that only its provider knows
	Raw         jsontext.Value // the whole tool, if Type is set
	Extra       jsontext.Value // object of members without a field above, for providers of the caller's language; nil if none
}

// ChoiceMode is how free the model is in calling tools.
type ChoiceMode uint8

// The modes.
const (
	ChoiceUnset    ChoiceMode = iota // not specified
	ChoiceAuto                       // it may
	ChoiceNone                       // it must not
	ChoiceRequired                   // it must call at least one
	ChoiceNamed                      // it must call ToolChoice.Name
)

// ToolChoice is how free the model is in calling tools. The zero value is not specified.
type ToolChoice struct {
	Mode    ChoiceMode
	Name    string   // with ChoiceNamed
	Custom  bool     // Name is a tool of type custom
	Allowed []string // the only tools to choose from; nil means all
}

// Allows reports whether the model may call the function of that name.
func (c *ToolChoice) Allows(name string) bool {
	return c.Allowed == nil || slices.Contains(c.Allowed, name)
}
