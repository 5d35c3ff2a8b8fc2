package mgmt

import (
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/modelgateway/modelgateway/cluster/money"
)

// patch reads fields of a request in place of what a record has. A field that the
// message does not have leaves it. The first error stays.
type patch struct {
	m      protoreflect.Message
	clears []string
	err    error
}

// patchOf reads a request that clears some fields. A field that is not among those that
// may be cleared is an error.
func patchOf(m proto.Message, clears []string, clearable ...string) *patch {
	p := &patch{m: m.ProtoReflect(), clears: clears}
	_, p.err = cleared(clears, clearable...)
	return p
}

// given returns the field that a name has where the request gives a value, and
// whether it clears it.
func (p *patch) given(name protoreflect.Name) (f protoreflect.FieldDescriptor, clears bool) {
	f = p.m.Descriptor().Fields().ByName(name)
	if f == nil || !p.m.Has(f) {
		return nil, slices.Contains(p.clears, string(name))
	}
	return f, false
}

func (p *patch) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// read returns what a request gives for a field, nothing if it clears the field, or else
// what the record has.
func read[T any](p *patch, name protoreflect.Name, old T, value func(v protoreflect.Value) T) T {
	f, clears := p.given(name)
	switch {
	case clears:
		var none T
		return none
	case f == nil:
		return old
	}
	return value(p.m.Get(f))
}

func (p *patch) text(name protoreflect.Name, old string) string {
	return read(p, name, old, protoreflect.Value.String)
}

func (p *patch) flag(name protoreflect.Name, old bool) bool {
	return read(p, name, old, protoreflect.Value.Bool)
}

func (p *patch) count(name protoreflect.Name, old *uint32) *uint32 {
	return read(p, name, old, func(v protoreflect.Value) *uint32 { return new(uint32(v.Uint())) })
}

func (p *patch) amount(name protoreflect.Name, old *money.Pico) *money.Pico {
	return read(p, name, old, func(v protoreflect.Value) *money.Pico {
		amount, err := dollars(string(name), v.Float())
		p.fail(err)
		return &amount
	})
}

func (p *patch) list(name protoreflect.Name, old []string) []string {
	return read(p, name, old, func(v protoreflect.Value) []string {
		out := make([]string, v.List().Len())
		for i := range out {
			out[i] = v.List().Get(i).String()
		}
		return out
	})
}

func (p *patch) pairs(name protoreflect.Name, old map[string]string) map[string]string {
	return read(p, name, old, func(v protoreflect.Value) map[string]string {
		out := map[string]string{}
		v.Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
			out[k.String()] = v.String()
			return true
		})
		return out
	})
}

// free reads the free object that is kept with a record, as text.
func (p *patch) free(name protoreflect.Name, old string) string {
	return read(p, name, old, func(v protoreflect.Value) string {
		given, _ := v.Message().Interface().(*structpb.Struct)
		text, err := metadataText(given)
		p.fail(err)
		return text
	})
}
