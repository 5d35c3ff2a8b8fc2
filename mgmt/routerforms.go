package mgmt

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/mgmt/field"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// routerPatch reads router settings. The catalogue checks them.
func routerPatch(in *gatewayv1.RouterSettings) (catalog.RouterSpec, error) {
	var p catalog.RouterSpec
	m := in.ProtoReflect()
	for _, f := range catalog.RouterFields() {
		fd := m.Descriptor().Fields().ByName(protoreflect.Name(f.Name))
		if !m.Has(fd) {
			continue
		}
		if err := readSetting(fieldRouter+"."+f.Name, m.Get(fd), f.In(&p)); err != nil {
			return p, err
		}
	}
	return p, nil
}

// readSetting reads the value of a field of RouterSettings.
func readSetting(param string, v protoreflect.Value, to any) (err error) {
	switch to := to.(type) {
	case **string:
		*to = new(v.String())
	case **int:
		*to = new(int(v.Int()))
	case **bool:
		*to = new(v.Bool())
	case **time.Duration:
		var d time.Duration
		d, err = field.Seconds(param, v.Float())
		*to = &d
	case *[]string:
		list, _ := v.Message().Interface().(*structpb.ListValue)
		*to, err = texts(param, list)
	case *map[string]string:
		object, _ := v.Message().Interface().(*structpb.Struct)
		*to, err = aliases(param, object)
	case *[]map[string][]string:
		list, _ := v.Message().Interface().(*structpb.ListValue)
		*to, err = fallbacks(param, list)
	}
	return err
}

// texts reads a list of strings. A missing list is nil, an empty one is not.
func texts(param string, list *structpb.ListValue) ([]string, error) {
	if list == nil {
		return nil, nil
	}
	out := make([]string, len(list.GetValues()))
	for i, v := range list.GetValues() {
		s, ok := v.GetKind().(*structpb.Value_StringValue)
		if !ok {
			return nil, field.WrongType(param+"["+strconv.Itoa(i)+"]", "a string")
		}
		out[i] = s.StringValue
	}
	return out, nil
}

// fallbacks reads a list of objects of lists of strings.
func fallbacks(param string, list *structpb.ListValue) ([]map[string][]string, error) {
	out := make([]map[string][]string, len(list.GetValues()))
	for i, v := range list.GetValues() {
		at := param + "[" + strconv.Itoa(i) + "]"
		entry := v.GetStructValue()
		if entry == nil {
			return nil, field.WrongType(at, `an object such as {"gpt-4o": ["claude"]}`)
		}
		out[i] = make(map[string][]string, len(entry.GetFields()))
		for _, from := range slices.Sorted(maps.Keys(entry.GetFields())) {
			named := at + "." + field.ShortName(from)
			to := entry.GetFields()[from].GetListValue()
			if to == nil {
				return nil, field.WrongType(named, "a list")
			}
			names, err := texts(named, to)
			if err != nil {
				return nil, err
			}
			out[i][from] = names
		}
	}
	return out, nil
}

// aliases reads an object of strings.
func aliases(param string, in *structpb.Struct) (map[string]string, error) {
	out := make(map[string]string, len(in.GetFields()))
	for _, name := range slices.Sorted(maps.Keys(in.GetFields())) {
		s, ok := in.GetFields()[name].GetKind().(*structpb.Value_StringValue)
		if !ok {
			return nil, field.WrongType(param+"."+field.ShortName(name), "a string")
		}
		out[name] = s.StringValue
	}
	return out, nil
}

// showRouter returns router settings with every field set.
func showRouter(spec catalog.RouterSpec) *gatewayv1.RouterSettings {
	out := &gatewayv1.RouterSettings{}
	m := out.ProtoReflect()
	for _, f := range catalog.RouterFields() {
		m.Set(m.Descriptor().Fields().ByName(protoreflect.Name(f.Name)), shownSetting(f.In(&spec)))
	}
	return out
}

// shownSetting is the reverse of readSetting.
func shownSetting(from any) protoreflect.Value {
	switch v := from.(type) {
	case **string:
		return protoreflect.ValueOfString(**v)
	case **int:
		return protoreflect.ValueOfInt32(int32(**v))
	case **bool:
		return protoreflect.ValueOfBool(**v)
	case **time.Duration:
		return protoreflect.ValueOfFloat64((**v).Seconds())
	case *[]string:
		return protoreflect.ValueOfMessage(textList(*v).ProtoReflect())
	case *map[string]string:
		object := &structpb.Struct{Fields: make(map[string]*structpb.Value, len(*v))}
		for name, text := range *v {
			object.Fields[name] = structpb.NewStringValue(text)
		}
		return protoreflect.ValueOfMessage(object.ProtoReflect())
	case *[]map[string][]string:
		return protoreflect.ValueOfMessage(fallbackList(*v).ProtoReflect())
	}
	return protoreflect.Value{} // no setting has another type
}

func textList(names []string) *structpb.ListValue {
	out := &structpb.ListValue{}
	for _, n := range names {
		out.Values = append(out.GetValues(), structpb.NewStringValue(n))
	}
	return out
}

func fallbackList(all []map[string][]string) *structpb.ListValue {
	out := &structpb.ListValue{}
	for _, entry := range all {
		fields := make(map[string]*structpb.Value, len(entry))
		for from, to := range entry {
			fields[from] = structpb.NewListValue(textList(to))
		}
		out.Values = append(out.GetValues(), structpb.NewStructValue(&structpb.Struct{Fields: fields}))
	}
	return out
}
