package catalog

import (
	"strings"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// RouterPatch is a change of a RouterSpec. A nil field is not set and leaves
// what is there; an empty slice or map is set, and to nothing. What is set
// replaces the old value as a whole: lists are not joined.
type RouterPatch struct {
	Strategy               *string
	NumRetries             *int
	RetryAfter             *time.Duration
	Timeout                *time.Duration
	StreamTimeout          *time.Duration
	CooldownTime           *time.Duration
	AllowedFails           *int
	MaxFallbacks           *int
	DefaultMaxParallel     *int
	RetryOn                []string
	DisableCooldowns       *bool
	EnablePreCallChecks    *bool
	ModelGroupAlias        map[string]string
	Fallbacks              []map[string][]string
	DefaultFallbacks       []string
	ContextWindowFallbacks []map[string][]string
	ContentPolicyFallbacks []map[string][]string
}

// Patch returns s with what p sets. Neither is changed; the result shares their
// slices and maps.
func (s RouterSpec) Patch(p RouterPatch) RouterSpec {
	if p.Strategy != nil {
		s.Strategy = *p.Strategy
	}
	if p.DisableCooldowns != nil {
		s.DisableCooldowns = *p.DisableCooldowns
	}
	if p.EnablePreCallChecks != nil {
		s.EnablePreCallChecks = *p.EnablePreCallChecks
	}
	if p.ModelGroupAlias != nil {
		s.ModelGroupAlias = p.ModelGroupAlias
	}
	s.NumRetries = given(p.NumRetries, s.NumRetries)
	s.RetryAfter = given(p.RetryAfter, s.RetryAfter)
	s.Timeout = given(p.Timeout, s.Timeout)
	s.StreamTimeout = given(p.StreamTimeout, s.StreamTimeout)
	s.CooldownTime = given(p.CooldownTime, s.CooldownTime)
	s.AllowedFails = given(p.AllowedFails, s.AllowedFails)
	s.MaxFallbacks = given(p.MaxFallbacks, s.MaxFallbacks)
	s.DefaultMaxParallel = given(p.DefaultMaxParallel, s.DefaultMaxParallel)
	s.RetryOn = givenList(p.RetryOn, s.RetryOn)
	s.Fallbacks = givenList(p.Fallbacks, s.Fallbacks)
	s.DefaultFallbacks = givenList(p.DefaultFallbacks, s.DefaultFallbacks)
	s.ContextWindowFallbacks = givenList(p.ContextWindowFallbacks, s.ContextWindowFallbacks)
	s.ContentPolicyFallbacks = givenList(p.ContentPolicyFallbacks, s.ContentPolicyFallbacks)
	return s
}

// Merge returns the patch that does what p and, after it, next do. Neither is
// changed; the result shares their slices and maps.
func (p RouterPatch) Merge(next RouterPatch) RouterPatch {
	if next.ModelGroupAlias != nil {
		p.ModelGroupAlias = next.ModelGroupAlias
	}
	p.Strategy = given(next.Strategy, p.Strategy)
	p.NumRetries = given(next.NumRetries, p.NumRetries)
	p.RetryAfter = given(next.RetryAfter, p.RetryAfter)
	p.Timeout = given(next.Timeout, p.Timeout)
	p.StreamTimeout = given(next.StreamTimeout, p.StreamTimeout)
	p.CooldownTime = given(next.CooldownTime, p.CooldownTime)
	p.AllowedFails = given(next.AllowedFails, p.AllowedFails)
	p.MaxFallbacks = given(next.MaxFallbacks, p.MaxFallbacks)
	p.DefaultMaxParallel = given(next.DefaultMaxParallel, p.DefaultMaxParallel)
	p.DisableCooldowns = given(next.DisableCooldowns, p.DisableCooldowns)
	p.EnablePreCallChecks = given(next.EnablePreCallChecks, p.EnablePreCallChecks)
	p.RetryOn = givenList(next.RetryOn, p.RetryOn)
	p.Fallbacks = givenList(next.Fallbacks, p.Fallbacks)
	p.DefaultFallbacks = givenList(next.DefaultFallbacks, p.DefaultFallbacks)
	p.ContextWindowFallbacks = givenList(next.ContextWindowFallbacks, p.ContextWindowFallbacks)
	p.ContentPolicyFallbacks = givenList(next.ContentPolicyFallbacks, p.ContentPolicyFallbacks)
	return p
}

// Reset returns the patch without one setting, by its name in router_settings. It
// is false for a name that no setting has.
func (p RouterPatch) Reset(setting string) (RouterPatch, bool) {
	r := p.Record()
	f := settingField(r, setting)
	if f == nil {
		return p, false
	}
	r.ProtoReflect().Clear(f)
	return PatchFromRecord(r), true
}

// Sets reports whether the patch sets a setting, by its name in router_settings.
func (p RouterPatch) Sets(setting string) bool {
	r := p.Record()
	f := settingField(r, setting)
	return f != nil && r.ProtoReflect().Has(f)
}

// settingField is the field of a record that a setting is kept in; nil for a name
// that no setting has.
func settingField(r *clusterv1.RouterSettings, setting string) protoreflect.FieldDescriptor {
	fields := r.ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if f.Number() != settingStamp && strings.TrimSuffix(string(f.Name()), "_nanos") == setting {
			return f
		}
	}
	return nil
}

func given[T any](value, otherwise *T) *T {
	if value != nil {
		return value
	}
	return otherwise
}

// givenList tells the empty list, which was given, from the nil one.
func givenList[T any](value, otherwise []T) []T {
	if value != nil {
		return value
	}
	return otherwise
}
