package cloud

import (
	"cmp"
	"slices"

	"github.com/modelgateway/modelgateway/cluster/vault"
)

// Settings are the settings of a deployment, sorted by name. Nobody changes them once they are made.
type Settings []Value

// Value is a setting's value, which may be a secret. It is not empty.
type Value struct {
	Name  string
	Value vault.Secret
}

// Of returns settings. Empty values are left out.
func Of(values map[string]vault.Secret) Settings {
	s := make(Settings, 0, len(values))
	for name, v := range values {
		if !v.IsEmpty() {
			s = append(s, Value{name, v})
		}
	}
	slices.SortFunc(s, func(x, y Value) int { return cmp.Compare(x.Name, y.Name) })
	return s
}

// Secret returns the value of a setting; empty if it is not set.
func (s Settings) Secret(name string) vault.Secret {
	for i := range s {
		if s[i].Name == name {
			return s[i].Value
		}
	}
	return vault.Secret{}
}

// Get returns the value of a setting that is no secret; empty if it is not set.
func (s Settings) Get(name string) string { return s.Secret(name).Reveal() }

// Equal reports whether both have the same values.
func (s Settings) Equal(other Settings) bool {
	return slices.EqualFunc(s, other, func(a, b Value) bool { return a.Name == b.Name && a.Value.Equal(b.Value.Reveal()) })
}
