package catalog

import (
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/modelgateway/modelgateway/cluster/record"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// stored returns the field of the record that keeps the setting.
func (f RouterField) stored() protoreflect.FieldDescriptor {
	name := f.Name
	if _, ok := f.in(&RouterSpec{}).(**time.Duration); ok {
		name += "_nanos"
	}
	return (*clusterv1.RouterSettings)(nil).ProtoReflect().Descriptor().Fields().ByName(protoreflect.Name(name))
}

// Record returns the settings as the state stores them, without a stamp. It returns
// equal records for equal settings: maps become sorted lists.
func (s RouterSpec) Record() *clusterv1.RouterSettings {
	r := &clusterv1.RouterSettings{}
	for _, f := range RouterFields() {
		if f.Given(&s) {
			r.ProtoReflect().Set(f.stored(), storedValue(f.in(&s)))
		}
	}
	return r
}

// storedValue returns the value of a setting that is given.
func storedValue(from any) protoreflect.Value {
	switch v := from.(type) {
	case **string:
		return protoreflect.ValueOfString(**v)
	case **int:
		return protoreflect.ValueOfInt64(int64(**v))
	case **time.Duration:
		return protoreflect.ValueOfInt64(int64(**v))
	case **bool:
		return protoreflect.ValueOfBool(**v)
	case *[]string:
		return protoreflect.ValueOfMessage((&clusterv1.StringList{Values: *v}).ProtoReflect())
	case *map[string]string:
		return protoreflect.ValueOfMessage((&clusterv1.AliasList{Values: record.NamedValues(*v)}).ProtoReflect())
	case *[]map[string][]string:
		list := &clusterv1.FallbackList{}
		for _, entry := range *v {
			for _, from := range slices.Sorted(maps.Keys(entry)) {
				list.Values = append(list.Values, &clusterv1.Fallback{From: from, To: entry[from]})
			}
		}
		return protoreflect.ValueOfMessage(list.ProtoReflect())
	}
	return protoreflect.Value{} // no setting has another type
}

// SpecFromRecord is the reverse of Record. Fallbacks come as one map each.
func SpecFromRecord(r *clusterv1.RouterSettings) RouterSpec {
	var s RouterSpec
	m := r.ProtoReflect()
	for _, f := range RouterFields() {
		if !m.Has(f.stored()) {
			continue
		}
		switch v := m.Get(f.stored()); to := f.in(&s).(type) {
		case **string:
			*to = new(v.String())
		case **int:
			*to = new(int(v.Int()))
		case **time.Duration:
			*to = new(time.Duration(v.Int()))
		case **bool:
			*to = new(v.Bool())
		default:
			fromList(v.Message().Interface(), to)
		}
	}
	return s
}

// fromList reads a setting that the record stores as a message.
func fromList(list protoreflect.ProtoMessage, to any) {
	switch list := list.(type) {
	case *clusterv1.StringList:
		*to.(*[]string) = append([]string{}, list.GetValues()...)
	case *clusterv1.AliasList:
		aliases := make(map[string]string, len(list.GetValues()))
		for _, v := range list.GetValues() {
			aliases[v.GetName()] = v.GetValue()
		}
		*to.(*map[string]string) = aliases
	case *clusterv1.FallbackList:
		all := make([]map[string][]string, 0, len(list.GetValues()))
		for _, f := range list.GetValues() {
			all = append(all, map[string][]string{f.GetFrom(): append([]string{}, f.GetTo()...)})
		}
		*to.(*[]map[string][]string) = all
	}
}
