package config

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/modelgateway/modelgateway/cluster/vault"
)

const (
	// clusterPort is the default port for other nodes.
	clusterPort = 7400
	// defaultClusterListen is every address: nodes are on different machines, and
	// each connection must prove that its node belongs to the cluster.
	defaultClusterListen = "0.0.0.0:7400"
	// clusterVariable is where the secret is looked for when the file has none.
	clusterVariable = "MODELGATEWAY_CLUSTER_SECRET"
	// defaultStaleness is how long a node that is cut off accepts keys that may
	// have been deleted meanwhile: long enough for an election and a restart of a
	// switch, short enough for the owner of a lost key.
	defaultStaleness = time.Minute
	mostStaleness    = time.Hour
	// leastSecret is in characters: as many hexadecimal digits are 128 bits.
	leastSecret  = 32
	gossipBytes  = 32 // AES-256
	secretRemedy = "`modelgateway cluster secret` prints a new one"
)

// cluster reads the section cluster.
func (d *decoder) cluster(n *node, c *Config) {
	to := &c.Cluster
	to.KeyStaleness = defaultStaleness
	o := d.open(n)
	single(o, "listen", &to.Listen, parseClusterListen)
	single(o, "advertise", &to.Advertise, parseAdvertise)
	d.join(o, &to.Join)
	d.expect(o, &to.Expect)
	d.clusterCredentials(o, to)
	o.duration("key_staleness", &to.KeyStaleness, 0, mostStaleness)
	o.close()
	d.at.note(n, 2)

	if !to.Enabled() {
		for _, name := range []string{"listen", "advertise"} {
			if v := o.n.field(name); v != nil {
				d.warn(v, "has no effect until join or expect is set, or --join or --expect is given")
			}
		}
		return
	}
	to.fill()
	if o.n.field("secret") == nil && o.n.field("tls") == nil { // what is there was checked by itself
		if why := to.credentialFault(); why != "" {
			d.fail(o.n.value("join", "expect"), "%s", why)
		}
	}
	if why := to.portFault(c.Listen, c.ManagementListen); why != "" {
		d.fail(o.n.value("listen", "join", "expect"), "%s", why)
	}
}

// value returns the value of the first of the keys that is there, or n itself.
func (n *node) value(names ...string) *node {
	for _, name := range names {
		if v := n.field(name); v != nil {
			return v
		}
	}
	return n
}

// join reads the nodes to ask. An entry may hold several with commas between
// them, so that one environment variable can name them all.
func (d *decoder) join(o *object, to *[]string) {
	n, ok := o.take("join")
	if !ok {
		return
	}
	for _, item := range n.entries() {
		s, ok := d.text(item)
		if !ok {
			continue
		}
		for _, fault := range addJoin(to, s) {
			d.fail(item, "%s", fault)
		}
	}
}

// addJoin adds the nodes of one entry and returns what is wrong with it.
func addJoin(to *[]string, entry string) (faults []string) {
	for s := range strings.SplitSeq(entry, ",") {
		s = strings.TrimSpace(s)
		address, err := parseNode(s, clusterPort)
		switch {
		case err != nil:
			faults = append(faults, fmt.Sprintf(
				`%s is not the address of a node (%v): write host:port, such as "10.0.0.2:7400" or "node-2.example.com:7400"; without a port it is %d`,
				quote(s), err, clusterPort))
		case slices.Contains(*to, address):
			faults = append(faults, quote(s)+" is there twice: name each node once")
		default:
			*to = append(*to, address)
		}
	}
	return faults
}

// expect reads the number of voters.
func (d *decoder) expect(o *object, to *int) {
	v := int64(*to)
	o.integer("expect", &v, 0, 1<<31-1)
	if why := expectFault(int(v)); why != "" {
		d.fail(o.n.field("expect"), "%s", why)
		return
	}
	*to = int(v)
}

// expectFault returns what is wrong with a number of voters, or "".
func expectFault(n int) string {
	switch n {
	case 0, 1, 3, 5, 7:
		return ""
	case 2, 4, 6:
		return fmt.Sprintf("%d voters survive no more failures than %d: use 1, 3, 5 or 7, and 0 on nodes that shall not vote", n, n-1)
	}
	return fmt.Sprintf("%d is no number of voters: use 1, 3, 5 or 7 (more would only slow each write down), and 0 on nodes that shall not vote", n)
}

