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

func patchOf(m proto.Message, clears []string) *patch {
	return &patch{m: m.ProtoReflect(), clears: clears}
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

func (p *patch) amount(name protoreflect.Name, old *money.Pico) *money.Pico {
	f, clears := p.given(name)
	switch {
	case clears:
		return nil
	case f == nil:
		return old
	}
	amount, err := dollars(string(name), p.m.Get(f).Float())
	p.fail(err)
	return &amount
}

func (p *patch) text(name protoreflect.Name, old string) string {
	f, clears := p.given(name)
	switch {
	case clears:
		return ""
	case f == nil:
		return old
	}
	return p.m.Get(f).String()
}

func (p *patch) count(name protoreflect.Name, old *uint32) *uint32 {
	f, clears := p.given(name)
	switch {
	case clears:
		return nil
	case f == nil:
		return old
	}
	n := uint32(p.m.Get(f).Uint())
	return &n
}

func (p *patch) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

func (p *patch) flag(name protoreflect.Name, old bool) bool {
	f, clears := p.given(name)
	switch {
	case clears:
		return false
	case f == nil:
		return old
	}
	return p.m.Get(f).Bool()
}

func (p *patch) list(name protoreflect.Name, old []string) []string {
	f, clears := p.given(name)
	switch {
	case clears:
		return nil
	case f == nil:
		return old
	}
	given := p.m.Get(f).List()
	out := make([]string, given.Len())
	for i := range out {
		out[i] = given.Get(i).String()
	}
	return out
}

func (p *patch) pairs(name protoreflect.Name, old map[string]string) map[string]string {
	f, clears := p.given(name)
	switch {
	case clears:
		return nil
	case f == nil:
		return old
	}
	out := map[string]string{}
	p.m.Get(f).Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
		out[k.String()] = v.String()
		return true
	})
	return out
}

// free reads the free object that is kept with a record, as text.
func (p *patch) free(name protoreflect.Name, old string) string {
	f, clears := p.given(name)
	switch {
	case clears:
		return ""
	case f == nil:
		return old
	}
	given, _ := p.m.Get(f).Message().Interface().(*structpb.Struct)
	text, err := metadataText(given)
	p.fail(err)
	return text
}
