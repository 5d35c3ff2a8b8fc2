package config

import (
	"time"

	"github.com/modelgateway/modelgateway/cluster/vault"
)

// Config is a sound configuration with every default filled in. It is not
// changed after it is made, so it is safe for concurrent use.
type Config struct {
	Listen      string       // host:port of the one public listener; the host is an IP address
	DataDir     string       // directory of everything that is stored
	IntentSync  IntentSync   // when a request's intent must be on disk
	Envoy       Envoy        // the Envoy that carries the traffic
	Log         Log          // the process's own log
	Limits      Limits       // what a single request may take
	MasterKey   vault.Secret // the admin credential; never empty
	Router      Router       // how a deployment is chosen, and what is tried after a failure
	Models      []Model      // the deployments, in the order of the file
	Keys        []Key        // the virtual keys that the file defines
	Environment []Variable   // what environment_variables sets, in the order of the file
	Warnings    []Problem    // what was understood and has no effect, in the order of the file
	origin      origin       // where things stand in the file
}

// origin is what Locate needs.
type origin struct {
	file string
	at   places
}

// IntentSync says when the journal entry of a request must be on disk.
type IntentSync string

// The two choices of IntentSync.
const (
	BeforeAnswer   IntentSync = "before_answer"   // before the first byte of the answer leaves: the sync overlaps the provider's work
	BeforeDispatch IntentSync = "before_dispatch" // before the provider is called: no window at all, one sync more in the latency
)

// EnvoyMode says who starts Envoy.
type EnvoyMode string

// The two modes.
const (
	EnvoyChild    EnvoyMode = "child"    // the gateway starts Envoy and ends with it
	EnvoyExternal EnvoyMode = "external" // an Envoy that somebody else runs connects to the gateway
)

// Envoy is the section envoy.
type Envoy struct {
	Mode        EnvoyMode
	Path        string // program to start as a child; empty means the first "envoy" in PATH
	Concurrency int64  // worker threads; 0 means one a CPU
	LogLevel    string // info, warning, error, critical or off; finer ones would print keys
}

// Log is the section log.
type Log struct {
	Level  string // debug, info, warn or error
	Format string // json or text
}

// Limits is the section limits.
type Limits struct {
	MaxRequestBytes   int64         // largest request body
	MaxResponseBytes  int64         // largest whole answer of a provider; streams have no total
	RequestTimeout    time.Duration // a request must have come in whole by then
	StreamIdleTimeout time.Duration // a stream without a byte for this long is ended
}

// Router is the section router_settings. Which strategies and which retry
// conditions exist is for the catalogue to say.
type Router struct {
	Strategy            string
	NumRetries          int64         // further attempts within the group, before fallbacks
	RetryAfter          time.Duration // base of the backoff between attempts
	Timeout             time.Duration // of one attempt
	StreamTimeout       time.Duration // of one attempt that streams; 0 means the attempt's own timeout
	RetryOn             []string
	MaxFallbacks        int64
	CooldownTime        time.Duration
	AllowedFails        int64 // failures in a minute that do not yet rest a deployment
	DisableCooldowns    bool
	EnablePreCallChecks bool
	Aliases             []Alias
	Fallbacks           []Fallback
	ContextWindow       []Fallback
	ContentPolicy       []Fallback
	DefaultFallbacks    []string
}

// Alias gives a model group another name.
type Alias struct {
	Name, Group string
}

// Fallback is what is tried, in this order, after From has failed.
type Fallback struct {
	From string
	To   []string
}

// Model is one deployment: an entry of model_list.
type Model struct {
	Name   string
	Params Params
	Info   Info
}

// Params is gateway_params of a deployment.
type Params struct {
	Model         string // provider/model_id
	APIBase       string // empty means the provider's own
	APIKey        vault.Secret
	APIVersion    string        // kept for Effective; no built-in provider asks for it
	Organization  string        // sent to OpenAI as its organization header
	Timeout       time.Duration // 0 means the router's
	StreamTimeout time.Duration // 0 means the router's
	RPM, TPM      int64         // requests and tokens a minute; 0 means unknown
	Weight        int64         // share within the group; 0 means none given
	Order         int64         // level within the group; lower is tried first
	MaxRetries    int64         // kept for Effective; -1 if not given
	ExtraHeaders  []Header
	DropParams    bool // parameters that the provider does not know are dropped
	BaseModel     string
	Tags          []string // kept for Effective
	Prices        []Price
}

// Info is model_info of a deployment.
type Info struct {
	ID              string // empty means derived by the catalogue
	BaseModel       string
	Mode            string
	MaxTokens       int64
	MaxInputTokens  int64 // 0 means unknown
	MaxOutputTokens int64
	Prices          []Price
	Extras          []Extra // whatever else the file says
}

// Price is one price in USD a unit, as an exact decimal in the digits of the file.
type Price struct{ Name, Amount string }

// Header is a header that is added to what goes to a provider.
type Header struct {
	Name  string
	Value vault.Secret
}

// Extra is a free entry of model_info. JSON is its value; environment
// references in it are not followed, and what its name calls a key, a secret or
// a password is replaced by [redacted].
type Extra struct{ Name, JSON string }

// Key is a virtual key that the file defines.
type Key struct {
	Alias   string
	Key     vault.Secret
	Models  []string  // names or patterns; empty means all
	Expires time.Time // zero means never
	Blocked bool
}

// Variable is an entry of environment_variables.
type Variable struct {
	Name  string
	Value vault.Secret
}
