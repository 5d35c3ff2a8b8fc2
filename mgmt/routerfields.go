package mgmt

import (
	"context"
	"math"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/mgmt/field"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// routerField returns the field of a setting.
func routerField(name string) (protoreflect.FieldDescriptor, error) {
	f := (*gatewayv1.RouterSettings)(nil).ProtoReflect().Descriptor().Fields().ByName(protoreflect.Name(name))
	if f == nil {
		return nil, catalog.NoSetting(name)
	}
	return f, nil
}

// settings are router settings as fields are shown from them.
type settings struct {
	patch          catalog.RouterSpec
	now, otherwise protoreflect.Message
}

// settingsWith are the settings of a catalogue if the state set patch.
func settingsWith(c *catalog.Catalog, patch catalog.RouterSpec) settings {
	return settings{
		patch:     patch,
		now:       showRouter(c.RouterWith(patch)).ProtoReflect(),
		otherwise: showRouter(c.RouterWith(catalog.RouterSpec{})).ProtoReflect(),
	}
}

// field returns a setting as it is shown.
func (s settings) field(f protoreflect.FieldDescriptor) *gatewayv1.SettingField {
	out := &gatewayv1.SettingField{
		FieldName: string(f.Name()), FieldType: settingType(f), StoredInDb: s.patch.Sets(string(f.Name())),
		FieldValue: settingValue(s.now.Get(f)), FieldDefaultValue: settingValue(s.otherwise.Get(f)),
	}
	for _, known := range catalog.RouterFields() {
		if known.Name == out.GetFieldName() {
			out.FieldDescription = known.Text
		}
	}
	return out
}

// settingType is what a field's values are called.
func settingType(f protoreflect.FieldDescriptor) string {
	switch kind := f.Kind(); {
	case kind == protoreflect.Int32Kind:
		return "Integer"
	case kind == protoreflect.DoubleKind:
		return "Float"
	case kind == protoreflect.BoolKind:
		return "Boolean"
	case f.Message() == nil:
		return "String"
	case f.Message().FullName() == "google.protobuf.Struct":
		return "Dictionary"
	}
	return "List"
}

// settingValue is a field's value as JSON has it.
func settingValue(v protoreflect.Value) *structpb.Value {
	switch is := v.Interface().(type) {
	case int32:
		return structpb.NewNumberValue(float64(is))
	case float64:
		return structpb.NewNumberValue(is)
	case bool:
		return structpb.NewBoolValue(is)
	case string:
		return structpb.NewStringValue(is)
	case protoreflect.Message:
		switch m := is.Interface().(type) {
		case *structpb.Struct:
			return structpb.NewStructValue(m)
		case *structpb.ListValue:
			return structpb.NewListValue(m)
		}
	}
	return structpb.NewNullValue()
}

// settingOf is the reverse of settingValue for what a request gives.
func settingOf(f protoreflect.FieldDescriptor, v *structpb.Value) (protoreflect.Value, error) {
	const param = "field_value"
	want := settingType(f)
	switch is := v.GetKind().(type) {
	case *structpb.Value_NumberValue:
		switch n := is.NumberValue; {
		case want == "Float":
			return protoreflect.ValueOfFloat64(n), nil
		case want == "Integer" && n == math.Trunc(n) && math.Abs(n) <= math.MaxInt32:
			return protoreflect.ValueOfInt32(int32(n)), nil
		case want == "Integer":
			return protoreflect.Value{}, fault.Field(param, "invalid_value", "%s must be a whole number.", f.Name())
		}
	case *structpb.Value_StringValue:
		if want == "String" {
			return protoreflect.ValueOfString(is.StringValue), nil
		}
	case *structpb.Value_BoolValue:
		if want == "Boolean" {
			return protoreflect.ValueOfBool(is.BoolValue), nil
		}
	case *structpb.Value_ListValue:
		if want == "List" {
			return protoreflect.ValueOfMessage(is.ListValue.ProtoReflect()), nil
		}
	case *structpb.Value_StructValue:
		if want == "Dictionary" {
			return protoreflect.ValueOfMessage(is.StructValue.ProtoReflect()), nil
		}
	case *structpb.Value_NullValue:
		return protoreflect.Value{}, fault.Field(param, "invalid_value", "A setting cannot be null. Delete the field, and it is as the configuration file has it.")
	}
	return protoreflect.Value{}, field.WrongType(param, map[string]string{
		"Integer": "a number", "Float": "a number", "Boolean": "true or false", "List": "a list", "Dictionary": "an object", "String": "a string",
	}[want])
}

// ListConfig shows the settings field by field.
func (s configService) ListConfig(ctx context.Context, in *gatewayv1.ListConfigRequest) (*gatewayv1.ListConfigResponse, error) {
	if in.GetConfigType() == fieldGeneral {
		return &gatewayv1.ListConfigResponse{Fields: generalSettings(s.webhook(operation.View(ctx)), s.pace)}, nil
	}
	c := operation.View(ctx).Catalog
	patch, _ := c.Patch()
	all, out := settingsWith(c, patch), &gatewayv1.ListConfigResponse{}
	fields := all.now.Descriptor().Fields()
	for i := range fields.Len() {
		out.Fields = append(out.GetFields(), all.field(fields.Get(i)))
	}
	return out, nil
}

// GetConfigField shows one field.
func (s configService) GetConfigField(ctx context.Context, in *gatewayv1.GetConfigFieldRequest) (*gatewayv1.SettingField, error) {
	if isGeneral(in) {
		return s.getGeneralField(ctx, in)
	}
	f, err := routerField(in.GetFieldName())
	if err != nil {
		return nil, err
	}
	v, err := operation.Current(ctx, s.state)
	if err != nil {
		return nil, err
	}
	patch, _ := v.Catalog.Patch()
	return settingsWith(v.Catalog, patch).field(f), nil
}

// UpdateConfigField sets one field.
func (s configService) UpdateConfigField(ctx context.Context, in *gatewayv1.UpdateConfigFieldRequest) (*gatewayv1.SettingField, error) {
	if isGeneral(in) {
		return s.updateGeneralField(ctx, in)
	}
	f, err := routerField(in.GetFieldName())
	if err != nil {
		return nil, err
	}
	value, err := settingOf(f, in.GetFieldValue())
	if err != nil {
		return nil, err
	}
	given := &gatewayv1.RouterSettings{}
	given.ProtoReflect().Set(f, value)
	patch, err := routerPatch(given)
	if err != nil {
		return nil, err
	}
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.SettingField, error) {
		if err := s.expected(v, operation.IfRevision(ctx)); err != nil {
			return nil, err
		}
		if err := v.Catalog.UpdateRouter(tx, patch, 0); err != nil {
			return nil, err
		}
		before, _ := v.Catalog.Patch()
		return settingsWith(v.Catalog, before.Merge(patch)).field(f), nil
	})
}

// DeleteConfigField has one field be as the configuration file has it.
func (s configService) DeleteConfigField(ctx context.Context, in *gatewayv1.DeleteConfigFieldRequest) (*gatewayv1.SettingField, error) {
	if isGeneral(in) {
		return s.deleteGeneralField(ctx, in)
	}
	f, err := routerField(in.GetFieldName())
	if err != nil {
		return nil, err
	}
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.SettingField, error) {
		if err := v.Catalog.ResetRouter(tx, in.GetFieldName(), 0); err != nil {
			return nil, err
		}
		before, _ := v.Catalog.Patch()
		next, _ := before.Reset(in.GetFieldName())
		return settingsWith(v.Catalog, next).field(f), nil
	})
}