// clusterCredentials reads how nodes prove that they belong together: by a
// secret, from which all else is derived, or by the operator's own certificates,
// which need a key of their own for what is sent by UDP.
func (d *decoder) clusterCredentials(o *object, to *Cluster) {
	secret, hasSecret := o.take("secret")
	files, hasTLS := o.take("tls")
	key, hasKey := o.take("gossip_key")
	switch {
	case hasSecret && hasTLS:
		d.fail(secret, "is set next to cluster.tls: keep one of the two, they are two ways to authenticate the other nodes")
	case hasSecret && hasKey:
		d.fail(key, "is set next to cluster.secret, which the key is derived from: remove it, or replace the secret by cluster.tls")
	case hasKey && !hasTLS:
		d.fail(key, "is set without cluster.tls: add tls with ca, cert and key, or set cluster.secret instead of both")
	case hasTLS && !hasKey:
		d.fail(files, "is set without cluster.gossip_key, which what nodes send by UDP is encrypted with: add 32 random bytes in base64, from `openssl rand -base64 32`, best as os.environ/NAME")
	}
	switch {
	case hasSecret:
		to.Secret = d.secret(secret)
		if why := tooShort(to.Secret); why != "" && !to.Secret.IsEmpty() {
			d.fail(secret, "%s; %s", why, secretRemedy)
		}
	case !hasTLS:
		to.Secret = d.lookup(clusterVariable) // checked when it is needed
	}
	if hasTLS {
		d.clusterTLS(files, &to.TLS)
	}
	if hasKey {
		to.GossipKey = d.gossipKey(key)
	}
}

// clusterTLS reads the files of the operator's own certificates. The code
// that opens them reports whether they can be read.
func (d *decoder) clusterTLS(n *node, to *ClusterTLS) {
	before := len(d.problems)
	o := d.open(n)
	o.str("ca", &to.CA)
	o.str("cert", &to.Cert)
	o.str("key", &to.Key)
	o.close()
	if len(d.problems) > before {
		return
	}
	var missing []string
	for _, f := range []struct{ name, value string }{{"ca", to.CA}, {"cert", to.Cert}, {"key", to.Key}} {
		if f.value == "" {
			missing = append(missing, f.name)
		}
	}
	if len(missing) > 0 {
		d.fail(n, "has no %s: name the PEM files of all three, ca, cert and key", strings.Join(missing, " and no "))
	}
}

// gossipKey reads 32 bytes in base64 or hexadecimal digits.
func (d *decoder) gossipKey(n *node) vault.Secret {
	s := d.secret(n)
	if s.IsEmpty() {
		return s
	}
	text := s.Reveal()
	if raw, err := hex.DecodeString(text); err == nil && len(raw) == gossipBytes {
		return vault.NewSecret(string(raw))
	}
	text = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	if raw, err := base64.RawStdEncoding.DecodeString(text); err == nil && len(raw) == gossipBytes {
		return vault.NewSecret(string(raw))
	}
	d.fail(n, "is not 32 bytes in base64 or hexadecimal digits: make one by `openssl rand -base64 32`")
	return vault.Secret{}
}

// tooShort returns why a secret is too easy to guess, or "".
func tooShort(s vault.Secret) string {
	if len(s.Reveal()) < leastSecret {
		return fmt.Sprintf("is shorter than %d characters and can be guessed: choose a longer one", leastSecret)
	}
	return ""
}

// fill sets what follows from the rest.
func (c *Cluster) fill() {
	if c.Enabled() && c.Listen == "" {
		c.Listen = defaultClusterListen
	}
}

// credentialFault returns why nodes could not know each other, or "".
func (c *Cluster) credentialFault() string {
	switch {
	case !c.Enabled() || c.TLS != (ClusterTLS{}):
		return ""
	case c.Secret.IsEmpty():
		return "needs a secret that all nodes share: set cluster.secret, or the environment variable " + clusterVariable +
			"; " + secretRemedy + ". Or set cluster.tls and cluster.gossip_key"
	}
	if why := tooShort(c.Secret); why != "" {
		return "needs a secret that all nodes share, and " + clusterVariable + " " + why + "; " + secretRemedy
	}
	return ""
}

// portFault returns whether nodes would meet where callers do, or "".
func (c *Cluster) portFault(listen, management string) string {
	for _, l := range []struct{ name, address string }{{"listen", listen}, {"management_listen", management}} {
		if at, err := netip.ParseAddrPort(c.Listen); err == nil && sameAddress(c.Listen, l.address) {
			return fmt.Sprintf("port %d is where callers are listened to (%s): give the nodes another in cluster.listen, such as %s",
				at.Port(), l.name, defaultClusterListen)
		}
	}
	return ""
}
