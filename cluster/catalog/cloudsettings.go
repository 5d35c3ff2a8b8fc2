package catalog

import (
	"maps"
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/address"
	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// maxSetting bounds a setting of a cloud, in bytes: a certificate with its chain is shorter.
const maxSetting = 64 << 10

// settings checks the settings of a deployment's account at a cloud. Those that the deployment itself has
// must be of its provider's cloud; a credential may have others, as several providers can share it. full is
// the deployment with the values of its credential. Only deployments of the file may use the credentials of the
// gateway's machine.
func (b *builder) settings(at string, own, full *DeploymentSpec, provider string) cloud.Settings {
	of, before := b.base.providers[provider].Cloud, len(b.problems.list)
	kept := make(map[string]vault.Secret, len(full.Cloud))
	for _, name := range slices.Sorted(maps.Keys(full.Cloud)) {
		value := full.Cloud[name]
		param := at + ".gateway_params." + name
		_, given := own.Cloud[name]
		known, ok := cloud.Named(name)
		switch {
		case !ok:
			b.problems.add(param, codeInvalid, "%s is not a setting of a cloud; remove it", quote(name))
		case known.Of != of && given:
			b.problems.add(param, codeInvalid, "%s is a setting of deployments at %s, and the provider %s has no use for it; remove it", name, known.Of, quote(provider))
		case known.Of != of:
		case len(value.Reveal()) > maxSetting:
			b.problems.add(param, codeInvalid, "%s is longer than %d bytes", name, maxSetting)
		case slices.Contains(cloud.Addresses(), name) && !b.isAddress(param, name, value.Reveal()):
		case !known.Secret && (!printable(value.Reveal()) || len(value.Reveal()) > maxBaseLength):
			b.problems.add(param, codeInvalid, "%s is longer than %d bytes, or holds a space, a control or a non-ASCII character", name, maxBaseLength)
		case strings.ContainsRune(value.Reveal(), 0):
			b.problems.add(param, codeInvalid, "%s holds a zero byte", name)
		default:
			kept[name] = value
		}
	}
	out := cloud.Of(kept)
	if len(b.problems.list) > before || of == cloud.None {
		return out
	}
	credential := cloud.CredentialOf(of, out, b.file)
	err := credential.Check()
	if err == nil && full.APIKey.IsEmpty() {
		err = credential.CheckComplete()
	}
	if err != nil {
		e := fault.From(err)
		b.problems.add(at+".gateway_params."+e.Param, e.Code, "%s", e.Message())
	}
	return out
}

// isAddress reports whether the value of a setting is the address of a service, and adds a problem if it is not.
func (b *builder) isAddress(param, name, value string) bool {
	_, _, err := ParseBase(value)
	if err != nil {
		e := fault.From(err)
		b.problems.add(param, e.Code, "%s", strings.ReplaceAll(e.Message(), "api_base", name))
	}
	return err == nil
}

// values checks the settings of a credential that deployments share.
func (p *problems) values(settings map[string]vault.Secret) {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		value, param := settings[name].Reveal(), "credential_values."+name
		known, ok := cloud.Named(name)
		switch {
		case !ok:
			p.add(param, codeInvalid, "%s is not a value of a credential; remove it", quote(name))
		case len(value) > maxSetting || strings.ContainsRune(value, 0):
			p.add(param, codeInvalid, "%s is longer than %d bytes, or holds a zero byte", name, maxSetting)
		case !known.Secret && (!printable(value) || len(value) > maxBaseLength):
			p.add(param, codeInvalid, "%s is longer than %d bytes, or holds a space, a control or a non-ASCII character", name, maxBaseLength)
		case slices.Contains(cloud.Addresses(), name):
			if _, _, err := ParseBase(value); err != nil {
				e := fault.From(err)
				p.add(param, e.Code, "%s", strings.ReplaceAll(e.Message(), "api_base", name))
			}
		}
	}
	for _, of := range []cloud.Kind{cloud.AWS, cloud.Google, cloud.Azure} {
		if err := cloud.CredentialOf(of, cloud.Of(settings), false).CheckValues(); err != nil {
			e := fault.From(err)
			p.add("credential_values."+e.Param, e.Code, "%s", e.Message())
		}
	}
}

// countSecrets returns how many of the settings are sealed.
func countSecrets(settings map[string]vault.Secret) int {
	n := 0
	for name := range settings {
		if isSecret(name) {
			n++
		}
	}
	return n
}

// CheckSettingsReach returns a *fault.Error, whose Param is the setting, if a setting leads to hosts that a request to the
// management API may not set. before has the settings that are accepted as they are.
func CheckSettingsReach(settings, before map[string]vault.Secret, least address.Class) error {
	for _, name := range cloud.Addresses() {
		if err := checkReachOf(name, settings[name], before[name], least); err != nil {
			return err
		}
	}
	account := settings[cloud.VertexCredentials]
	if account.IsEmpty() || account.Equal(before[cloud.VertexCredentials].Reveal()) {
		return nil
	}
	f, err := cloud.ReadGoogle([]byte(account.Reveal()))
	if err != nil || f.TokenURI == "" {
		return nil //nolint:nilerr // it is reported where the credential is checked
	}
	if _, _, err := ParseBase(f.TokenURI); err != nil {
		return fault.Field(cloud.VertexCredentials, codeInvalid, "The token_uri in %s is not the address of a service.", cloud.VertexCredentials)
	}
	return checkReachOf(cloud.VertexCredentials, vault.NewSecret(f.TokenURI), vault.Secret{}, least)
}

func checkReachOf(name string, value, before vault.Secret, least address.Class) error {
	if value.IsEmpty() || value.Equal(before.Reveal()) {
		return nil
	}
	if err := CheckReach(value.Reveal(), least); err != nil {
		e := fault.From(err)
		return fault.Field(name, e.Code, "%s", strings.ReplaceAll(e.Message(), "api_base", name))
	}
	return nil
}
