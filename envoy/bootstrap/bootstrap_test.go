package bootstrap_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/envoy/bootstrap"
	"github.com/modelgateway/modelgateway/envoy/contract"
)

func minimal() bootstrap.Config {
	return bootstrap.Config{AdminSocket: "/run/a", ProcessorSocket: "/run/p", BodiesSocket: "/run/b", GatewaySocket: "/run/g", GRPCSocket: "/run/r"}
}

// TestEnvoyAccepts has Envoy itself read the configuration.
func TestEnvoyAccepts(t *testing.T) {
	path := os.Getenv("MODELGATEWAY_ENVOY")
	if path == "" {
		path = "../../.tmp/envoy-1.40.0/envoy/_bin/envoy"
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("this test needs Envoy; run make or set MODELGATEWAY_ENVOY: %v", err)
	}
	for name, change := range map[string]func(*bootstrap.Config){
		"defaults":   func(*bootstrap.Config) {},
		"ipv6":       func(c *bootstrap.Config) { c.Address, c.Port = "::1", 1 },
		"management": func(c *bootstrap.Config) { c.ManagementAddress, c.ManagementPort = "127.0.0.1", 8081 },
		"hostile text": func(c *bootstrap.Config) {
			c.NodeID = "a\"\n}: {{ .Port }} %REQ(:path)% # \\ \u2028 \x00\u0085é"
			c.GatewaySocket = "/run/it's a \"socket\": [x]"
		},
		"extremes": func(c *bootstrap.Config) {
			c.BodyLimit, c.HeaderLimitKiB, c.MaxConnections, c.MaxHeapBytes = 1, 96, 1, 1<<40
			c.MessageTimeout, c.RequestTimeout, c.StreamIdleTimeout = 1, 24*3600*1e9, 1500*1e6
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := minimal()
			change(&c)
			page, err := bootstrap.Render(c)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "envoy.yaml")
			if err := os.WriteFile(file, page, 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.CommandContext(t.Context(), path, "--mode", "validate", "-l", "warn", "-c", file).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			} else if strings.Contains(string(out), "eprecated") {
				t.Errorf("deprecated configuration:\n%s", out)
			}
		})
	}
}

// TestValuesStayValues puts text that looks like configuration everywhere it can go.
func TestValuesStayValues(t *testing.T) {
	c := minimal()
	c.NodeID = "x\"}\nadmin: {address: {socket_address: {address: 0.0.0.0, port_value: 1}}} #"
	page, err := bootstrap.Render(c)
	if err != nil {
		t.Fatal(err)
	}
	var tree struct {
		Node  struct{ ID string }
		Admin struct {
			Address struct {
				Pipe struct {
					Path string
					Mode int
				}
			}
		}
	}
	if err := yaml.Unmarshal(page, &tree); err != nil {
		t.Fatal(err)
	}
	if tree.Node.ID != c.NodeID {
		t.Errorf("node id %q", tree.Node.ID)
	}
	if pipe := tree.Admin.Address.Pipe; pipe.Path != c.AdminSocket || pipe.Mode != 0o600 {
		t.Errorf("admin listens elsewhere: %+v", pipe)
	}
	again, err := bootstrap.Render(c)
	if err != nil || !bytes.Equal(page, again) {
		t.Errorf("the same configuration gives other bytes: %v", err)
	}
}

// TestFilterOrder holds the places of the filters, on which security depends.
func TestFilterOrder(t *testing.T) {
	c := minimal()
	c.StreamEnd, c.LinksSocket = "data: \"}\n\n", "/run/links.sock"
	page, err := bootstrap.Render(c)
	if err != nil {
		t.Fatal(err)
	}
	last := 0
	for _, name := range []string{
		contract.FilterStreamEnd, "envoy.filters.network.http_connection_manager", contract.FilterStreamCut, contract.FilterAttach, contract.FilterProcessor, "envoy.filters.http.router", contract.FilterLink,
	} {
		at := bytes.Index(page, []byte("- name: "+name))
		if at < 0 {
			at = bytes.Index(page, []byte(`- name: "`+name+`"`))
		}
		if at < last {
			t.Errorf("%s is missing or stands too early", name)
		}
		last = at
	}
	if without, err := bootstrap.Render(minimal()); err != nil || bytes.Contains(without, []byte("dynamic_modules")) {
		t.Errorf("modules are named that are not there: %v", err)
	} else if n := bytes.Count(without, []byte(contract.FilterPlainID)); n != bytes.Count(page, []byte(contract.FilterPlainID))+1 {
		t.Errorf("without the module, %d filters remove the dashes of ids", n)
	}
	for _, name := range contract.ResponseAttributes() {
		if !bytes.Contains(page, []byte(name)) {
			t.Errorf("attribute %s is not asked for", name)
		}
	}
}

func TestRefuses(t *testing.T) {
	for _, tc := range []struct {
		param  string
		change func(*bootstrap.Config)
	}{
		{"admin_socket", func(c *bootstrap.Config) { c.AdminSocket = "" }},
		{"processor_socket", func(c *bootstrap.Config) { c.ProcessorSocket = "/" + strings.Repeat("x", 107) }},
		{"gateway_socket", func(c *bootstrap.Config) { c.GatewaySocket = "" }},
		{"grpc_socket", func(c *bootstrap.Config) { c.GRPCSocket = "" }},
		{"address", func(c *bootstrap.Config) { c.Address = "localhost" }},
		{"management_address", func(c *bootstrap.Config) { c.ManagementAddress = "localhost" }},
		{"header_limit", func(c *bootstrap.Config) { c.HeaderLimitKiB = 97 }},
		{"message_timeout", func(c *bootstrap.Config) { c.MessageTimeout = -1 }},
		{"request_timeout", func(c *bootstrap.Config) { c.RequestTimeout = 1 << 62 }},
	} {
		t.Run(tc.param, func(t *testing.T) {
			c := minimal()
			tc.change(&c)
			_, err := bootstrap.Render(c)
			var refused *fault.Error
			if !errors.As(err, &refused) || refused.Param != tc.param || !strings.Contains(refused.Detail, tc.param) {
				t.Errorf("error %v, want one of the field %s", err, tc.param)
			}
		})
	}
	c := minimal()
	c.NodeID = "\xff"
	if _, err := bootstrap.Render(c); err == nil {
		t.Error("text that is not UTF-8 was accepted")
	}
}
