package config

import (
	"net/netip"
	"time"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/rights"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// Config is a sound configuration with every default filled in. Nothing but
// Apply changes it after it is made, so it is safe for concurrent use from
// then on.
type Config struct {
	Listen string // host:port of the one public listener; the host is an IP address
	// ManagementListen is host:port of a second listener, for management and health
	// alone, which no limit on connections holds for; empty: there is none.
	ManagementListen string
	DataDir          string     // directory of everything that is stored
	IntentSync       IntentSync // when a request's intent must be on disk
	// ShutdownDelay is how long readiness fails before the listener closes,
	// so that a load balancer has sent its requests elsewhere by then; 0 to 5m.
	ShutdownDelay time.Duration
	Envoy         Envoy        // the Envoy that carries the traffic
	Log           Log          // the process's own log
	Limits        Limits       // the limits of requests and responses
	Cluster       Cluster      // the other nodes, if there are any
	MasterKey     vault.Secret // the admin credential; never empty
	// EncryptionKey is general_settings.encryption_key, else
	// MODELGATEWAY_ENCRYPTION_KEY, else LITELLM_SALT_KEY: a key in a KMS, or a secret
	// of at least 32 characters, or zero. EncryptionSource is what to seal with.
	EncryptionKey vault.Source
	// EncryptionKeysPrevious open what was sealed before, in the order of the file.
	EncryptionKeysPrevious []vault.Source
	Audit                  Audit            // how long what happened is kept, and where it goes
	Webhook                Webhook          // how fast the webhook gets it, where nothing else is set at run time
	Budgets                Budgets          // what general_settings say of spending
	Enforced               Enforced         // parameters that requests must have
	MaxParallel            int64            // requests in flight at this node; 0 means no limit
	KeyRules               rights.KeyRules  // which callers may make keys, beyond rights
	Defaults               tenancy.Defaults // what users and teams get that are created without it
	// PrivateEndpoints is general_settings.allow_private_endpoints; nil where the file
	// does not give it. AllowsPrivateEndpoints is what holds.
	PrivateEndpoints *bool
	// Router is router_settings with every default, and with what litellm_settings say
	// of routing. Which strategies and which retry conditions exist is for the catalogue.
	Router      catalog.RouterSpec
	aliases     []string   // of model_group_alias, in the order of the file
	Models      []Model    // the deployments, in the order of the file
	Keys        []Key      // the virtual keys that the file defines
	Environment []Variable // what environment_variables sets, in the order of the file
	Warnings    []Problem  // what was understood and has no effect, or a risk, in the order of the file
	origin      origin     // where settings are in the file
}

// AllowsPrivateEndpoints reports whether deployments and credentials that are added
// over the API may have addresses in private networks and on this machine. Where the
// file does not set it, they may if the listener is on loopback only: a caller that can
// reach such a listener can reach those addresses as well.
func (c *Config) AllowsPrivateEndpoints() bool {
	if c.PrivateEndpoints != nil {
		return *c.PrivateEndpoints
	}
	at, err := netip.ParseAddrPort(c.Listen)
	return err == nil && at.Addr().Unmap().IsLoopback()
}

// EncryptionSource returns where the key comes from that credentials are sealed
// with at rest: the encryption key, else the master key. It is never zero. All nodes
// of a cluster need the same one. When it changes, EncryptionKeysPrevious needs the
// old one, to open what the old one has sealed.
func (c *Config) EncryptionSource() vault.Source {
	if c.EncryptionKey.IsZero() {
		return vault.FromSecret(c.MasterKey)
	}
	return c.EncryptionKey
}

// EncryptionSecret returns the secret of EncryptionSource; empty if a KMS holds the
// key.
func (c *Config) EncryptionSecret() vault.Secret { return c.EncryptionSource().Secret() }

// origin is what Locate needs.
type origin struct {
	file string
	at   places
}

// IntentSync says when the journal entry of a request must be on disk.
type IntentSync string

// The two choices of IntentSync.
const (
	BeforeAnswer   IntentSync = "before_answer"   // before the first byte of the response leaves: the sync overlaps the provider's work
	BeforeDispatch IntentSync = "before_dispatch" // before the provider is called: no window at all, one sync more in the latency
)

// EnvoyMode says which program starts Envoy.
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
	Attachment  Attachment
	Concurrency int64  // worker threads; 0 means one a CPU
	LogLevel    string // info, warning, error, critical or off; finer ones would print keys
}

