package gemini

import (
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// options takes the members of a request for another endpoint than chats, one after the other. The first
// error stays. What nobody has taken at the end is rejected.
type options struct {
	o      *splice.Object
	target driver.Target
	err    error
}

// optionsOf returns the members of a request, without those that name the model and the end user.
func optionsOf(r *driver.Original, t driver.Target) *options {
	p := &options{o: r.Members(), target: t}
	for _, name := range [...]string{"model", "user", "safety_identifier"} {
		p.o.Remove(name)
	}
	return p
}

// take takes a member by the first of its names that it has; nil if it has none.
func (p *options) take(names ...string) jsontext.Value {
	var out jsontext.Value
	for _, name := range names {
		if value := p.o.Get(name); out == nil {
			out = value
		}
		p.o.Remove(name)
	}
	return out
}

// number takes a member that is a number. A field of a form is a text that says one.
func (p *options) number(names ...string) jsontext.Value {
	raw := p.take(names...)
	if raw.Kind() == '"' {
		if inner := raw[1 : len(raw)-1]; inner.Kind() == '0' && inner.IsValid() {
			return inner
		}
	}
	return raw
}

// text takes a member that is a text, by the first of its names that it has.
func (p *options) text(names ...string) string {
	out := ""
	if raw := p.take(names...); raw != nil && (raw.Kind() != '"' || json.Unmarshal(raw, &out) != nil) {
		p.fail(fault.Field(names[0], "invalid_type", "%s must be a text.", names[0]))
	}
	return out
}

// required takes a member that must be a text with characters.
func (p *options) required(name string) string {
	out := p.text(name)
	if out == "" {
		p.fail(fault.Field(name, "invalid_value", "%s must be a text that is not empty.", name))
	}
	return out
}

// only takes a member that changes nothing if it has one of the values, in JSON. Another value is rejected, unless the deployment drops
// what its provider lacks.
func (p *options) only(name string, values ...string) {
	raw := p.take(name)
	if raw != nil && !slices.Contains(values, string(raw)) && !p.target.DropParams {
		p.fail(driver.Unsupported(name, vendor))
	}
}

// body writes the request, unless there is an error or a member that nobody has taken. What is passed on may have names that occur twice: the
// provider rejects them.
func (p *options) body(request any) ([]byte, error) {
	if err := p.rest(); err != nil {
		return nil, err
	}
	out, err := json.Marshal(request, jsontext.AllowDuplicateNames(true))
	if err != nil {
		return nil, fault.From(err)
	}
	return out, nil
}

// fail keeps the first error.
func (p *options) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// rest returns the first error, or that of a member that nobody has taken.
func (p *options) rest() error {
	if p.err != nil || p.target.DropParams {
		return p.err
	}
	for name := range p.o.All() {
		return driver.Unsupported(name, vendor)
	}
	return nil
}
