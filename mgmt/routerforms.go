package mgmt

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// routerPatch reads settings. What the catalogue checks is not checked here.
func routerPatch(in *gatewayv1.RouterSettings) (catalog.RouterPatch, error) {
	p := catalog.RouterPatch{
		Strategy: in.RoutingStrategy, DisableCooldowns: in.DisableCooldowns, EnablePreCallChecks: in.EnablePreCallChecks,
		NumRetries: number(in.NumRetries), AllowedFails: number(in.AllowedFails), MaxFallbacks: number(in.MaxFallbacks),
		DefaultMaxParallel: number(in.DefaultMaxParallelRequests),
	}
	for _, n := range []struct {
		name  string
		value *float64
		to    **time.Duration
	}{
		{"retry_after", in.RetryAfter, &p.RetryAfter},
		{"timeout", in.Timeout, &p.Timeout},
		{"stream_timeout", in.StreamTimeout, &p.StreamTimeout},
		{"cooldown_time", in.CooldownTime, &p.CooldownTime},
	} {
		if n.value == nil {
			continue
		}
		d, err := seconds(fieldRouter+"."+n.name, *n.value)
		if err != nil {
			return p, err
		}
		*n.to = &d
	}
	for _, n := range []struct {
		name  string
		value *structpb.ListValue
		to    *[]string
	}{
		{"retry_on", in.GetRetryOn(), &p.RetryOn},
		{"default_fallbacks", in.GetDefaultFallbacks(), &p.DefaultFallbacks},
	} {
		var err error
		if *n.to, err = texts(fieldRouter+"."+n.name, n.value); err != nil {
			return p, err
		}
	}
	for _, n := range []struct {
		name  string
		value *structpb.ListValue
		to    *[]map[string][]string
	}{
		{"fallbacks", in.GetFallbacks(), &p.Fallbacks},
		{"context_window_fallbacks", in.GetContextWindowFallbacks(), &p.ContextWindowFallbacks},
		{"content_policy_fallbacks", in.GetContentPolicyFallbacks(), &p.ContentPolicyFallbacks},
	} {
		var err error
		if *n.to, err = fallbacks(fieldRouter+"."+n.name, n.value); err != nil {
			return p, err
		}
	}
	var err error
	p.ModelGroupAlias, err = aliases(fieldRouter+".model_group_alias", in.GetModelGroupAlias())
	return p, err
}

func number(v *int32) *int {
	if v == nil {
		return nil
	}
	return new(int(*v))
}

// texts reads a list of strings: nil for one that is not given, which is not the
// empty one.
func texts(param string, list *structpb.ListValue) ([]string, error) {
	if list == nil {
		return nil, nil
	}
	out := make([]string, len(list.GetValues()))
	for i, v := range list.GetValues() {
		s, ok := v.GetKind().(*structpb.Value_StringValue)
		if !ok {
			return nil, wrongType(param+"["+strconv.Itoa(i)+"]", "a string")
		}
		out[i] = s.StringValue
	}
	return out, nil
}

// fallbacks reads a list of objects of lists of strings.
func fallbacks(param string, list *structpb.ListValue) ([]map[string][]string, error) {
	if list == nil {
		return nil, nil
	}
	out := make([]map[string][]string, len(list.GetValues()))
	for i, v := range list.GetValues() {
		at := param + "[" + strconv.Itoa(i) + "]"
		entry := v.GetStructValue()
		if entry == nil {
			return nil, wrongType(at, `an object such as {"gpt-4o": ["claude"]}`)
		}
		out[i] = make(map[string][]string, len(entry.GetFields()))
		for _, from := range slices.Sorted(maps.Keys(entry.GetFields())) {
			named := at + "." + shortName(from)
			to := entry.GetFields()[from].GetListValue()
			if to == nil {
				return nil, wrongType(named, "a list")
			}
			names, err := texts(named, to)
			if err != nil {
				return nil, err
			}
			out[i][from] = names
		}
	}
	return out, nil
}

// aliases reads an object of strings.
func aliases(param string, in *structpb.Struct) (map[string]string, error) {
	if in == nil {
		return nil, nil
	}
	out := make(map[string]string, len(in.GetFields()))
	for _, name := range slices.Sorted(maps.Keys(in.GetFields())) {
		s, ok := in.GetFields()[name].GetKind().(*structpb.Value_StringValue)
		if !ok {
			return nil, wrongType(param+"."+shortName(name), "a string")
		}
		out[name] = s.StringValue
	}
	return out, nil
}

// showRouter is the router's settings as they apply, the defaults filled in.
func showRouter(spec catalog.RouterSpec, set catalog.RouterSettings) *gatewayv1.RouterSettings {
	out := &gatewayv1.RouterSettings{
		RoutingStrategy: new(string(set.Strategy)), NumRetries: new(int32(set.NumRetries)), RetryAfter: new(set.RetryAfter.Seconds()),
		Timeout: new(set.Timeout.Seconds()), StreamTimeout: new(set.StreamTimeout.Seconds()), CooldownTime: new(set.CooldownTime.Seconds()),
		AllowedFails: new(int32(set.AllowedFails)), MaxFallbacks: new(int32(set.MaxFallbacks)),
		DefaultMaxParallelRequests: new(int32(set.DefaultMaxParallel)),
		RetryOn:                    textList(causes(set.RetryOn)),
		DisableCooldowns:           new(set.DisableCooldowns), EnablePreCallChecks: new(set.EnablePreCallChecks),
		ModelGroupAlias:        &structpb.Struct{Fields: map[string]*structpb.Value{}},
		Fallbacks:              fallbackList(spec.Fallbacks),
		DefaultFallbacks:       textList(spec.DefaultFallbacks),
		ContextWindowFallbacks: fallbackList(spec.ContextWindowFallbacks),
		ContentPolicyFallbacks: fallbackList(spec.ContentPolicyFallbacks),
	}
	for alias, group := range set.ModelGroupAlias {
		out.ModelGroupAlias.Fields[string(alias)] = structpb.NewStringValue(string(group))
	}
	return out
}

// causes are the names of what another attempt follows, as router_settings has them.
func causes(r catalog.RetryOn) []string {
	var names []string
	for _, c := range []struct {
		bit  catalog.RetryOn
		name string
	}{
		{catalog.RetryOn5xx, "5xx"},
		{catalog.RetryOn429, "429"},
		{catalog.RetryOnTimeout, "timeout"},
		{catalog.RetryOnConnection, "connection"},
		{catalog.RetryOnContentFilter, "content_filter"},
		{catalog.RetryOnStreamError, "stream_error"},
	} {
		if r.Has(c.bit) {
			names = append(names, c.name)
		}
	}
	return names
}

func textList(names []string) *structpb.ListValue {
	out := &structpb.ListValue{}
	for _, n := range names {
		out.Values = append(out.GetValues(), structpb.NewStringValue(n))
	}
	return out
}

func fallbackList(all []map[string][]string) *structpb.ListValue {
	out := &structpb.ListValue{}
	for _, entry := range all {
		fields := make(map[string]*structpb.Value, len(entry))
		for from, to := range entry {
			fields[from] = structpb.NewListValue(textList(to))
		}
		out.Values = append(out.GetValues(), structpb.NewStructValue(&structpb.Struct{Fields: fields}))
	}
	return out
}
