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
	"github.com/modelgateway/modelgateway/config/endpoint"
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

func (c *Cluster) settings() []setting {
	return []setting{
		{"listen", word{to: &c.Listen, without: "`" + defaultClusterListen + "`", parse: endpoint.ClusterListen}, "one port for the other nodes, TCP and UDP. A single node does not open it"},
		{"advertise", word{to: &c.Advertise, without: "derived", parse: endpoint.Advertise}, "address by which the other nodes reach this one"},
		{"join", own(&c.Join, (*decoder).join, (*writer).strings, unset), "nodes to find the cluster at; one that responds is enough"},
		{"expect", custom{
			func(o *object, name string) { o.d.expect(o, name, &c.Expect) },
			func(w *writer, name string) { w.integer(name, int64(c.Expect)) }, "0",
		}, "how many voters the first start waits for: 1, 3, 5 or 7; 0: this node does not vote"},
		{"secret", own(&c.Secret, (*decoder).clusterSecret, (*writer).secret, "`$"+clusterVariable+"`"), "makes a node a member: TLS certificates and gossip key are derived from it"},
		{"tls", group{of: c.TLS.settings(), check: c.TLS.check}, "your own authority, instead of the secret"},
		{"gossip_key", own(&c.GossipKey, (*decoder).gossipKey, (*writer).secret, unset), "32 bytes for the gossip, in base64 or hexadecimal digits; together with `tls`"},
		{"key_staleness", span{to: &c.KeyStaleness, standard: defaultStaleness, most: mostStaleness}, "how long a partitioned node accepts keys that were created over the API; then 503 `cut_off`. Keys of the file, models and routes have no limit"},
	}
}

func (f *ClusterTLS) settings() []setting {
	file := func(to *string) word { return word{to: to, without: unset} }
	return []setting{
		{"ca", file(&f.CA), "PEM file of the authority that has signed the certificates of all nodes"},
		{"cert", file(&f.Cert), "PEM file of this node's certificate"},
		{"key", file(&f.Key), "PEM file of the certificate's key"},
	}
}

// cluster reads the section cluster.
func (d *decoder) cluster(n *node, c *Config) {
	to := &c.Cluster
	o := d.open(n)
	d.clusterCredentials(o.n)
	o.settings(to.settings())
	o.close()
	if o.n.field("secret") == nil && o.n.field("tls") == nil {
		to.Secret = d.lookup(clusterVariable) // checked when it is needed
	}
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
func (d *decoder) join(o *object, name string, to *[]string) {
	n, ok := o.take(name)
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
		address, err := endpoint.Node(s, clusterPort)
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
func (d *decoder) expect(o *object, name string, to *int) {
	v := int64(*to)
	o.integer(name, &v, 0, 1<<31-1)
	if why := expectFault(int(v)); why != "" {
		d.fail(o.n.field(name), "%s", why)
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

// clusterCredentials checks how nodes authenticate each other: by a secret, from which
// everything else is derived, or by the operator's own certificates, which need a key of
// their own for what is sent by UDP.
func (d *decoder) clusterCredentials(section *node) {
	secret, files, key := section.field("secret"), section.field("tls"), section.field("gossip_key")
	switch {
	case secret != nil && files != nil:
		d.fail(secret, "is set next to cluster.tls: keep one of the two, they are two ways to authenticate the other nodes")
	case secret != nil && key != nil:
		d.fail(key, "is set next to cluster.secret, which the key is derived from: remove it, or replace the secret by cluster.tls")
	case key != nil && files == nil:
		d.fail(key, "is set without cluster.tls: add tls with ca, cert and key, or set cluster.secret instead of both")
	case files != nil && key == nil:
		d.fail(files, "is set without cluster.gossip_key, which what nodes send by UDP is encrypted with: add 32 random bytes in base64, from `openssl rand -base64 32`, best as os.environ/NAME")
	}
}

// clusterSecret reads the secret that all nodes share.
func (d *decoder) clusterSecret(o *object, name string, to *vault.Secret) {
	n, ok := o.take(name)
	if !ok {
		return
	}
	*to = d.secret(n)
	if why := tooShort(*to); why != "" && !to.IsEmpty() {
		d.fail(n, "%s; %s", why, secretRemedy)
	}
}

// check rejects certificates that are not complete. The code that opens the files
// reports whether they can be read.
func (f *ClusterTLS) check(o *object, before int) {
	var missing []string
	for _, s := range f.settings() {
		if file, ok := s.value.(word); ok && *file.to == "" {
			missing = append(missing, s.name)
		}
	}
	if len(missing) > 0 && len(o.d.problems) == before {
		o.d.fail(o.n, "has no %s: name the PEM files of all three, ca, cert and key", strings.Join(missing, " and no "))
	}
}

// gossipKey reads 32 bytes in base64 or hexadecimal digits.
func (d *decoder) gossipKey(o *object, name string, to *vault.Secret) {
	o.secret(name, to)
	text := to.Reveal()
	if text == "" {
		return
	}
	if raw, err := hex.DecodeString(text); err == nil && len(raw) == gossipBytes {
		*to = vault.NewSecret(string(raw))
		return
	}
	text = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	if raw, err := base64.RawStdEncoding.DecodeString(text); err == nil && len(raw) == gossipBytes {
		*to = vault.NewSecret(string(raw))
		return
	}
	d.fail(o.n.field(name), "is not 32 bytes in base64 or hexadecimal digits: make one by `openssl rand -base64 32`")
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
		if at, err := netip.ParseAddrPort(c.Listen); err == nil && endpoint.Same(c.Listen, l.address) {
			return fmt.Sprintf("port %d is where callers are listened to (%s): give the nodes another in cluster.listen, such as %s",
				at.Port(), l.name, defaultClusterListen)
		}
	}
	return ""
}
