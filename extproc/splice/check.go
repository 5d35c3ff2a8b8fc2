package splice

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// The limits that Scan checks.
const (
	MaxTokensLimit = 1 << 31 // larger values of max_tokens are clamped to it
	maxModel       = 256     // characters in a model name
	maxChoices     = 128
	maxTemperature = 2
	maxOptions     = 4096 // bytes of stream_options, which has two members at OpenAI
)

// check validates types and ranges of the fields that the gateway uses. null means not given,
// as at OpenAI, except for model and messages.
func (r *Request) check() error {
	if err := r.checkModel(); err != nil {
		return err
	}
	var err error
	if r.Stream, err = r.flag(Stream); err != nil {
		return err
	}
	if err := r.checkOptions(); err != nil {
		return err
	}
	for _, f := range [...]Field{MaxTokens, MaxCompletionTokens, MaxOutputTokens} {
		v, err := r.whole(f)
		if err != nil {
			return err
		}
		r.MaxTokens = max(r.MaxTokens, v)
	}
	if n, err := r.whole(N); err != nil {
		return err
	} else if n > maxChoices {
		return wrongValue(N, "an integer from 1 to 128")
	} else if n > 0 {
		r.N = n
	}
	if err := r.ranged(Temperature, maxTemperature, "a number from 0 to 2"); err != nil {
		return err
	}
	if err := r.ranged(TopP, 1, "a number from 0 to 1"); err != nil {
		return err
	}
	return r.checkTools()
}

func (r *Request) checkMessages() error {
	raw := r.Raw(Messages)
	switch {
	case raw == nil:
		return missing(Messages)
	case raw[0] != '[':
		return wrongType(Messages, "an array of objects")
	case r.MessageCount < 0:
		return wrongType(Messages, "an array of objects; one of its elements is something else")
	case r.MessageCount == 0:
		return wrongValue(Messages, "an array with at least one message")
	}
	return nil
}

// checkInputs checks a field with one or more inputs, and counts them.
func (r *Request) checkInputs(f Field) error {
	const want = "a text, or an array with at least one element"
	raw := r.Raw(f)
	switch {
	case raw == nil:
		return missing(f)
	case len(raw) == len(`""`) && raw[0] == '"':
		return wrongValue(f, want+"; it is empty")
	case raw[0] == '"':
		r.Inputs = 1
		return nil
	case raw[0] != '[':
		return wrongType(f, want)
	}
	s := scanner{b: raw}
	w := s.elements(0)
	kind := byte(0)
	for w.next() {
		if kind == 0 {
			kind = raw[w.at]
		}
		w.at = s.value(w.at)
	}
	switch {
	case w.n == 0:
		return wrongValue(f, want+"; it is empty")
	case kind == '-' || kind-'0' <= 9: // tokens
		w.n = 1
	case w.n > maxInputs:
		return wrongValue(f, "an array of at most 50000 elements")
	}
	r.Inputs = w.n
	return nil
}

func (r *Request) checkModel() error {
	raw := r.Raw(Model)
	switch {
	case r.PathModel != "":
		r.Model = r.PathModel
		return r.checkName()
	case raw == nil && r.NoModel:
		r.Model = ""
		return nil
	case raw == nil:
		return missing(Model)
	case raw[0] != '"':
		return wrongType(Model, "a string")
	}
	// A character has at most 12 bytes here: two escapes of a surrogate pair.
	if raw = raw[1 : len(raw)-1]; len(raw) > 12*maxModel {
		return wrongValue(Model, "a name of at most 256 characters")
	}
	if bytes.IndexByte(raw, '\\') >= 0 {
		raw = appendUnescaped(nil, raw)
	}
	if string(raw) != r.Model { // otherwise the string of the previous request is reused
		r.Model = string(raw)
	}
	return r.checkName()
}

// RequireModel returns the error of a scan for a body without a model, if NoModel let it pass.
func (r *Request) RequireModel() error {
	if r.Model == "" {
		return missing(Model)
	}
	return nil
}

