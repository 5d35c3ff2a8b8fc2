package config_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/config"
)

// withSecret is an environment that nodes can form a cluster with.
func withSecret() func(string) (string, bool) {
	return environment([]byte("MODELGATEWAY_CLUSTER_SECRET=" + strings.Repeat("s", 32)))
}

// flags are flags of serve; expect is one more than what is given,
// so that its zero means that the flag is not there.
type flags struct {
	join              []string
	expect            int
	listen, advertise string
}

func (f flags) set(c *config.Config) error {
	return c.Apply(config.Flags{Join: f.join, Expect: f.expect - 1, ClusterListen: f.listen, ClusterAdvertise: f.advertise})
}

func TestFlagsOverTheFile(t *testing.T) {
	const file = admin + "cluster: {join: [a, b], expect: 3, advertise: a:7400}\n"
	for name, c := range map[string]struct {
		file string
		f    flags
		want config.Cluster
	}{
		"none":              {file, flags{}, config.Cluster{Listen: "0.0.0.0:7400", Advertise: "a:7400", Join: []string{"a:7400", "b:7400"}, Expect: 3}},
		"join replaces":     {file, flags{join: []string{"c,d:1", "[::1]"}}, config.Cluster{Listen: "0.0.0.0:7400", Advertise: "a:7400", Join: []string{"c:7400", "d:1", "[::1]:7400"}, Expect: 3}},
		"does not vote":     {file, flags{expect: 1}, config.Cluster{Listen: "0.0.0.0:7400", Advertise: "a:7400", Join: []string{"a:7400", "b:7400"}}},
		"addresses":         {file, flags{listen: "localhost:7500", advertise: "Me:7500"}, config.Cluster{Listen: "127.0.0.1:7500", Advertise: "me:7500", Join: []string{"a:7400", "b:7400"}, Expect: 3}},
		"no file":           {admin, flags{expect: 2}, config.Cluster{Listen: "0.0.0.0:7400", Expect: 1}},
		"a node alone":      {admin, flags{}, config.Cluster{}},
		"listen and no one": {admin, flags{listen: ":7400"}, config.Cluster{Listen: "0.0.0.0:7400"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := config.Parse("f", []byte(c.file), withSecret())
			if err != nil {
				t.Fatal(err)
			}
			before := got.Digest()
			if err := c.f.set(got); err != nil {
				t.Fatal(err)
			}
			if got.Cluster.Secret.Reveal() != strings.Repeat("s", 32) {
				t.Error("the secret of the environment is not there")
			}
			c.want.KeyStaleness, c.want.Secret = got.Cluster.KeyStaleness, got.Cluster.Secret
			if diff := cmp.Diff(c.want, got.Cluster, cmpopts.EquateComparable(vault.Secret{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if enabled := len(c.want.Join) > 0 || c.want.Expect > 0; got.Cluster.Enabled() != enabled {
				t.Errorf("Enabled is %v", !enabled)
			}
			if got.Digest() != before {
				t.Error("the cluster's settings are in the digest")
			}
		})
	}
}

func TestFlagsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		env  func(string) (string, bool)
		f    flags
		want string
	}{
		"values": {
			admin, withSecret(),
			flags{[]string{"a b", "c", "c:7400"}, 3, "x:1", "y"},
			`--expect: 2 voters survive no more failures than 1: use 1, 3, 5 or 7, and 0 on nodes that shall not vote
--join: "a b" is not the address of a node (the host is neither a name nor an IP address): write host:port, such as "10.0.0.2:7400" or "node-2.example.com:7400"; without a port it is 7400
--join: "c:7400" is there twice: name each node once
--cluster-listen: "x:1" is not an address for the other nodes (the host is not an IP address): write IP:port, such as "0.0.0.0:7400"
--cluster-advertise: "y" is no address that others could reach this node by (no host and port with a colon between them): write host:port, such as "10.0.0.1:7400"`,
		},
		"no secret": {
			admin, none,
			flags{join: []string{"a"}},
			"--join: needs a secret that all nodes share: set cluster.secret, or the environment variable MODELGATEWAY_CLUSTER_SECRET; `modelgateway cluster secret` prints a new one. Or set cluster.tls and cluster.gossip_key",
		},
		"short secret": {
			admin, environment([]byte("MODELGATEWAY_CLUSTER_SECRET=short")),
			flags{expect: 4},
			"--expect: needs a secret that all nodes share, and MODELGATEWAY_CLUSTER_SECRET is shorter than 32 characters and can be guessed: choose a longer one; `modelgateway cluster secret` prints a new one",
		},
		"port of the callers": {
			admin + "listen: 10.0.0.1:7400\ncluster: {expect: 1, listen: '10.0.0.2:7400'}\n", withSecret(),
			flags{listen: ":7400"},
			"--cluster-listen: port 7400 is where callers are listened to (listen): give the nodes another in cluster.listen, such as 0.0.0.0:7400",
		},
		"port 0": {
			admin, withSecret(),
			flags{listen: ":0", expect: 2},
			`--cluster-listen: ":0" is not an address for the other nodes (with port 0 it would be another after each start, and nobody would find it): write IP:port, such as "0.0.0.0:7400"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := config.Parse("f", []byte(c.file), c.env)
			if err != nil {
				t.Fatal(err)
			}
			before := got.Cluster
			err = c.f.set(got)
			if diff := cmp.Diff(c.want, fmt.Sprint(err)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if _, ok := errors.AsType[config.ProblemsError](err); !ok || fault.KindOf(err) != fault.Malformed {
				t.Errorf("not a refusal of values: %T", err)
			}
			if diff := cmp.Diff(before, got.Cluster, cmpopts.EquateComparable(vault.Secret{})); diff != "" {
				t.Errorf("changed nevertheless (-before +after):\n%s", diff)
			}
		})
	}
}

// TestFlagsMakeSenseOfTheFile gives what the file alone has no use for its use.
func TestFlagsMakeSenseOfTheFile(t *testing.T) {
	c, err := config.Parse("f", []byte(admin+"cluster: {listen: ':7400', advertise: 'a:1'}\ndata_dir: d\nrouter_settings: {redis_host: r}\n"), withSecret())
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Warnings) != 3 {
		t.Errorf("without flags: %v", c.Warnings)
	}
	if err := c.Apply(config.Flags{Join: []string{"b"}, Expect: 3}); err != nil {
		t.Fatal(err)
	}
	if len(c.Warnings) != 1 || c.Warnings[0].Path != "router_settings.redis_host" {
		t.Errorf("with flags: %v", c.Warnings)
	}
	if c.Cluster.Listen != "0.0.0.0:7400" || c.Cluster.Advertise != "a:1" {
		t.Errorf("the file's addresses: %+v", c.Cluster)
	}
}

// TestNodesAreReadOnce checks that whatever is taken for the address of a node
// is taken again as it came out, and that no order or repetition slips through.
func TestNodesAreReadOnce(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", "B-1", "10.0.0.1", "::1", "[", "]", ":", ":7400", ":1", "0", ".", "%", "-", ",", " ", "ü", "::ffff:1.2.3.4", "255.255.255.255", "x_y"})
	rapid.Check(t, func(t *rapid.T) {
		entry := strings.Join(rapid.SliceOfN(piece, 1, 5).Draw(t, "pieces"), "")
		c, err := config.Parse("f", []byte(admin), withSecret())
		if err != nil {
			t.Fatal(err)
		}
		if c.Apply(config.Flags{Join: []string{entry}, Expect: -1}) != nil {
			return
		}
		first := slices.Clone(c.Cluster.Join)
		if err := c.Apply(config.Flags{Join: first, Expect: -1, ClusterAdvertise: first[0]}); err != nil {
			t.Fatalf("%q was read as %q, which is refused: %v", entry, first, err)
		}
		if !slices.Equal(first, c.Cluster.Join) || c.Cluster.Advertise != first[0] {
			t.Fatalf("%q was read as %q, and that as %q and %q", entry, first, c.Cluster.Join, c.Cluster.Advertise)
		}
	})
}

func TestGossipKeyForms(t *testing.T) {
	want := "0123456789abcdef0123456789abc?>\xff"
	for name, key := range map[string]string{
		"hexadecimal":  fmt.Sprintf("%x", want),
		"upper case":   fmt.Sprintf("%X", want),
		"base64":       "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmM/Pv8=",
		"without fill": "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmM/Pv8",
		"for URLs":     "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmM_Pv8=",
	} {
		t.Run(name, func(t *testing.T) {
			c, err := config.Parse("f", []byte(admin+"cluster: {expect: 1, tls: {ca: a, cert: b, key: c}, gossip_key: "+key+"}\n"), none)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Cluster.GossipKey.Reveal(); got != want {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestClusterIsLocated checks that complaints about certificates get their line.
func TestClusterIsLocated(t *testing.T) {
	c, err := config.Parse("f", []byte(admin+"cluster:\n  expect: 1\n  gossip_key: "+strings.Repeat("00", 32)+"\n  tls:\n    ca: a\n    cert: b\n    key: c\n"), none)
	if err != nil {
		t.Fatal(err)
	}
	got := c.Locate(fault.Field("cluster.tls.cert", "x", "cannot be read"))
	if diff := cmp.Diff("f:7:11: cluster.tls.cert: cannot be read", fmt.Sprint(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEncryptionSecret(t *testing.T) {
	salt := strings.Repeat("a-salt-of-any-length", 2)
	for name, c := range map[string]struct{ src, env, want string }{
		"master key":     {admin, "", "sk-0123456789abcdef"},
		"empty variable": {admin, "LITELLM_SALT_KEY=", "sk-0123456789abcdef"},
		"variable":       {admin, "LITELLM_SALT_KEY=" + salt, salt},
		"own variables":  {"environment_variables: {LITELLM_SALT_KEY: '" + salt + "'}\n" + admin, "LITELLM_SALT_KEY=" + salt + "2", salt},
		"file":           {"general_settings: {master_key: sk-0123456789abcdef, encryption_key: '" + salt + "3'}\n", "LITELLM_SALT_KEY=short", salt + "3"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := config.Parse("f", []byte(c.src), environment([]byte(c.env)))
			if err != nil {
				t.Fatal(err)
			}
			if s := got.EncryptionSecret().Reveal(); s != c.want {
				t.Errorf("got %q", s)
			}
		})
	}
}

// TestDigest changes one thing at a time: what requests meet changes the digest,
// where a node keeps and finds its things does not.
func TestDigest(t *testing.T) {
	const models = "model_list: [{model_name: m, gateway_params: {model: openai/m, api_key: os.environ/K}}]\n"
	digest := func(t *testing.T, src, key string) [32]byte {
		t.Helper()
		c, err := config.Parse("f", []byte(src), environment([]byte("K="+key+"\nMODELGATEWAY_CLUSTER_SECRET="+strings.Repeat("s", 32))))
		if err != nil {
			t.Fatal(err)
		}
		return c.Digest()
	}
	base := digest(t, admin+models, "k")
	for name, src := range map[string]string{
		"again":    admin + models,
		"place":    "# elsewhere\nlisten: ':9'\ndata_dir: /x\nlog: {level: debug}\nshutdown_delay: 1m\ncluster: {expect: 3}\nx-a: b\n" + models + admin,
		"defaults": admin + models + "router_settings: {num_retries: 2}\nkeys: []\n",
	} {
		t.Run("same "+name, func(t *testing.T) {
			if digest(t, src, "k") != base {
				t.Error("another digest")
			}
		})
	}
	if digest(t, admin+models, "k2") == base {
		t.Error("another credential of a provider, and the same digest")
	}
	for name, src := range map[string]string{
		"no model":       admin,
		"price":          admin + strings.Replace(models, "K}", "K, input_cost_per_token: 1}", 1),
		"key":            admin + models + "keys: [{key: sk-abcdef0123456789}]\n",
		"other key":      admin + models + "keys: [{key: sk-abcdef0123456780}]\n",
		"router":         admin + models + "router_settings: {num_retries: 3}\n",
		"master key":     strings.Replace(admin, "cdef", "cdeg", 1) + models,
		"encryption key": strings.Replace(admin, "}", ", encryption_key: "+strings.Repeat("e", 32)+"}", 1) + models,
	} {
		t.Run("other "+name, func(t *testing.T) {
			if digest(t, src, "k") == base {
				t.Error("the same digest")
			}
		})
	}
}

// TestEachFlagReplacesItsSetting sets each flag by its row, over a file that sets nothing.
func TestEachFlagReplacesItsSetting(t *testing.T) {
	t.Parallel()
	want := map[string]struct{ value, effective string }{
		"data":              {"/srv/data", "data_dir: /srv/data\n"},
		"listen":            {"0.0.0.0:8000", "listen: \"0.0.0.0:8000\"\n"},
		"management-listen": {"localhost:8001", "management_listen: \"127.0.0.1:8001\"\n"},
		"envoy":             {"external", "  mode: external\n"},
		"envoy-path":        {"/opt/envoy", "  path: /opt/envoy\n"},
		"join":              {"b,c", "  join: [\"b:7400\", \"c:7400\"]\n"},
		"expect":            {"", "  expect: 3\n"},
		"cluster-listen":    {":7500", "  listen: \"0.0.0.0:7500\"\n"},
		"cluster-advertise": {"a:7500", "  advertise: \"a:7500\"\n"},
	}
	f := config.Flags{Expect: -1}
	for _, flag := range f.All() {
		switch to := flag.Value.(type) {
		case *string:
			*to = want[flag.Name].value
		case *[]string:
			*to = []string{want[flag.Name].value}
		case *int:
			*to = 3
		}
	}
	c, err := config.Parse("f", []byte(admin), withSecret())
	if err != nil {
		t.Fatal(err)
	}
	before := string(c.Effective())
	wrong := f
	wrong.EnvoyMode = "none"
	if err := c.Apply(wrong); err == nil || !strings.Contains(err.Error(), "--envoy none: must be child or external") || string(c.Effective()) != before {
		t.Errorf("got %v, and\n%s", err, c.Effective())
	}
	if err := c.Apply(f); err != nil {
		t.Fatal(err)
	}
	for _, flag := range f.All() {
		if w := want[flag.Name].effective; w == "" || !strings.Contains("\n"+string(c.Effective()), "\n"+w) {
			t.Errorf("--%s: %q is not in\n%s", flag.Name, w, c.Effective())
		}
	}
}
