package catalog

import (
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// Strategy is a way to order the deployments of a group.
type Strategy string

// The strategies.
const (
	SimpleShuffle Strategy = "simple_shuffle" // weighted random
	LeastBusy     Strategy = "least_busy"     // fewest requests in flight first
)

// RetryOn is the set of causes for which a failed attempt is followed by another.
type RetryOn uint8

// The causes.
const (
	RetryOn5xx           RetryOn = 1 << iota // the provider answered 5xx
	RetryOn429                               // the provider is over its limit; always on
	RetryOnTimeout                           // the attempt took longer than its timeout
	RetryOnConnection                        // no connection, or it broke before the answer; always on
	RetryOnContentFilter                     // the provider's own filter refused or cut the answer
	RetryOnStreamError                       // the first event of a stream was an error
)

// Has reports whether every cause in o is in r.
func (r RetryOn) Has(o RetryOn) bool { return r&o == o }

// names returns the causes as router_settings names them.
func (r RetryOn) names() []string {
	var names []string
	for i, name := range []string{"5xx", "429", "timeout", "connection", "content_filter", "stream_error"} { // in the order of the bits
		if r.Has(1 << i) {
			names = append(names, name)
		}
	}
	return names
}

// Defaults of the router's settings.
const (
	// DefaultNumRetries is the number of further attempts within a group.
	DefaultNumRetries = 2
	// DefaultRetryAfter is the base of the backoff between attempts.
	DefaultRetryAfter = 80 * time.Millisecond
	// DefaultTimeout is how long one attempt may take. It is what the OpenAI SDKs
	// wait. Thirty seconds, which many examples set, is too short to be a default:
	// a reasoning model's whole answer takes minutes, and an attempt that is cut
	// off has been paid for and is then paid for again. LiteLLM's 6,000 s keeps
	// a dead connection for longer than any caller waits.
	DefaultTimeout = 600 * time.Second
	// DefaultCooldownTime is how long a failed deployment is in cooldown. The cooldown
	// begins with the first failure that retries did not cure, so it is short: a
	// minute (as some examples set) would remove a provider for one short fault.
	// A provider can ask for another time by Retry-After.
	DefaultCooldownTime = 5 * time.Second
	// DefaultMaxFallbacks is how many fallback targets one request may use.
	DefaultMaxFallbacks = 5
)

// Bounds of what a configuration may ask for.
const (
	maxFallbacks     = 100 // hops, and entries of one fallback list
	maxTimeout       = 24 * time.Hour
	maxTokensOfModel = 1 << 40
	maxWeight        = 1_000_000_000_000
	maxOrder         = 1_000_000
	maxParallel      = 1_000_000_000
)

// RouterSettings say how requests are routed. Every field has its value: the
// defaults are filled in.
type RouterSettings struct {
	Strategy            Strategy
	NumRetries          int           // further attempts within the group, before the fallbacks
	RetryAfter          time.Duration // base of the backoff
	Timeout             time.Duration // one attempt
	StreamTimeout       time.Duration // one streamed attempt
	CooldownTime        time.Duration // how long a failed deployment is in cooldown
	AllowedFails        int           // failures within a minute that do not yet lead to a cooldown
	RetryOn             RetryOn
	MaxFallbacks        int // fallback targets that one request may use
	DefaultMaxParallel  int // requests in flight at a deployment without a limit of its own; 0: no limit
	DisableCooldowns    bool
	EnablePreCallChecks bool // leave out deployments whose context window is too small
	ModelGroupAlias     map[id.ModelName]id.ModelName
}

// FallbackClass says which list of fallbacks applies.
type FallbackClass uint8

// The classes of fallbacks.
const (
	GeneralFallbacks       FallbackClass = iota // every failure that may be retried
	ContextWindowFallbacks                      // the prompt is too long for the model
	ContentPolicyFallbacks                      // the provider's filter refused
	fallbackClasses
)