// checkName checks the model's name.
func (r *Request) checkName() error {
	if r.Model == "" {
		return wrongValue(Model, "the name of a model; it is empty")
	}
	if utf8.RuneCountInString(r.Model) > maxModel {
		return wrongValue(Model, "a name of at most 256 characters")
	}
	for _, c := range r.Model {
		if unicode.IsControl(c) {
			return wrongValue(Model, "a name without control characters")
		}
	}
	return nil
}

// checkOptions reads stream_options. It does not require stream, because the provider decides
// about that.
func (r *Request) checkOptions() error {
	raw := r.Raw(StreamOptions)
	if raw == nil || raw[0] == 'n' {
		return nil
	}
	if raw[0] != '{' {
		return wrongType(StreamOptions, "an object")
	}
	if len(raw) > maxOptions { // it is read a second time below
		return wrongValue(StreamOptions, "an object of at most 4096 bytes")
	}
	const name = "include_usage"
	const param = "stream_options." + name
	off := int(r.members[StreamOptions].off)
	s := scanner{b: raw}
	w := s.members(0)
	for w.next() {
		at := w.at
		w.at = s.value(at)
		if string(w.name) == name {
			if !r.usage.Empty() {
				return fault.Field(param, "duplicate_parameter", "The field %q occurs twice. Send it once.", param)
			}
			r.usage = Span{off + at, off + w.at}
			switch raw[at] {
			case 't':
				r.IncludeUsage = true
			case 'f', 'n':
			default:
				return fault.Field(param, "invalid_type", "The field %q must be true or false.", param)
			}
			continue
		}
		if len(w.name) <= longest && !lower(w.name) {
			if string(fold(nil, w.name)) == name {
				return fault.Field(param, "duplicate_parameter", "The field %q is written in another letter case. Write it in lower case.", param)
			}
		}
	}
	return nil
}

func (r *Request) checkTools() error {
	raw := r.Raw(Tools)
	if raw == nil || raw[0] == 'n' {
		return nil
	}
	if raw[0] != '[' {
		return wrongType(Tools, "an array")
	}
	r.Tools = len(bytes.TrimLeft(raw[1:], " \t\r\n")) > 1
	return nil
}

// flag returns the value of a boolean field, false if it is null or missing.
func (r *Request) flag(f Field) (bool, error) {
	raw := r.Raw(f)
	if raw == nil {
		return false, nil
	}
	switch raw[0] {
	case 't':
		return true, nil
	case 'f', 'n':
		return false, nil
	}
	return false, wrongType(f, "true or false")
}

// whole returns the value of an integer field that must be at least 1, clamped to
// MaxTokensLimit; 0 if it is null or missing.
func (r *Request) whole(f Field) (int64, error) {
	raw := r.Raw(f)
	if raw == nil || raw[0] == 'n' {
		return 0, nil
	}
	v, ok := integer(raw, MaxTokensLimit)
	if !ok {
		return 0, wrongType(f, "an integer")
	}
	if v < 1 {
		return 0, wrongValue(f, "an integer of at least 1")
	}
	return v, nil
}

// ranged checks for a number from 0 to high.
func (r *Request) ranged(f Field, high float64, want string) error {
	raw := r.Raw(f)
	if raw == nil || raw[0] == 'n' {
		return nil
	}
	if raw[0] != '-' && raw[0]-'0' > 9 {
		return wrongType(f, want)
	}
	if !within(raw, high) {
		return wrongValue(f, want)
	}
	return nil
}

// Text returns the value of a string field, such as prompt_id; "" if it is null or missing. The
// error is a *fault.Error that names the field.
func (r *Request) Text(f Field) (string, error) {
	raw := r.Raw(f)
	if raw == nil || raw[0] == 'n' {
		return "", nil
	}
	if raw[0] != '"' {
		return "", wrongType(f, "a string")
	}
	return string(appendUnescaped(nil, raw[1:len(raw)-1])), nil
}

// Integer returns the value of an integer field that must be at least 1, such as
// prompt_version; 0 if it is null or missing, and at most MaxTokensLimit. The error is a
// *fault.Error that names the field.
func (r *Request) Integer(f Field) (int64, error) { return r.whole(f) }
