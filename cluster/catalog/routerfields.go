package catalog

import (
	"reflect"
	"time"
)

// RouterSpec is `router_settings` as it is given: by the configuration file, by a
// request, or by the record of the replicated state. A nil field is not given; an
// empty list or map is given, and empty. RouterFields describes each field.
type RouterSpec struct {
	Strategy               *string
	NumRetries             *int
	RetryAfter             *time.Duration
	Timeout                *time.Duration
	StreamTimeout          *time.Duration
	RetryOn                []string
	MaxFallbacks           *int
	CooldownTime           *time.Duration
	AllowedFails           *int
	DefaultMaxParallel     *int
	DisableCooldowns       *bool
	EnablePreCallChecks    *bool
	ModelGroupAlias        map[string]string
	Fallbacks              []map[string][]string // in each map: group, provider/model or deployment id → targets
	DefaultFallbacks       []string
	ContextWindowFallbacks []map[string][]string
	ContentPolicyFallbacks []map[string][]string
}

// RouterField describes one setting of the router: the one place for its name, its
// documentation, its default and its bounds.
type RouterField struct {
	Name string // in the configuration file, the API and, with _nanos for a duration, the record
	Text string // what it means
	Number
	in func(*RouterSpec) any
}

// Number is the default and the bounds of a number; a duration counts nanoseconds.
type Number struct{ Default, Least, Most int64 }

// RouterFields returns every setting, in the order in which they are shown.
func RouterFields() []RouterField {
	const longest = int64(maxTimeout)
	return []RouterField{
		{"routing_strategy", "How a deployment of a model name is chosen: simple_shuffle, weighted by weight, rpm or tpm, or least_busy.", Number{}, func(s *RouterSpec) any { return &s.Strategy }},
		{"num_retries", "Further attempts within a model name before its fallbacks are tried.", Number{DefaultNumRetries, 0, 20}, func(s *RouterSpec) any { return &s.NumRetries }},
		{"retry_after", "Base of the backoff between attempts, in seconds. It doubles with each attempt.", Number{int64(DefaultRetryAfter), 0, int64(time.Minute)}, func(s *RouterSpec) any { return &s.RetryAfter }},
		{"timeout", "Seconds that one attempt may take.", Number{int64(DefaultTimeout), int64(time.Millisecond), longest}, func(s *RouterSpec) any { return &s.Timeout }},
		{"stream_timeout", "Seconds that one streamed attempt may take; by default as timeout.", Number{0, int64(time.Millisecond), longest}, func(s *RouterSpec) any { return &s.StreamTimeout }},
		{"retry_on", "Causes for which another attempt follows: 5xx, 429, timeout, connection, content_filter, stream_error. 429 and connection always apply.", Number{}, func(s *RouterSpec) any { return &s.RetryOn }},
		{"max_fallbacks", "Fallback targets that one request may use.", Number{DefaultMaxFallbacks, 0, maxFallbacks}, func(s *RouterSpec) any { return &s.MaxFallbacks }},
		{"cooldown_time", "Seconds that a deployment is in cooldown after a failure.", Number{int64(DefaultCooldownTime), 0, longest}, func(s *RouterSpec) any { return &s.CooldownTime }},
		{"allowed_fails", "Failures within a minute that do not yet lead to a cooldown.", Number{0, 0, 1_000_000}, func(s *RouterSpec) any { return &s.AllowedFails }},
		{"default_max_parallel_requests", "Requests in flight at a deployment that has no max_parallel_requests of its own; 0 for no limit.", Number{0, 0, maxParallel}, func(s *RouterSpec) any { return &s.DefaultMaxParallel }},
		{"disable_cooldowns", "Whether no deployment is ever in cooldown.", Number{}, func(s *RouterSpec) any { return &s.DisableCooldowns }},
		{"enable_pre_call_checks", "Whether deployments are left out whose context window is too small for the prompt.", Number{}, func(s *RouterSpec) any { return &s.EnablePreCallChecks }},
		{"model_group_alias", "Other names of models: an object of each name and the model that it stands for.", Number{}, func(s *RouterSpec) any { return &s.ModelGroupAlias }},
		{"fallbacks", `Fallbacks of models that have failed: a list of objects such as {"gpt-4o": ["claude"]}. A name is a model name, provider/model or a deployment id.`, Number{}, func(s *RouterSpec) any { return &s.Fallbacks }},
		{"default_fallbacks", "Fallbacks of every model, after its own.", Number{}, func(s *RouterSpec) any { return &s.DefaultFallbacks }},
		{"context_window_fallbacks", "Fallbacks for prompts that are too long for the model, in the form of fallbacks. They are checked, and have no effect yet.", Number{}, func(s *RouterSpec) any { return &s.ContextWindowFallbacks }},
		{"content_policy_fallbacks", "Fallbacks for responses that the provider's filter rejected, in the form of fallbacks. They are checked, and have no effect yet.", Number{}, func(s *RouterSpec) any { return &s.ContentPolicyFallbacks }},
	}
}

// DefaultRouter returns the settings that apply where the file and the API give none.
// It gives no stream_timeout, which is by default the timeout of each deployment, and
// no lists but retry_on.
func DefaultRouter() RouterSpec {
	s := RouterSpec{Strategy: new(string(SimpleShuffle)), RetryOn: (RetryOn5xx | RetryOn429 | RetryOnTimeout | RetryOnConnection).names()}
	for _, f := range RouterFields() {
		switch to := f.in(&s).(type) {
		case **int:
			*to = new(int(f.Default))
		case **time.Duration:
			if f.Default != 0 {
				*to = new(time.Duration(f.Default))
			}
		case **bool:
			*to = new(false)
		}
	}
	return s
}

// In returns a pointer to the field of s: a **string, **int, **time.Duration, **bool,
// *[]string, *map[string]string or *[]map[string][]string.
func (f RouterField) In(s *RouterSpec) any { return f.in(s) }

// Given reports whether s gives the setting.
func (f RouterField) Given(s *RouterSpec) bool { return !f.value(s).IsNil() }

func (f RouterField) value(s *RouterSpec) reflect.Value { return reflect.ValueOf(f.in(s)).Elem() }

// routerField returns the description of a setting.
func routerField(name string) (RouterField, bool) {
	for _, f := range RouterFields() {
		if f.Name == name {
			return f, true
		}
	}
	return RouterField{}, false
}

// Merge returns s with what next gives. A value that is given replaces the old one as
// a whole: lists are not joined. Neither is changed; the result shares their slices
// and maps.
func (s RouterSpec) Merge(next RouterSpec) RouterSpec {
	for _, f := range RouterFields() {
		if f.Given(&next) {
			f.value(&s).Set(f.value(&next))
		}
	}
	return s
}

// Reset returns s without one setting. It is false for a name that no setting has.
func (s RouterSpec) Reset(name string) (RouterSpec, bool) {
	f, ok := routerField(name)
	if ok {
		f.value(&s).SetZero()
	}
	return s, ok
}

// Sets reports whether s gives a setting.
func (s RouterSpec) Sets(name string) bool {
	f, ok := routerField(name)
	return ok && f.Given(&s)
}
