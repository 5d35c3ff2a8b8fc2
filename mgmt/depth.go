package mgmt

import (
	"strconv"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// maxDepth bounds how deep JSON of any form nests in a request. Such JSON is kept, and
// each response that shows it walks it with a stack and a buffer per level.
const maxDepth = 32

// checkDepth rejects a request with a field of free JSON that nests deeper than
// maxDepth.
func checkDepth(at string, m protoreflect.Message) error {
	var err error
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		param := at + string(f.Name())
		switch {
		case f.IsMap() && f.MapValue().Message() != nil:
			v.Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
				err = checkDepthOf(param+"."+shortName(k.String()), v.Message())
				return err == nil
			})
		case f.IsMap() || f.Message() == nil:
		case f.IsList():
			for i := 0; i < v.List().Len() && err == nil; i++ {
				err = checkDepthOf(param+"["+strconv.Itoa(i)+"]", v.List().Get(i).Message())
			}
		default:
			err = checkDepthOf(param, v.Message())
		}
		return err == nil
	})
	return err
}

// checkDepthOf checks one message of a request.
func checkDepthOf(param string, m protoreflect.Message) error {
	switch v := m.Interface().(type) {
	case *structpb.Struct, *structpb.ListValue, *structpb.Value:
		if !shallow(v, maxDepth) {
			return fault.Field(param, "too_deep", "%s nests deeper than %d levels of objects and lists. Flatten it, or keep it elsewhere.", param, maxDepth)
		}
		return nil
	default:
		return checkDepth(param+".", m)
	}
}

// shallow reports whether JSON nests at most n levels deep.
func shallow(v proto.Message, n int) bool {
	switch v := v.(type) {
	case *structpb.Struct:
		for _, one := range v.GetFields() {
			if n == 0 || !shallow(one, n-1) {
				return false
			}
		}
		return n > 0
	case *structpb.ListValue:
		for _, one := range v.GetValues() {
			if n == 0 || !shallow(one, n-1) {
				return false
			}
		}
		return n > 0
	case *structpb.Value:
		switch kind := v.GetKind().(type) {
		case *structpb.Value_StructValue:
			return shallow(kind.StructValue, n)
		case *structpb.Value_ListValue:
			return shallow(kind.ListValue, n)
		}
	}
	return true
}
