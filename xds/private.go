package xds

import (
	mutation "github.com/envoyproxy/go-control-plane/envoy/config/common/mutation_rules/v3"
	matcher "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
)

// keptFromProviders removes what says who a client is and which way it came. It
// is the second net: ext_proc passes on only what it knows to be for providers.
// It is the first for x-forwarded-proto, which ext_proc must leave in place:
// without it Envoy finds no route. It cannot remove all x- headers, for by here
// some are the provider's own credentials.
func keptFromProviders() []*mutation.HeaderMutation {
	var out []*mutation.HeaderMutation
	for _, prefix := range []string{"x-forwarded-", "x-gateway-", "proxy-", "sec-", "mcp-"} {
		out = append(out, &mutation.HeaderMutation{Action: &mutation.HeaderMutation_RemoveOnMatch_{
			RemoveOnMatch: &mutation.HeaderMutation_RemoveOnMatch{KeyMatcher: &matcher.StringMatcher{
				MatchPattern: &matcher.StringMatcher_Prefix{Prefix: prefix},
			}},
		}})
	}
	for _, name := range []string{
		"cookie", "forwarded", "via", "origin", "referer", "x-real-ip",
		"x-envoy-external-address", "x-envoy-internal", "x-envoy-original-path",
	} {
		out = append(out, &mutation.HeaderMutation{Action: &mutation.HeaderMutation_Remove{Remove: name}})
	}
	return out
}
