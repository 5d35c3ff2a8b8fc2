package catalog

import (
	"strings"
	"time"
)

// router checks router_settings, all but what names deployments; see Catalog.route.
func (p *problems) router(r *router) {
	full := DefaultRouter().Merge(r.spec)
	strategy := p.strategy(*full.Strategy)
	for _, f := range RouterFields() {
		switch to := f.in(&full).(type) {
		case **int:
			*to = bounded(p, f, *to)
		case **time.Duration:
			*to = bounded(p, f, *to)
		}
	}
	if full.StreamTimeout == nil || *full.StreamTimeout == 0 {
		full.StreamTimeout = full.Timeout
	}
	r.settings = RouterSettings{
		Strategy:            strategy,
		NumRetries:          *full.NumRetries,
		RetryAfter:          *full.RetryAfter,
		Timeout:             *full.Timeout,
		StreamTimeout:       *full.StreamTimeout,
		CooldownTime:        *full.CooldownTime,
		AllowedFails:        *full.AllowedFails,
		MaxFallbacks:        *full.MaxFallbacks,
		DefaultMaxParallel:  *full.DefaultMaxParallel,
		RetryOn:             p.retryOn(full.RetryOn),
		DisableCooldowns:    *full.DisableCooldowns,
		EnablePreCallChecks: *full.EnablePreCallChecks,
	}
	full.Strategy, full.RetryOn = new(string(r.settings.Strategy)), r.settings.RetryOn.names()
	r.full, r.streams = full, r.spec.StreamTimeout != nil
}

// bounded returns the number, or the default if the number is out of bounds, which is
// a problem.
func bounded[T int | time.Duration](p *problems, f RouterField, given *T) *T {
	if given != nil && (*given < T(f.Least) || *given > T(f.Most)) {
		p.add("router_settings."+f.Name, codeInvalid, "%s is %v; it must be from %v to %v", f.Name, *given, T(f.Least), T(f.Most))
		return new(T(f.Default))
	}
	return given
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
	set := RetryOn429 | RetryOnConnection
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
