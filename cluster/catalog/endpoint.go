package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/address"
	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
)

// Endpoint is a distinct upstream: what one Envoy cluster connects to. Many
// deployments share one, because a cluster costs Envoy about 60 KB and a
// deployment costs it nothing.
type Endpoint struct {
	ID     id.Endpoint // stable over restarts and nodes: a function of the other fields
	Scheme string      // "http" or "https"
	Host   string      // lower case; an IPv6 address has no brackets
	Port   uint16      // 1..65535
}

// Limits of an api_base. DNS allows 253 bytes for a host.
const (
	codeReach       = "address_not_allowed"
	maxBaseLength   = 2048
	maxHostLength   = 253
	maxReadableHost = 60
)

// ParseBase splits an api_base such as `https://api.openai.com/v1` into the
// upstream and the path that requests start with (`/v1`; empty for none, never
// with a slash at its end). Errors name the param api_base and never repeat the
// address, which may hold a credential that somebody pasted into it.
func ParseBase(apiBase string) (endpoint Endpoint, basePath string, err error) {
	if apiBase == "" {
		return Endpoint{}, "", baseError("api_base is empty; write the provider's address, such as https://api.openai.com/v1")
	}
	if len(apiBase) > maxBaseLength {
		return Endpoint{}, "", baseError("api_base is longer than %d bytes; shorten it", maxBaseLength)
	}
	if !printable(apiBase) || strings.ContainsAny(apiBase, `\"<>^{|}`+"`") {
		return Endpoint{}, "", baseError("api_base contains a character that no URL has (a space, a control or a non-ASCII character); write it percent-encoded, and a host name in punycode")
	}
	u, err := url.Parse(apiBase)
	if err != nil { // its text quotes the address, so it is dropped
		return Endpoint{}, "", baseError("api_base is not a URL; write it like https://host:port/path")
	}
	if err := checkBase(u, apiBase); err != nil {
		return Endpoint{}, "", err
	}
	host, err := hostOf(u)
	if err != nil {
		return Endpoint{}, "", err
	}
	port, err := portOf(u)
	if err != nil {
		return Endpoint{}, "", err
	}
	endpoint = Endpoint{Scheme: u.Scheme, Host: host, Port: port}
	endpoint.ID = endpointID(endpoint)
	return endpoint, strings.TrimRight(u.EscapedPath(), "/"), nil
}

// CheckReach rejects an api_base that leads where no request may go: to an address of a
// more restricted class than least. Nothing may go to forbidden ones: link-local
// addresses and clouds' metadata services. It resolves no name; a name that leads there
// passes. It accepts what ParseBase rejects. Errors name the param api_base and never
// repeat the address.
func CheckReach(apiBase string, least address.Class) error {
	base, _ := cloud.CutVersion(apiBase)
	e, _, err := ParseBase(base)
	if err != nil {
		return nil //nolint:nilerr // it is reported where the address is parsed
	}
	of := address.OfHost(e.Host)
	switch {
	case of == address.Forbidden:
		return fault.Field("api_base", codeReach, "api_base leads to a link-local or reserved address or to a cloud's metadata service, or writes an IP address in another form than four decimal numbers; use the address of a provider")
	case of < least:
		return fault.Field("api_base", codeReach, "api_base leads to a private network or to this machine; use a public address, put the deployment into the configuration file, or set general_settings.allow_private_endpoints there")
	}
	return nil
}

// checkBase refuses the parts of a URL that a base address cannot have.
func checkBase(u *url.URL, apiBase string) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return baseError("api_base must start with https:// or http://")
	case u.Opaque != "":
		return baseError("api_base lacks the two slashes after its scheme; write it like https://host/path")
	case u.User != nil:
		return baseError("api_base holds a user name or password; put the credential into api_key")
	case u.RawQuery != "" || u.ForceQuery:
		return baseError("api_base has a query; leave out everything from the question mark on")
	case strings.Contains(apiBase, "#"):
		return baseError("api_base has a fragment; leave out everything from the # on")
	}
	for segment := range strings.SplitSeq(u.Path, "/") {
		if segment == "." || segment == ".." {
			return baseError("api_base has a . or .. segment in its path; write the path out")
		}
	}
	return nil
}

// hostOf returns the host in the one spelling by which endpoints are told apart.
func hostOf(u *url.URL) (string, error) {
	host := strings.ToLower(u.Hostname())
	if strings.HasPrefix(u.Host, "[") {
		addr, err := netip.ParseAddr(host)
		if err != nil || addr.Zone() != "" {
			return "", baseError("api_base has a malformed IPv6 address, or one with a zone; write it like https://[2001:db8::1]:8080")
		}
		return addr.String(), nil
	}
	host = strings.TrimSuffix(host, ".")
	if host == "" {
		return "", baseError("api_base has no host; write it like https://host/path")
	}
	if len(host) > maxHostLength {
		return "", baseError("api_base has a host of more than %d bytes", maxHostLength)
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 {
			return "", baseError("api_base has a host with an empty or overlong part between its dots")
		}
	}
	for i := range len(host) {
		if !hostByte(host[i]) {
			return "", baseError("api_base has a host with a character other than letters, digits, dot, hyphen and underscore")
		}
	}
	return host, nil
}

// portOf returns the port, or the scheme's own.
func portOf(u *url.URL) (uint16, error) {
	text := u.Port()
	if text == "" {
		if strings.HasSuffix(u.Host, ":") {
			return 0, baseError("api_base has a colon after its host but no port; write the port or drop the colon")
		}
		return defaultPort(u.Scheme), nil
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port == 0 {
		return 0, baseError("api_base has a port that is not a number from 1 to 65535")
	}
	return uint16(port), nil
}

func defaultPort(scheme string) uint16 {
	if scheme == "https" {
		return 443
	}
	return 80
}

// URL is the endpoint as the beginning of a URL, such as https://api.openai.com.
func (e Endpoint) URL() string { return e.Scheme + "://" + e.Authority() }

// Authority is the Host header of requests to the endpoint: without the scheme's default port, as
// every client sends it.
func (e Endpoint) Authority() string {
	host := e.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if e.Port != defaultPort(e.Scheme) {
		host += ":" + strconv.Itoa(int(e.Port))
	}
	return host
}

// endpointID names an endpoint so that a person can read it in Envoy's
// statistics: `api.openai.com_443_tls`. A host that is not plainly readable (IPv6,
// overlong) is cut and marked with a hash. A bare hash would be shorter to write
// here and useless to whoever reads a dashboard.
func endpointID(e Endpoint) id.Endpoint {
	name := e.Host
	if len(name) > maxReadableHost || strings.Contains(name, ":") {
		sum := sha256.Sum256([]byte(e.Host))
		name = strings.ReplaceAll(name, ":", "-")
		name = strings.Trim(name[:min(len(name), maxReadableHost)], "-.") + "-" + hex.EncodeToString(sum[:4])
	}
	security := "_tcp"
	if e.Scheme == "https" {
		security = "_tls"
	}
	return id.Endpoint(name + "_" + strconv.Itoa(int(e.Port)) + security)
}

func hostByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '-' || c == '_'
}

// printable reports whether s is visible ASCII only: no spaces, no controls.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

func baseError(format string, args ...any) error {
	return fault.Field("api_base", "invalid_api_base", format, args...)
}
