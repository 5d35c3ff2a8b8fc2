package mgmt

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// CheckKeyRules rejects rules that require a field which a request for a key does not
// have: nobody could make a key.
func CheckKeyRules(rules *tenancy.KeyRules) error {
	fields := (*gatewayv1.GenerateKeyRequest)(nil).ProtoReflect().Descriptor().Fields()
	for _, sort := range []struct {
		name string
		rule *tenancy.KeyRule
	}{{"team_key_generation", &rules.Team}, {"personal_key_generation", &rules.Personal}} {
		for _, name := range sort.rule.Required {
			if fields.ByName(protoreflect.Name(name)) == nil {
				return fault.Field("litellm_settings.key_generation_settings."+sort.name+".required_params", "invalid_value",
					"/key/generate has no field %s, so nobody could make a key: remove it from the list", name)
			}
		}
	}
	return nil
}

// mayMake denies a new key that the operator's rules do not allow, and rejects a
// request that lacks a field which they require.
func mayMake(rules *tenancy.KeyRules, r *tenancy.Rights, k *tenancy.Key, in *gatewayv1.GenerateKeyRequest) error {
	if err := r.MayMakeKey(rules, k); err != nil {
		return err
	}
	m := in.ProtoReflect()
	for _, name := range r.RequiredFor(rules, k) {
		if f := m.Descriptor().Fields().ByName(protoreflect.Name(name)); f == nil || !m.Has(f) {
			return fault.Field(name, "missing_required_parameter", "The operator of this gateway requires %s for such a key. Give it.", name)
		}
	}
	return nil
}
