package provider

import (
	"bytes"
	"reflect"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// Variation is how a provider's chats and embeddings differ from the language that it speaks, in the terms of a
// request that is passed on.
type Variation struct {
	driver.Variation
	lacks splice.FieldSet
}

// Variations returns those of the providers that differ, by name.
func Variations(rows []Provider) map[string]*Variation {
	out := make(map[string]*Variation)
	for i := range rows {
		of := rows[i].Variation
		if reflect.ValueOf(of).IsZero() {
			continue
		}
		out[rows[i].Name] = variationOf(of)
	}
	return out
}

func variationOf(of driver.Variation) *Variation {
	v := &Variation{Variation: of}
	for _, name := range of.Lacks {
		if f, ok := splice.FieldNamed([]byte(name)); ok {
			v.lacks |= splice.Set(f)
		}
	}
	return v
}

// VariationOf returns the variation of a deployment with some settings; nil if there is none. general is the provider's.
func (p *Provider) VariationOf(general *Variation, s cloud.Settings) *Variation {
	if p.Varies == nil {
		return general
	}
	if own := p.Varies(s); own != nil {
		return variationOf(*own)
	}
	return general
}

// Rejects returns an error for the first parameter of a request that the provider lacks. A value that
// changes nothing is removed, and is no reason.
func (v *Variation) Rejects(r *splice.Request) error {
	if v.lacks&r.Present() == 0 {
		return nil
	}
	for _, name := range v.Lacks {
		if f, ok := splice.FieldNamed([]byte(name)); ok && r.Has(f) && !neutral(f, r.Raw(f)) {
			return driver.Unsupported(name, "this provider")
		}
	}
	return nil
}

// Plan adds the edits that make the caller's request one of the provider's.
func (v *Variation) Plan(r *splice.Request, plan *splice.Plan) {
	plan.Remove |= v.lacks
	if v.NoUser {
		plan.Remove |= splice.Set(splice.User)
	}
	if v.OutputSize && r.Has(splice.Dimensions) {
		plan.Remove |= splice.Set(splice.Dimensions)
		if raw := r.Raw(splice.Dimensions); raw[0] != 'n' {
			plan.Set = append(plan.Set, splice.Member{Field: splice.OutputDimension, Raw: string(raw)})
		}
	}
	plan.System = v.NoDeveloper
	if v.NoUsageOption {
		plan.Usage = false
		plan.Remove |= splice.Set(splice.StreamOptions)
	}
	if v.OldLimit && r.Has(splice.MaxCompletionTokens) {
		plan.Remove |= splice.Set(splice.MaxCompletionTokens)
		if raw := r.Raw(splice.MaxCompletionTokens); raw[0] != 'n' {
			plan.Set = append(plan.Set, splice.Member{Field: splice.MaxTokens, Raw: string(raw)})
		}
	}
}

// neutral reports whether a parameter's value means what a provider without it does.
func neutral(f splice.Field, raw []byte) bool {
	switch f { //nolint:exhaustive // the fields that a provider may lack
	case splice.N:
		return string(raw) == "1" || raw[0] == 'n'
	case splice.ParallelToolCalls:
		return raw[0] != 'f'
	case splice.LogitBias:
		return raw[0] == 'n' || raw[0] == '{' && len(bytes.TrimSpace(raw[1:len(raw)-1])) == 0
	}
	return raw[0] == 'n' || raw[0] == 'f' || len(bytes.Trim(raw, "0.-")) == 0
}
