package mgmt

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/address"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/mgmt/field"
	"github.com/modelgateway/modelgateway/mgmt/rest"
)

// fieldSettings is the field with the settings of an account at a cloud.
const fieldSettings = "provider_settings"

// gatherSettings moves settings next to the other fields to the field provider_settings. One that is null becomes empty,
// which clears it. The JSON of a credential may be an object.
func gatherSettings(params map[string]jsontext.Value) (err error) {
	settings := map[string]jsontext.Value{}
	if v, given := params[fieldSettings]; given && v.Kind() != 'n' {
		if settings, err = rest.ObjectAt(fieldParams+"."+fieldSettings, v); err != nil {
			return err
		}
	}
	for _, name := range field.SortedNames(params) {
		if _, ok := cloud.Named(name); !ok {
			continue
		}
		if _, twice := settings[name]; twice {
			return fault.Field(fieldParams+"."+name, "invalid_value", "%s.%s is given in %s, too. Send it once.", fieldParams, name, fieldSettings)
		}
		settings[name] = params[name]
		delete(params, name)
	}
	if len(settings) == 0 {
		return nil // an empty object clears them
	}
	for name, v := range settings {
		switch {
		case v.Kind() == 'n':
			settings[name] = jsontext.Value(`""`)
		case v.Kind() == '{' && name == cloud.VertexCredentials:
			if settings[name], err = jsontext.AppendQuote(nil, string(v)); err != nil {
				return err
			}
		}
	}
	params[fieldSettings], err = json.Marshal(settings)
	return err
}

// describeSettings changes the settings of a deployment by those of a request. The placeholder of responses stands for
// the stored secret.
func describeSettings(spec *catalog.DeploymentSpec, given map[string]string) error {
	if len(given) == 0 {
		return nil
	}
	next := maps.Clone(spec.Cloud)
	if next == nil {
		next = make(map[string]vault.Secret, len(given))
	}
	for _, name := range field.SortedNames(given) {
		if err := setSetting(next, name, fieldParams+"."+field.ShortName(name), given[name]); err != nil {
			return err
		}
	}
	spec.Cloud = next
	return nil
}

// setSetting sets one setting. The catalogue makes most checks.
func setSetting(settings map[string]vault.Secret, name, param, value string) error {
	known, ok := cloud.Named(name)
	switch {
	case !ok:
		return fault.Field(param, "unknown_parameter", "%s is not a setting of a provider. The settings are %s.", param, strings.Join(settingNames(), ", "))
	case value == hidden && known.Secret && !settings[name].IsEmpty():
		return nil
	case value == hidden:
		return fault.Field(param, "invalid_value", "%s stands for a secret that was left out of an answer. Send the secret.", hidden)
	case value == "":
		delete(settings, name)
		return nil
	case strings.HasPrefix(value, "os.environ/"), strings.HasPrefix(value, "${"):
		return fault.Field(param, "invalid_value", "Variables of the environment are read from the configuration file only. Send the value.")
	}
	settings[name] = vault.NewSecret(value)
	return nil
}

func settingNames() []string {
	var names []string
	for _, s := range cloud.Table() {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	return names
}

// shownSettings returns settings in the form of responses, without secrets.
func shownSettings(settings map[string]vault.Secret) map[string]string {
	out := make(map[string]string, len(settings))
	for name, value := range settings {
		out[name] = value.Reveal()
		if known, ok := cloud.Named(name); known.Secret || !ok {
			out[name] = hidden
		}
	}
	return out
}

// settings rejects addresses in settings that the gateway may not call.
func (r reach) settings(at string, before, after map[string]vault.Secret) error {
	least := address.Public
	if r.private {
		least = address.Private
	}
	if err := catalog.CheckSettingsReach(after, before, least); err != nil {
		return field.Named(at+"."+fault.From(err).Param, err)
	}
	return nil
}

// kept returns the first secret setting that a request leaves as it was; empty if there is none.
func kept(before, after map[string]vault.Secret, given map[string]string) string {
	for _, name := range field.SortedNames(before) {
		known, _ := cloud.Named(name)
		if sent := given[name]; known.Secret && !after[name].IsEmpty() && (sent == "" || sent == hidden) {
			return name
		}
	}
	return ""
}

// redirected reports whether a setting that leads to a host is another one than before.
func redirected(before, after map[string]vault.Secret) bool {
	return slices.ContainsFunc(cloud.Addresses(), func(name string) bool { return !after[name].Equal(before[name].Reveal()) })
}
