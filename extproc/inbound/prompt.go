package inbound

import (
	"bytes"
	"math"
	"strconv"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// Prompt is which prompt a request names. The zero value names none.
type Prompt struct {
	ID        string // or its name
	Label     string
	Version   uint32 // 0: not specified
	Variables []byte // a JSON object; nil if there are none. It refers to the request's body
}

// The parameters that name a prompt. They may stand at the top of the body, within metadata and
// litellm_metadata, and all but the variables in headers too.
const (
	promptID        = "prompt_id"
	promptLabel     = "prompt_label"
	promptVersion   = "prompt_version"
	promptVariables = "prompt_variables"
)

// named reports whether the request names a prompt, or says which version of one it wants. Most
// do not, so this is all that they pay for.
func (r *reader) named() bool {
	const fields = 1<<splice.PromptID | 1<<splice.PromptLabel | 1<<splice.PromptVersion | 1<<splice.PromptVariables
	return r.PromptID != "" || r.PromptLabel != "" || r.PromptVersion != "" || r.facts.Present()&fields != 0 ||
		bytes.Contains(r.facts.Raw(splice.Metadata), []byte(`"prompt_`)) ||
		bytes.Contains(r.facts.Raw(splice.LitellmMetadata), []byte(`"prompt_`))
}

// readPrompt reads which prompt the request names. A request that says a parameter in two places
// must say the same in both.
func (r *reader) readPrompt() error {
	if !r.named() {
		return nil
	}
	p := &r.to.Prompt
	for _, of := range [...]struct {
		param, header string
		field         splice.Field
		to            *string
	}{
		{promptID, r.PromptID, splice.PromptID, &p.ID},
		{promptLabel, r.PromptLabel, splice.PromptLabel, &p.Label},
	} {
		text, err := r.one(of.param, of.field, quoted(of.header))
		if err != nil {
			return err
		}
		if *of.to, err = name(of.param, text); err != nil {
			return err
		}
	}
	version, err := r.one(promptVersion, splice.PromptVersion, []byte(r.PromptVersion))
	if err != nil {
		return err
	}
	if version != nil {
		n, err := strconv.ParseUint(string(version), 10, 32)
		if err != nil || n < 1 || n > math.MaxInt32 {
			return fault.Field(promptVersion, "invalid_value", "prompt_version must be an integer of at least 1; leave it out for the latest version.")
		}
		p.Version = uint32(n)
	}
	if p.Version != 0 && p.Label != "" {
		return fault.Field(promptLabel, "invalid_value", "A request must not name both prompt_version and prompt_label. Send one of them.")
	}
	p.Variables, err = r.one(promptVariables, splice.PromptVariables, nil)
	if err == nil && p.Variables != nil && p.Variables[0] != '{' {
		err = fault.Field(promptVariables, "invalid_type", "prompt_variables must be an object of the prompt's variables.")
	}
	return err
}

// one returns the only value of a parameter as JSON; nil if the request does not have it. header
// is its value in a header, as JSON.
func (r *reader) one(param string, field splice.Field, header []byte) ([]byte, error) {
	var value []byte
	for _, raw := range [...][]byte{
		header, r.facts.Raw(field), r.facts.Within(splice.Metadata, param), r.facts.Within(splice.LitellmMetadata, param),
	} {
		switch {
		case len(raw) == 0 || string(raw) == "null":
		case value == nil:
			value = raw
		case !bytes.Equal(value, raw):
			return nil, fault.Field(param, "duplicate_parameter", "The request says %s twice, and differently. Send it once.", param)
		}
	}
	return value, nil
}

// quoted returns the value of a header as JSON; nil if it is empty.
func quoted(header string) []byte {
	if header == "" {
		return nil
	}
	return splice.Quote(nil, header)
}

// name reads a name of at most maxLabel bytes. A longer one names nothing.
func name(param string, raw []byte) (string, error) {
	switch {
	case raw == nil:
		return "", nil
	case raw[0] != '"':
		return "", fault.Field(param, "invalid_type", "%s must be a string.", param)
	case len(raw) > 6*maxLabel: // a byte has at most six as an escape
		return "", fault.Field(param, "invalid_value", "%s must be at most %d bytes long.", param, maxLabel)
	}
	return string(splice.Plain(raw[1 : len(raw)-1])), nil
}
