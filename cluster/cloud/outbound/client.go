package outbound

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/modelgateway/modelgateway/cluster/address"
	"github.com/modelgateway/modelgateway/cluster/cloud"
)

const (
	dialTime    = 5 * time.Second
	idleTime    = 30 * time.Second
	maxHeaders  = 64 << 10
	maxResponse = 1 << 20 // of a response's body, in bytes
)

// Config has the settings of Clients.
type Config struct {
	// Private allows addresses in private networks and on this machine for credentials that are not of the
	// configuration file.
	Private bool
	Roots   *x509.CertPool // that certificates are checked with; nil means the system's
	// Environ reads a variable of the environment, some of which are addresses of metadata services. nil: none is set.
	Environ func(name string) string
	// Dial makes connections in tests; nil: the network's dialer. Addresses of IP are checked before, names are not resolved.
	Dial func(ctx context.Context, network, to string) (net.Conn, error)
}

// Clients call token services. They are safe for concurrent use.
type Clients struct {
	foreign, trusted, machine *http.Client
	environ                   func(name string) string
	guardMachine              func(*http.Transport)
}

// NewClients returns clients. Close closes their connections.
func NewClients(cfg Config) *Clients {
	if cfg.Environ == nil {
		cfg.Environ = func(string) string { return "" }
	}
	foreign := guard{least: address.Public}
	if cfg.Private {
		foreign.least = address.Private
	}
	trusted := guard{least: address.Private}
	machine := guard{least: address.Private, metadata: metadataServices(cfg.Environ)}
	return &Clients{foreign: foreign.client(cfg), trusted: trusted.client(cfg), machine: machine.client(cfg), environ: cfg.Environ, guardMachine: func(t *http.Transport) { machine.guard(t, cfg) }}
}

// For returns the client for a credential.
func (c *Clients) For(of cloud.Credential) *http.Client {
	if of.Trusted {
		return c.trusted
	}
	return c.foreign
}

// Machine returns the client for metadata services. Its caller checks that the credential is trusted.
func (c *Clients) Machine() *http.Client { return c.machine }

// GuardMachine sets up the transport of a library so that it connects where Machine does. Its connections end with each call.
// Responses are to pass through Observe.
func (c *Clients) GuardMachine(t *http.Transport) {
	c.guardMachine(t)
	t.DisableKeepAlives = true
}

// Close closes the connections that no call uses.
func (c *Clients) Close() {
	for _, one := range []*http.Client{c.foreign, c.trusted, c.machine} {
		one.CloseIdleConnections()
	}
}

// metadataServices are the addresses of metadata services: those of AWS, Google and Azure, and those that the
// platform has put into the environment of the process.
func metadataServices(environ func(string) string) []netip.Addr {
	all := []netip.Addr{
		netip.MustParseAddr("169.254.169.254"), netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("fd20:ce::254"), // virtual machines
		netip.MustParseAddr("169.254.170.2"),                                       // tasks of ECS
		netip.MustParseAddr("169.254.170.23"), netip.MustParseAddr("fd00:ec2::23"), // pods of EKS
	}
	for _, name := range []string{"IDENTITY_ENDPOINT", "MSI_ENDPOINT", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_EC2_METADATA_SERVICE_ENDPOINT"} {
		if u, err := url.Parse(environ(name)); err == nil {
			if addr, err := netip.ParseAddr(u.Hostname()); err == nil {
				all = append(all, addr)
			}
		}
	}
	return all
}

// Environ returns a variable of the environment of this process.
func (c *Clients) Environ(name string) string { return c.environ(name) }

// Identity returns the token of an identity provider that a setting has or refers to.
func (c *Clients) Identity(setting, value string) (string, error) {
	at, elsewhere := cloud.ReferenceOf(setting, value)
	switch {
	case !elsewhere:
		return value, nil
	case at.Variable != "":
		return present(setting, at.Variable, c.environ(at.Variable))
	case at.FileOf != "":
		file, err := present(setting, at.FileOf, c.environ(at.FileOf))
		if err != nil {
			return "", err
		}
		at.File = file
	case at.File == "":
		return "", fmt.Errorf("%s refers to a token in a way that the gateway does not know; write the path of a file with the token", setting)
	}
	token, err := ReadFile(setting, at.File)
	return strings.TrimSpace(string(token)), err
}

func present(setting, variable, value string) (string, error) {
	if value == "" {
		return "", fmt.Errorf("%s refers to %s, which the environment of the gateway does not have", setting, variable)
	}
	return value, nil
}

// maxFile bounds a file with a credential, in bytes.
const maxFile = 64 << 10

// ReadFile reads a file that a setting names. Its caller checks that the credential is trusted.
func ReadFile(setting, file string) ([]byte, error) {
	body, err := os.ReadFile(file) //nolint:gosec // only the configuration file may name it
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s cannot be read: %w", setting, err)
	case len(body) > maxFile:
		return nil, fmt.Errorf("the file of %s has more than %d bytes", setting, maxFile)
	}
	return body, nil
}

// ErrForbidden is the error for an address that a credential may not lead to.
var ErrForbidden = errors.New("its name leads to an address in a private network or to a metadata service, which may not be called for this credential: see general_settings.allow_private_endpoints")

// guard says which addresses connections may be made to.
type guard struct {
	least    address.Class
	metadata []netip.Addr
}

func (g guard) control(_, to string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(to)
	if err != nil || address.Of(at.Addr()) < g.least && !slices.Contains(g.metadata, at.Addr().Unmap()) {
		return ErrForbidden
	}
	return nil
}

// dialer returns what makes connections to permitted addresses.
func (g guard) dialer(cfg Config) func(ctx context.Context, network, to string) (net.Conn, error) {
	if cfg.Dial == nil {
		return (&net.Dialer{Timeout: dialTime, Control: g.control}).DialContext
	}
	return func(ctx context.Context, network, to string) (net.Conn, error) {
		if _, err := netip.ParseAddrPort(to); err == nil {
			if err := g.control(network, to, nil); err != nil {
				return nil, err
			}
		}
		return cfg.Dial(ctx, network, to)
	}
}

// guard sets up a transport.
func (g guard) guard(t *http.Transport, cfg Config) {
	t.Proxy = nil // only the proxy's address would be checked
	t.DialContext = g.dialer(cfg)
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if cfg.Roots != nil {
		t.TLSClientConfig.RootCAs = cfg.Roots.Clone() // libraries add to it
	}
	t.TLSHandshakeTimeout = dialTime
	t.IdleConnTimeout = idleTime
	t.MaxResponseHeaderBytes = maxHeaders
	t.ForceAttemptHTTP2 = true
}

func (g guard) client(cfg Config) *http.Client {
	t := &http.Transport{}
	g.guard(t, cfg)
	return &http.Client{
		Transport:     observer{t},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// observer observes the responses.
type observer struct{ *http.Transport }

// RoundTrip makes a call.
func (o observer) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("User-Agent") == "" {
		r = r.Clone(r.Context())
		r.Header.Set("User-Agent", "modelgateway")
	}
	answer, err := o.Transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	Observe(r.Context(), r.URL.Host, answer)
	return answer, nil
}

// Observe notes the clock of the service that sent a response, and bounds the response's size.
func Observe(ctx context.Context, host string, answer *http.Response) {
	noteClock(ctx, host, answer.Header.Get("Date"), time.Now())
	answer.Body = bounded{io.LimitReader(answer.Body, maxResponse), answer.Body}
}

type bounded struct {
	io.Reader
	io.Closer
}
