package catalog

import (
	"strings"
	"time"
)

// router checks router_settings, all but what names deployments; see Catalog.route.
func (p *problems) router(r *router) {
	const at = "router_settings."
	s, set := &r.spec, &r.settings
	*set = RouterSettings{
		Strategy:            p.strategy(s.Strategy),
		NumRetries:          integer(p, at+"num_retries", s.NumRetries, setting[int]{DefaultNumRetries, 0, maxRetries}),
		RetryAfter:          integer(p, at+"retry_after", s.RetryAfter, setting[time.Duration]{DefaultRetryAfter, 0, maxRetryAfter}),
		Timeout:             integer(p, at+"timeout", s.Timeout, setting[time.Duration]{DefaultTimeout, time.Millisecond, maxTimeout}),
		CooldownTime:        integer(p, at+"cooldown_time", s.CooldownTime, setting[time.Duration]{DefaultCooldownTime, 0, maxTimeout}),
		AllowedFails:        integer(p, at+"allowed_fails", s.AllowedFails, setting[int]{0, 0, maxAllowedFails}),
		MaxFallbacks:        integer(p, at+"max_fallbacks", s.MaxFallbacks, setting[int]{DefaultMaxFallbacks, 0, maxFallbacks}),
		DefaultMaxParallel:  integer(p, at+"default_max_parallel_requests", s.DefaultMaxParallel, setting[int]{0, 0, maxParallel}),
		RetryOn:             p.retryOn(s.RetryOn),
		DisableCooldowns:    s.DisableCooldowns,
		EnablePreCallChecks: s.EnablePreCallChecks,
	}
	set.StreamTimeout = integer(p, at+"stream_timeout", s.StreamTimeout, setting[time.Duration]{set.Timeout, time.Millisecond, maxTimeout})
	r.streams = s.StreamTimeout != nil
}

// setting is a number's default and bounds.
type setting[T int | time.Duration] struct{ otherwise, least, most T }

func integer[T int | time.Duration](p *problems, param string, given *T, s setting[T]) T {
	if given == nil {
		return s.otherwise
	}
	if *given < s.least || *given > s.most {
		p.add(param, codeInvalid, "%s is %v; it must be from %v to %v", strings.TrimPrefix(param, "router_settings."), *given, s.least, s.most)
		return s.otherwise
	}
	return *given
}

// strategy reads a strategy's name in any of its spellings.
func (p *problems) strategy(name string) Strategy {
	switch strings.ReplaceAll(strings.ToLower(name), "-", "_") {
	case "", "simple_shuffle":
		return SimpleShuffle
	case "least_busy":
		return LeastBusy
	case "usage_based_routing", "usage_based_routing_v2", "latency_based_routing", "cost_based_routing", "provider_budget_routing",
		"lowest_latency", "lowest_cost", "lowest_tpm_rpm", "tag_based_routing":
		p.add("router_settings.routing_strategy", codeStrategy, "the strategy %s is not built into this gateway; use simple_shuffle or least_busy", quote(name))
	default:
		p.add("router_settings.routing_strategy", codeStrategy, "the strategy %s is not known; use simple_shuffle or least_busy", quote(name))
	}
	return SimpleShuffle
}

// retryOn reads the causes. 429 and connection are always on: the first is
// promised whatever the list says, the second cannot have cost anything yet.
func (p *problems) retryOn(names []string) RetryOn {
	const always = RetryOn429 | RetryOnConnection
	if names == nil {
		return always | RetryOn5xx | RetryOnTimeout
	}
	set := always
	for _, name := range names {
		switch strings.ReplaceAll(strings.ToLower(name), "-", "_") {
		case "5xx":
			set |= RetryOn5xx
		case "timeout":
			set |= RetryOnTimeout
		case "content_filter":
			set |= RetryOnContentFilter
		case "stream_error":
			set |= RetryOnStreamError
		case "429", "connection":
		default:
			p.add("router_settings.retry_on", codeInvalid, "%s is not a cause; use 5xx, 429, timeout, connection, content_filter or stream_error", quote(name))
		}
	}
	return set
}
