package mgmt

import (
	"context"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/delivery"
	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/mgmt/field"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// fieldGeneral is the section of settings that do not concern routing.
const fieldGeneral = "general_settings"

// alertingWebhook is the only way to send events.
const alertingWebhook = "webhook"

// fieldWebhookSecret is a setting that responses never show.
const fieldWebhookSecret = "alerting_webhook_secret"

// generalTexts returns the descriptions of the general settings.
func generalTexts() map[string]string {
	return map[string]string{
		"alerting":                "Where audit events are sent: webhook, or nothing for an empty list.",
		"alerting_webhook_url":    "The webhook's address: https, and not within a private network.",
		fieldWebhookSecret:        "What deliveries are signed with. It is never shown.",
		"alerting_webhook_events": "The types of the events that are sent; an empty list for all.",
		delivery.FieldBatch:       "The most records in one request. With 1 a request has one record, an object; with more it has an array of those that wait.",
		delivery.FieldParallel:    "The most requests at a time. With more than 1 only records of the same key or organization keep their order.",
	}
}

// generalChange reads the changes of a request. The transaction makes the checks that depend
// on the present settings.
func generalChange(in *gatewayv1.GeneralSettings) (delivery.Change, error) {
	c := delivery.Change{URL: in.AlertingWebhookUrl}
	ways, err := texts(fieldGeneral+".alerting", in.GetAlerting())
	if err != nil {
		return c, err
	}
	if in.GetAlerting() != nil {
		for i, way := range ways {
			if way != alertingWebhook {
				return c, fault.Field(field.At(fieldGeneral+".alerting", i), "invalid_value", "alerting knows %s and nothing else. Send [%q], or an empty list for none.", alertingWebhook, alertingWebhook)
			}
		}
		c.Webhook = new(len(ways) > 0)
	}
	events, err := texts(fieldGeneral+".alerting_webhook_events", in.GetAlertingWebhookEvents())
	if err != nil {
		return c, err
	}
	if in.GetAlertingWebhookEvents() != nil {
		for i, e := range events {
			if !event.KnownType(e) {
				return c, fault.Field(field.At(fieldGeneral+".alerting_webhook_events", i), "invalid_value", "There are no events of that type. Name types such as key.created.")
			}
		}
		c.Events = &events
	}
	if in.AlertingWebhookBatch != nil {
		c.Batch = new(int(in.GetAlertingWebhookBatch()))
	}
	if in.AlertingWebhookParallel != nil {
		c.Parallel = new(int(in.GetAlertingWebhookParallel()))
	}
	for _, n := range []*int{c.Batch, c.Parallel} {
		if n != nil && *n == 0 { // which would clear it
			*n = -1
		}
	}
	if in.AlertingWebhookSecret != nil {
		c.Secret = new(vault.NewSecret(in.GetAlertingWebhookSecret()))
	}
	return c, nil
}

// setGeneral changes the general settings. made is a secret that the gateway generated.
func (s configService) setGeneral(c caller, to delivery.Change) (next delivery.Settings, made vault.Secret, err error) {
	return s.webhook(c.view).Set(c.tx, to, delivery.Rules{Seal: s.seal, Guard: s.guard})
}

// showGeneral returns the general settings in the form of the API. Without a pace of their own
// they have that of the configuration file.
func showGeneral(s delivery.Settings, file delivery.Pace) *gatewayv1.GeneralSettings {
	pace := s.Pace.Or(file)
	out := &gatewayv1.GeneralSettings{
		Alerting: textList(nil), AlertingWebhookUrl: &s.URL, AlertingWebhookEvents: textList(s.Events),
		AlertingWebhookBatch: new(int32(pace.Batch)), AlertingWebhookParallel: new(int32(pace.Parallel)),
	}
	if s.Webhook {
		out.Alerting = textList([]string{alertingWebhook})
	}
	return out
}

// generalField returns the field of a general setting; nil if there is no such setting.
func generalField(name string) protoreflect.FieldDescriptor {
	return (*gatewayv1.GeneralSettings)(nil).ProtoReflect().Descriptor().Fields().ByName(protoreflect.Name(name))
}

// configField names a setting in a request.
type configField interface {
	GetFieldName() string
	GetConfigType() string
}

// isGeneral reports whether a request is about a general setting.
func isGeneral(in configField) bool {
	return in.GetConfigType() == fieldGeneral || in.GetConfigType() == "" && generalField(in.GetFieldName()) != nil
}

// fieldOf returns the field of the setting that a request names.
func fieldOf(in configField) (protoreflect.FieldDescriptor, error) {
	if !isGeneral(in) {
		return routerField(in.GetFieldName())
	}
	if f := generalField(in.GetFieldName()); f != nil {
		return f, nil
	}
	return nil, &fault.Error{Kind: fault.NotFound, Code: "setting_not_found", Param: "field_name", Detail: "There is no general setting of that name."}
}

// generalSetting returns a general setting in the form of the API.
func generalSetting(s delivery.Settings, file delivery.Pace, f protoreflect.FieldDescriptor) *gatewayv1.SettingField {
	name := string(f.Name())
	out := &gatewayv1.SettingField{
		FieldName: name, FieldType: settingType(f), FieldDescription: generalTexts()[name], StoredInDb: s.Revision > 0 || !s.CreatedAt.IsZero(),
		FieldValue: structpb.NewNullValue(), FieldDefaultValue: structpb.NewNullValue(),
	}
	if name != fieldWebhookSecret {
		out.FieldValue = settingValue(showGeneral(s, file).ProtoReflect().Get(f))
		out.FieldDefaultValue = settingValue(showGeneral(delivery.Settings{}, file).ProtoReflect().Get(f))
	}
	return out
}

// updateGeneralField sets one general setting.
func (s configService) updateGeneralField(ctx context.Context, f protoreflect.FieldDescriptor, value protoreflect.Value) (*gatewayv1.SettingField, error) {
	given := &gatewayv1.GeneralSettings{}
	given.ProtoReflect().Set(f, value)
	c, err := generalChange(given)
	if err != nil {
		return nil, err
	}
	return s.changeGeneralField(ctx, f, c)
}

// deleteGeneralField resets one general setting to its default.
func (s configService) deleteGeneralField(ctx context.Context, f protoreflect.FieldDescriptor) (*gatewayv1.SettingField, error) {
	switch string(f.Name()) {
	case fieldWebhookSecret:
		return nil, fault.Field("field_name", "invalid_value", "A webhook has a secret. Set another one, or set alerting to an empty list.")
	case delivery.FieldBatch:
		return s.changeGeneralField(ctx, f, delivery.Change{Batch: new(0)})
	case delivery.FieldParallel:
		return s.changeGeneralField(ctx, f, delivery.Change{Parallel: new(0)})
	}
	return s.updateGeneralField(ctx, f, showGeneral(delivery.Settings{}, s.pace).ProtoReflect().Get(f))
}

func (s configService) changeGeneralField(ctx context.Context, f protoreflect.FieldDescriptor, to delivery.Change) (*gatewayv1.SettingField, error) {
	return change(ctx, s.state, func(c caller) (*gatewayv1.SettingField, error) {
		if err := s.expected(c.view, operation.IfRevision(ctx)); err != nil {
			return nil, err
		}
		next, made, err := s.setGeneral(c, to)
		switch {
		case err != nil:
			return nil, err
		case !made.IsEmpty():
			return nil, fault.Field(fieldWebhookSecret, "missing_required_parameter", "The webhook has no secret yet. Set alerting_webhook_secret first, or use /config/update, which shows the one that it makes.")
		}
		return generalSetting(next, s.pace, f), nil
	})
}

// revision returns the revision of all settings: that of the last change.
func (s configService) revision(v *cluster.View) uint64 {
	_, router := v.Catalog.RouterSpec()
	return max(router, s.webhook(v).Revision)
}

// expected is a Conflict if the settings have another revision than a request expects; 0 is any.
func (s configService) expected(v *cluster.View, revision uint64) error {
	if now := s.revision(v); revision != 0 && revision != now {
		return &fault.Error{Kind: fault.Conflict, Code: "revision_conflict", Detail: "Somebody has changed the settings. Read them again, and send the revision that they have now."}
	}
	return nil
}
