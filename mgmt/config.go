package mgmt

import (
	"context"
	"math"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/delivery"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/mgmt/field"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// fieldRouter is the section of settings that concern routing.
const fieldRouter = "router_settings"

type configService struct {
	gatewayv1.UnimplementedConfigServiceServer
	service
	webhook func(v *cluster.View) delivery.Settings
	pace    delivery.Pace // of the configuration file
	seal    vault.Seal
	guard   delivery.Guard
}

// GetConfig shows the settings in force.
func (s configService) GetConfig(ctx context.Context, _ *gatewayv1.GetConfigRequest) (*gatewayv1.GetConfigResponse, error) {
	v, err := operation.Current(ctx, s.state)
	if err != nil {
		return nil, err
	}
	patch, _ := v.Catalog.Patch()
	return &gatewayv1.GetConfigResponse{
		RouterSettings: showRouter(v.Catalog.RouterWith(patch)), GeneralSettings: showGeneral(s.webhook(v), s.pace), Revision: float64(s.revision(v)),
	}, nil
}

// UpdateConfig changes the fields in the request.
func (s configService) UpdateConfig(ctx context.Context, in *gatewayv1.UpdateConfigRequest) (*gatewayv1.UpdateConfigResponse, error) {
	router, general := in.GetRouterSettings(), in.GetGeneralSettings()
	if proto.Size(general) == 0 {
		general = nil
	}
	if router == nil && general == nil {
		return nil, fault.Field(fieldRouter, "missing_required_parameter", "There is nothing to change; send %s or %s.", fieldRouter, fieldGeneral)
	}
	var patch catalog.RouterSpec
	var err error
	if router != nil {
		if patch, err = routerPatch(router); err != nil {
			return nil, err
		}
	}
	var to delivery.Change
	if general != nil {
		if to, err = generalChange(general); err != nil {
			return nil, err
		}
	}
	return change(ctx, s.state, func(c caller) (*gatewayv1.UpdateConfigResponse, error) {
		if err := s.expected(c.view, operation.IfRevision(ctx)); err != nil {
			return nil, err
		}
		before, _ := c.view.Catalog.Patch()
		out := &gatewayv1.UpdateConfigResponse{Message: "Config updated successfully"}
		if router != nil {
			if err := c.view.Catalog.UpdateRouter(c.tx, patch, 0); err != nil {
				return nil, err
			}
			before = before.Merge(patch)
		}
		out.RouterSettings, out.GeneralSettings = showRouter(c.view.Catalog.RouterWith(before)), showGeneral(s.webhook(c.view), s.pace)
		if general == nil {
			return out, nil
		}
		next, made, err := s.setGeneral(c, to)
		if err != nil {
			return nil, err
		}
		out.GeneralSettings = showGeneral(next, s.pace)
		if !made.IsEmpty() {
			out.GeneralSettings.AlertingWebhookSecret = new(made.Reveal())
		}
		return out, nil
	})
}

// routerField returns the field of a setting.
func routerField(name string) (protoreflect.FieldDescriptor, error) {
	f := (*gatewayv1.RouterSettings)(nil).ProtoReflect().Descriptor().Fields().ByName(protoreflect.Name(name))
	if f == nil {
		return nil, catalog.NoSetting(name)
	}
	return f, nil
}

// routerSetting returns a router setting in the form of the API, as if the stored settings
// were patch.
func routerSetting(c *catalog.Catalog, patch catalog.RouterSpec, f protoreflect.FieldDescriptor) *gatewayv1.SettingField {
	now, otherwise := showRouter(c.RouterWith(patch)).ProtoReflect(), showRouter(c.RouterWith(catalog.RouterSpec{})).ProtoReflect()
	out := &gatewayv1.SettingField{
		FieldName: string(f.Name()), FieldType: settingType(f), StoredInDb: patch.Sets(string(f.Name())),
		FieldValue: settingValue(now.Get(f)), FieldDefaultValue: settingValue(otherwise.Get(f)),
	}
	for _, known := range catalog.RouterFields() {
		if known.Name == out.GetFieldName() {
			out.FieldDescription = known.Text
		}
	}
	return out
}

// settingType returns the API's name for the type of a field.
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

// settingValue returns the value of a field as JSON.
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

// settingOf is the reverse of settingValue for a value in a request.
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
	v, show := operation.View(ctx), s.routerSetting
	fields := (*gatewayv1.RouterSettings)(nil).ProtoReflect().Descriptor().Fields()
	if in.GetConfigType() == fieldGeneral {
		show, fields = s.generalSetting, (*gatewayv1.GeneralSettings)(nil).ProtoReflect().Descriptor().Fields()
	}
	out := &gatewayv1.ListConfigResponse{}
	for i := range fields.Len() {
		out.Fields = append(out.GetFields(), show(v, fields.Get(i)))
	}
	return out, nil
}

func (s configService) generalSetting(v *cluster.View, f protoreflect.FieldDescriptor) *gatewayv1.SettingField {
	return generalSetting(s.webhook(v), s.pace, f)
}

func (s configService) routerSetting(v *cluster.View, f protoreflect.FieldDescriptor) *gatewayv1.SettingField {
	patch, _ := v.Catalog.Patch()
	return routerSetting(v.Catalog, patch, f)
}

// GetConfigField shows one field.
func (s configService) GetConfigField(ctx context.Context, in *gatewayv1.GetConfigFieldRequest) (*gatewayv1.SettingField, error) {
	f, err := fieldOf(in)
	if err != nil {
		return nil, err
	}
	v, err := operation.Current(ctx, s.state)
	switch {
	case err != nil:
		return nil, err
	case isGeneral(in):
		return s.generalSetting(v, f), nil
	}
	return s.routerSetting(v, f), nil
}

// UpdateConfigField sets one field.
func (s configService) UpdateConfigField(ctx context.Context, in *gatewayv1.UpdateConfigFieldRequest) (*gatewayv1.SettingField, error) {
	f, err := fieldOf(in)
	if err != nil {
		return nil, err
	}
	value, err := settingOf(f, in.GetFieldValue())
	if err != nil {
		return nil, err
	}
	if isGeneral(in) {
		return s.updateGeneralField(ctx, f, value)
	}
	given := &gatewayv1.RouterSettings{}
	given.ProtoReflect().Set(f, value)
	patch, err := routerPatch(given)
	if err != nil {
		return nil, err
	}
	return change(ctx, s.state, func(c caller) (*gatewayv1.SettingField, error) {
		if err := s.expected(c.view, operation.IfRevision(ctx)); err != nil {
			return nil, err
		}
		if err := c.view.Catalog.UpdateRouter(c.tx, patch, 0); err != nil {
			return nil, err
		}
		before, _ := c.view.Catalog.Patch()
		return routerSetting(c.view.Catalog, before.Merge(patch), f), nil
	})
}

// DeleteConfigField resets one field to the value of the configuration file.
func (s configService) DeleteConfigField(ctx context.Context, in *gatewayv1.DeleteConfigFieldRequest) (*gatewayv1.SettingField, error) {
	f, err := fieldOf(in)
	if err != nil {
		return nil, err
	}
	if isGeneral(in) {
		return s.deleteGeneralField(ctx, f)
	}
	return change(ctx, s.state, func(c caller) (*gatewayv1.SettingField, error) {
		if err := c.view.Catalog.ResetRouter(c.tx, in.GetFieldName(), 0); err != nil {
			return nil, err
		}
		before, _ := c.view.Catalog.Patch()
		next, _ := before.Reset(in.GetFieldName())
		return routerSetting(c.view.Catalog, next, f), nil
	})
}
