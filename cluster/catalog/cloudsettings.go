package catalog

import (
	"maps"
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// maxSetting bounds a setting of a cloud, in bytes: a certificate with its chain is shorter.
const maxSetting = 64 << 10

// settings checks the settings of a deployment's account at a cloud. Those that the deployment itself has
// must be of its provider's cloud; a credential may have others, as several providers can share it. full is
// the deployment with the values of its credential.
func (b *builder) settings(at string, own, full *DeploymentSpec, provider string) cloud.Settings {
	of := b.base.providers[provider].Cloud
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
		case !known.Secret && (!printable(value.Reveal()) || len(value.Reveal()) > maxBaseLength):
			b.problems.add(param, codeInvalid, "%s is longer than %d bytes, or holds a space, a control or a non-ASCII character", name, maxBaseLength)
		case strings.ContainsRune(value.Reveal(), 0):
			b.problems.add(param, codeInvalid, "%s holds a zero byte", name)
		default:
			kept[name] = value
		}
	}
	return cloud.Of(kept)
}
