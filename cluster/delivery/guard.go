package delivery

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/modelgateway/modelgateway/cluster/address"
	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Guard says what a webhook may reach. An address that somebody set is a way to have
// the gateway call whatever the gateway can see: services of its own network, and
// the metadata services of clouds, which hand out credentials. So an address is
// checked when it is set, where that can be told, and each connection again by the
// IP address that it is made to, since a name may lead anywhere at any time.
//
// The zero Guard lets through https, port 443, and addresses of the public Internet.
type Guard struct {
	// AllowPrivate lets through http, all ports and private networks too, for
	// receivers beside the gateway. Metadata services stay out of reach.
	AllowPrivate bool
	// Ports are further ports.
	Ports []uint16
}

const (
	maxURL      = 2048
	dialTimeout = 5 * time.Second
)

// CheckURL is Malformed for an address that no webhook can have. Its text does not
// repeat the address, which may hold a token.
func (g Guard) CheckURL(text string) error {
	if text == "" || len(text) > maxURL {
		return urlError("must have 1 to %d characters", maxURL)
	}
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' || text[i] == '\\' {
			return urlError("has a character that no URL has; write it percent-encoded, and a host name in punycode")
		}
	}
	u, err := url.Parse(text)
	switch {
	case err != nil: // its text quotes the address
		return urlError("is not a URL; write it like https://host/path")
	case u.Scheme != "https" && (u.Scheme != "http" || !g.AllowPrivate):
		return urlError("must start with https://")
	case u.Opaque != "" || u.Host == "":
		return urlError("has no host; write it like https://host/path")
	case u.User != nil:
		return urlError("holds a user name or password; receivers know the gateway by its signature, so leave them out")
	case strings.Contains(text, "#"):
		return urlError("has a fragment; leave out everything from the # on")
	}
	if err := g.checkPort(u); err != nil {
		return err
	}
	return g.checkHost(u)
}

func (g Guard) checkPort(u *url.URL) error {
	text := u.Port()
	if text == "" {
		if strings.HasSuffix(u.Host, ":") {
			return urlError("has a colon after its host but no port; write the port or drop the colon")
		}
		if text = "443"; u.Scheme == "http" {
			text = "80"
		}
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port == 0 {
		return urlError("has a port that is not a number from 1 to 65535")
	}
	if !g.mayPort(uint16(port)) {
		return urlError("has port %d; webhooks are called on port 443", port)
	}
	return nil
}

func (g Guard) mayPort(port uint16) bool {
	return g.AllowPrivate || port == 443 || slices.Contains(g.Ports, port)
}

// checkHost refuses hosts that are known not to be public without asking DNS.
func (g Guard) checkHost(u *url.URL) error {
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Zone() != "" || !g.mayDial(addr) {
			return urlError("leads to an address that webhooks may not call; use one of the public Internet")
		}
		return nil
	}
	if strings.HasPrefix(u.Host, "[") || len(host) > 253 {
		return urlError("has a malformed host")
	}
	labels := strings.Split(host, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return urlError("has a malformed host; write it like https://host.example/path")
		}
	}
	// 127.1, 0x7f.1, 0177.0.0.1 and 2130706433 are 127.0.0.1 for many a resolver.
	if last := labels[len(labels)-1]; address.IsNumber(last) {
		return urlError("has an IP address in another form than four decimal numbers; write it so, or a name")
	}
	if !g.AllowPrivate && address.IsLocalName(labels) {
		return urlError("has a host that is known in a private network only; webhooks are called on the public Internet")
	}
	if host == "metadata.google.internal" {
		return urlError("leads to a cloud's metadata service")
	}
	return nil
}

// mayDial reports whether a webhook may be called at an address.
func (g Guard) mayDial(addr netip.Addr) bool {
	of := address.Of(addr)
	return of == address.Public || of == address.Private && g.AllowPrivate
}

func urlError(format string, args ...any) error {
	return fault.Field("alerting_webhook_url", "invalid_url", "alerting_webhook_url "+format+".", args...)
}

// Dialer makes connections that the Guard lets through, and no others.
func (g Guard) Dialer() *net.Dialer { return &net.Dialer{Timeout: dialTimeout, Control: g.Control} }

// Control is for net.Dialer: it is asked with the address that was resolved, before
// anything is sent to it.
func (g Guard) Control(_, dialed string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(dialed)
	if err != nil || !g.mayDial(at.Addr()) || !g.mayPort(at.Port()) {
		return &fault.Error{Op: "delivery.dial", Kind: fault.Denied, Code: "address_not_allowed", Detail: "The host's name leads to an address that webhooks may not call."}
	}
	return nil
}
