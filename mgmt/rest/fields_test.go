package rest

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/modelgateway/modelgateway/cluster/fault"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// Every kind of field accepts its documented values, and not the other forms that the library
// would accept.
func TestKindsOfFields(t *testing.T) {
	every, field, key := &descriptorpb.UninterpretedOption{}, &descriptorpb.FieldDescriptorProto{}, &gatewayv1.KeyRecord{}
	for _, c := range []struct {
		m          proto.Message
		body, want string
	}{
		{every, `{"positive_int_value":9007199254740991,"negative_int_value":-9007199254740991,"double_value":1.5e300,"string_value":"aGk="}`, ""},
		{every, `{"positive_int_value":1.0,"double_value":1}`, ""},
		{every, `{"positive_int_value":9007199254740992}`, "invalid_value positive_int_value"},
		{every, `{"positive_int_value":-1}`, "invalid_value positive_int_value"},
		{every, `{"positive_int_value":1.5}`, "invalid_value positive_int_value"},
		{every, `{"positive_int_value":"1"}`, "invalid_type positive_int_value"},
		{every, `{"negative_int_value":1e999}`, "invalid_value negative_int_value"},
		{every, `{"double_value":"NaN"}`, "invalid_type double_value"},
		{every, `{"string_value":"not base64"}`, "invalid_type string_value"},
		{every, `{"positiveIntValue":1}`, "unknown_field positiveIntValue"},
		{field, `{"label":"LABEL_REPEATED","number":-2147483648}`, ""},
		{field, `{"label":3}`, "invalid_type label"},
		{field, `{"label":"LABEL_OTHER"}`, "invalid_value label"},
		{field, `{"number":2147483648}`, "invalid_value number"},
		{key, `{"expires":"2026-06-29T10:00:00Z","last_rotation_at":"2026-06-29T10:00:00.123456789+02:00"}`, ""},
		{key, `{"expires":"2026-06-29"}`, "invalid_value expires"},
		{key, `{"expires":1}`, "invalid_type expires"},
		{key, `{"max_budget":1.5,"tpm_limit":4294967295,"key_alias":"a","team_id":null}`, ""},
		{key, `{"max_budget":"1.5"}`, "invalid_type max_budget"},
		{key, `{"tpm_limit":4294967296}`, "invalid_value tpm_limit"},
		{key, `{"key_alias":{"value":"a"}}`, "invalid_type key_alias"},
		{key, `{"model_max_budget":{"a":{"max_budget":1}},"model_rpm_limit":{"a":1}}`, ""},
		{key, `{"model_max_budget":{"a":{"nope":1}}}`, "unknown_field model_max_budget.a.nope"},
		{key, `{"model_max_budget":{"a":null}}`, "invalid_type model_max_budget.a"},
		{key, `{"model_rpm_limit":{"a":"1"}}`, "invalid_type model_rpm_limit.a"},
		{key, `{"model_rpm_limit":[]}`, "invalid_type model_rpm_limit"},
		{key, `{"metadata":{"a":[1,{"b":null}]},"aliases":{"a":"b"}}`, ""},
		{key, `{"metadata":[]}`, "invalid_type metadata"},
		{key, `{"aliases":{"a":1}}`, "invalid_type aliases.a"},
		{&gatewayv1.UpdateConfigFieldRequest{}, `{"field_value":null}`, ""},
		{&gatewayv1.UpdateConfigFieldRequest{}, `{"field_value":[1,"a",{}]}`, ""},
	} {
		members, err := parseObject([]byte(c.body))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := conform("", members, c.m.ProtoReflect().Descriptor()); err != nil {
			e := fault.From(err)
			got = e.Code + " " + e.Param
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.body, got, c.want)
		}
	}
}
