package catalog

import (
	"fmt"
	"maps"
	"slices"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/vault"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// storedSettings are the settings of an account at a cloud as the state has them.
type storedSettings struct {
	values  map[string]vault.Secret
	sealed  map[string][]byte        // the secrets among them
	context func(name string) string // that a secret is sealed with
}

// seal returns the secrets of settings, sealed. One that is as it was is not sealed again.
func (s storedSettings) seal(settings map[string]vault.Secret, seal vault.Seal) (map[string][]byte, error) {
	var out map[string][]byte
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if !isSecret(name) {
			continue
		}
		sealed, value := s.sealed[name], settings[name]
		if len(sealed) == 0 || !s.values[name].Equal(value.Reveal()) {
			var err error
			if sealed, err = seal(value, s.context(name)); err != nil {
				return nil, fmt.Errorf("sealing %s: %w", name, err)
			}
		}
		if out == nil {
			out = make(map[string][]byte)
		}
		out[name] = sealed
	}
	for name, sealed := range s.sealed {
		_, opened := s.values[name]
		if _, replaced := settings[name]; !opened && !replaced { // another node may open it
			if out == nil {
				out = make(map[string][]byte)
			}
			out[name] = sealed
		}
	}
	return out, nil
}

// settingsRecord returns settings in the form of records, sorted.
func settingsRecord(settings map[string]vault.Secret, sealed map[string][]byte) (plain []*clusterv1.NamedValue, secret []*clusterv1.SealedValue) {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if !isSecret(name) {
			plain = append(plain, &clusterv1.NamedValue{Name: name, Value: settings[name].Reveal()})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sealed)) {
		secret = append(secret, &clusterv1.SealedValue{Name: name, Sealed: sealed[name]})
	}
	return plain, secret
}

// open is the reverse of seal and settingsRecord. It keeps the secrets that this node cannot open sealed, and returns why
// it cannot open the first.
func (s storedSettings) open(plain []*clusterv1.NamedValue, secret []*clusterv1.SealedValue, open vault.Open) (values map[string]vault.Secret, sealed map[string][]byte, locked error) {
	if len(plain)+len(secret) == 0 {
		return nil, nil, nil
	}
	values, sealed = make(map[string]vault.Secret, len(plain)+len(secret)), make(map[string][]byte, len(secret))
	for _, v := range plain {
		values[v.GetName()] = vault.NewSecret(v.GetValue())
	}
	for _, v := range secret {
		sealed[v.GetName()] = v.GetSealed()
		value, err := open(v.GetSealed(), s.context(v.GetName()))
		if err != nil {
			if locked == nil {
				locked = fmt.Errorf("opening %s: %w", v.GetName(), err)
			}
			continue
		}
		values[v.GetName()] = value
	}
	return values, sealed, locked
}

// isSecret reports whether a setting is sealed. One that this version does not know is.
func isSecret(name string) bool {
	known, ok := cloud.Named(name)
	return known.Secret || !ok
}

func settingContext(deployment, name string) string {
	return "deployment/" + deployment + "/setting/" + name
}