// Attachment is how requests come from Envoy to the gateway's process.
type Attachment string

// The attachments.
const (
	AttachExtProc Attachment = "ext_proc" // by ext_proc, a service of gRPC
	AttachModule  Attachment = "module"   // by a dynamic module, except long bodies
)

// Log is the section log.
type Log struct {
	Level  string // debug, info, warn or error
	Format string // json or text
}

// Limits is the section limits.
type Limits struct {
	MaxRequestBytes   int64         // largest request body
	MaxConnections    int64         // of callers that are open at one time
	MaxInflightBytes  int64         // of all request bodies that are held at one time; a key may hold a quarter
	LongBodyRate      int64         // bytes of long request bodies that move per second; 0: by the number of cores
	MaxResponseBytes  int64         // largest whole response of a provider; streams have no total
	RequestTimeout    time.Duration // a request must have come in whole by then
	StreamIdleTimeout time.Duration // a stream without a byte for this long is ended
}

// Enforced names parameters that requests must have. A dot leads into an object, as in
// metadata.project.
type Enforced struct {
	Params        []string // of each request
	ServiceParams []string // of requests with keys of service accounts
}

// Cluster is the section cluster: how this node finds the others, and which nodes
// may connect to it. A node alone needs none of it.
type Cluster struct {
	// Listen is IP:port, for TCP and UDP alike; never empty if Enabled. A node
	// that is not opens no port for others, even if Listen is set.
	Listen string
	// Advertise is host:port by which the other nodes reach this one; empty means
	// derived from what it listens at.
	Advertise string
	// Join are nodes to ask for the cluster, host:port each, in the order of the
	// file. One that responds is enough; this node itself may be among them.
	Join []string
	// Expect is how many voters the first start waits for, this one included: 1,
	// 3, 5 or 7. 0 means that this node does not vote.
	Expect int
	// Secret is what nodes prove that they belong together by, at least 32
	// characters. Empty if TLS is set, and never if Enabled without it.
	Secret vault.Secret
	// TLS is set as a whole or not at all.
	TLS ClusterTLS
	// GossipKey is 32 raw bytes; set together with TLS, else empty.
	GossipKey vault.Secret
	// KeyStaleness is how long virtual keys are still accepted by a node that is
	// cut off from the others; 0 to 1h. 0 means not at all.
	KeyStaleness time.Duration
}

// ClusterTLS are the PEM files of a certificate authority of the operator's own,
// which nodes know each other by.
type ClusterTLS struct {
	CA   string // the authority that must have signed the certificates of the other nodes
	Cert string // of this node
	Key  string // of Cert
}

// Enabled reports whether there are other nodes to be met: whether join or
// expect is set. The section may hold settings and still not be enabled, so that
// one file can serve several nodes that get --join and --expect as flags.
func (c *Cluster) Enabled() bool { return len(c.Join) > 0 || c.Expect > 0 }

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
	Organization  string                  // sent to OpenAI as its organization header
	Timeout       time.Duration           // 0 means the router's
	StreamTimeout time.Duration           // 0 means the router's
	MaxParallel   int64                   // requests in flight; 0 means the router's default
	RPM, TPM      int64                   // requests and tokens a minute; 0 means unknown
	Weight        int64                   // share within the group; 0 means none given
	Order         int64                   // level within the group; lower is tried first
	MaxRetries    int64                   // kept for Effective; -1 if not given
	Cloud         map[string]vault.Secret // settings of the account at a cloud, by the names in cloud.Table
	ExtraHeaders  []Header
	DropParams    bool // parameters that the provider does not know are dropped
	BaseModel     string
	API           string   // the interface that chats go to; empty means as the provider likes
	Guardrails    []string // LiteLLM's place for those of Info
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
	Guardrails      []string // ids or names; LiteLLM has them in Params
	Prices          []Price
	Extras          []Extra // everything else in the file
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
