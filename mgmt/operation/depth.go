package operation

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/mgmt/field"
)

// maxDepth bounds how deep JSON of any form nests in a request. Such JSON is kept, and
// each response that shows it walks it with a stack and a buffer per level.
const maxDepth = 32

// checkDepth rejects a request with a field of free JSON that nests deeper than
// maxDepth. No request has such JSON in a map.
func checkDepth(at string, m protoreflect.Message) error {
	for path, one := range field.Messages(at, m) {
		if err := checkDepthOf(path, one); err != nil {
			return err
		}
	}
	return nil
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
