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

// With returns the settings with a value more; those that have the setting stay as they are.
func (s Settings) With(name, value string) Settings {
	if value == "" || !s.Secret(name).IsEmpty() {
		return s
	}
	more := append(slices.Clone(s), Value{name, vault.NewSecret(value)})
	slices.SortFunc(more, func(x, y Value) int { return cmp.Compare(x.Name, y.Name) })
	return more
}

// Equal reports whether both have the same values.
func (s Settings) Equal(other Settings) bool {
	return slices.EqualFunc(s, other, func(a, b Value) bool { return a.Name == b.Name && a.Value.Equal(b.Value.Reveal()) })
}
