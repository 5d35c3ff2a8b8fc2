package inbound

import (
	"bytes"
	"slices"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// The parameters that name guardrails: one, or a list. They may stand at the top of the body and within
// metadata and litellm_metadata; one may also stand in a header.
const (
	guardrailID = "guardrail_id"
	guardrails  = "guardrails"
)

// maxGuardrails bounds the guardrails that a request may name.
const maxGuardrails = 32

// readGuardrails reads which guardrails the request names. All of them count, wherever they stand.
func (r *reader) readGuardrails() error {
	const fields = 1<<splice.GuardrailID | 1<<splice.Guardrails
	mark := []byte(`"guardrail`)
	inMetadata := bytes.Contains(r.facts.Raw(splice.Metadata), mark)
	if r.GuardrailID == "" && r.facts.Present()&fields == 0 && !inMetadata && !bytes.Contains(r.facts.Raw(splice.LitellmMetadata), mark) {
		return nil
	}
	o := &r.to
	for _, of := range [...]struct {
		param string
		raw   []byte
	}{
		{"x-gateway-guardrail-id", quoted(r.GuardrailID)},
		{guardrailID, r.facts.Raw(splice.GuardrailID)},
		{guardrails, r.facts.Raw(splice.Guardrails)},
		{"metadata." + guardrailID, r.facts.Within(splice.Metadata, guardrailID)},
		{"metadata." + guardrails, r.facts.Within(splice.Metadata, guardrails)},
		{"litellm_metadata." + guardrailID, r.facts.Within(splice.LitellmMetadata, guardrailID)},
		{"litellm_metadata." + guardrails, r.facts.Within(splice.LitellmMetadata, guardrails)},
	} {
		if err := o.addGuardrails(of.param, of.raw); err != nil {
			return err
		}
	}
	o.GuardrailsInMetadata = inMetadata
	return nil
}

// addGuardrails adds the guardrails that one parameter names: as a text, or a list of texts.
func (o *Options) addGuardrails(param string, raw []byte) error {
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil
	case raw[0] == '"':
		return o.addGuardrail(param, raw)
	case raw[0] != '[':
		return fault.Field(param, "invalid_type", "%s must be the name of a guardrail, or a list of names.", param)
	}
	for at := range splice.Elements(raw) {
		if err := o.addGuardrail(param, at.Of(raw)); err != nil {
			return err
		}
	}
	return nil
}

func (o *Options) addGuardrail(param string, raw []byte) error {
	if raw[0] != '"' {
		return fault.Field(param, "invalid_type", "%s must have the names of guardrails as strings. Settings of a guardrail cannot be sent with a request.", param)
	}
	text, err := name(param, raw)
	if err != nil {
		return err
	}
	g := Guardrail{Name: text, Param: param}
	switch {
	case text == "":
		return fault.Field(param, "invalid_value", "The name of a guardrail must not be empty. Leave %s out for none.", param)
	case slices.ContainsFunc(o.Guardrails, func(other Guardrail) bool { return other.Name == text }):
		return nil
	case len(o.Guardrails) == maxGuardrails:
		return fault.Field(param, "invalid_value", "A request may name at most %d guardrails.", maxGuardrails)
	}
	o.Guardrails = append(o.Guardrails, g)
	return nil
}

// Guardrail is a guardrail that a request names.
type Guardrail struct {
	Name  string // or its id
	Param string // where it stands
}
