package xds_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	route "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/xds"
)

var update = flag.Bool("update", false, "rewrite testdata/*.out.yaml and delete those without an input")

// scenario is a golden input: what the operator wrote, as far as xds sees it.
type scenario struct {
	Endpoints []string `yaml:"endpoints"`
	RetryOn   []string `yaml:"retry_on"`
	CAFile    string   `yaml:"ca_file"`
	BodyLimit uint32   `yaml:"body_limit"`
	Error     string   `yaml:"error"` // part of the expected error; empty: none
}

func (s scenario) input(t *testing.T) xds.Input {
	t.Helper()
	c := catalogOf(t, s.Endpoints, 1, s.RetryOn)
	return xds.Input{Endpoints: c.Endpoints(), Router: c.Settings(), CAFile: s.CAFile, BodyLimit: s.BodyLimit}
}

// catalogOf is a catalogue of n deployments on each of the endpoints.
func catalogOf(t *testing.T, endpoints []string, n int, retryOn []string) *catalog.Catalog {
	t.Helper()
	spec := catalog.Spec{Router: catalog.RouterSpec{RetryOn: retryOn}}
	for i := range n {
		for _, base := range endpoints {
			spec.Deployments = append(spec.Deployments, catalog.DeploymentSpec{
				ModelName: fmt.Sprintf("m%d", i), Model: fmt.Sprintf("fake/m%d", i), APIBase: base, APIKey: vault.NewSecret("k"),
			})
		}
	}
	c, err := catalog.New(spec, catalog.Providers{"fake": {NeedsBase: true}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestGolden(t *testing.T) {
	inputs, err := filepath.Glob("testdata/*.in.yaml")
	if err != nil || len(inputs) == 0 {
		t.Fatalf("no inputs: %v", err)
	}
	outputs := map[string]bool{}
	for _, in := range inputs {
		name := strings.TrimSuffix(filepath.Base(in), ".in.yaml")
		out := filepath.Join("testdata", name+".out.yaml")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(in)
			if err != nil {
				t.Fatal(err)
			}
			var s scenario
			if err := yaml.UnmarshalWithOptions(text, &s, yaml.Strict()); err != nil {
				t.Fatal(err)
			}
			got, err := xds.Translate(s.input(t))
			if s.Error != "" {
				var refused *fault.Error
				if !errors.As(err, &refused) || !strings.Contains(err.Error(), s.Error) {
					t.Errorf("error %v, want a fault with %q", err, s.Error)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			outputs[out] = true
			page := render(t, got)
			if *update {
				if err := os.WriteFile(out, page, 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(page)); diff != "" {
				t.Errorf("run with -update if this is meant (-want +got):\n%s", diff)
			}
		})
	}
	all, err := filepath.Glob("testdata/*.out.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, out := range all {
		if outputs[out] {
			continue
		}
		if !*update {
			t.Errorf("%s has no input; run with -update", out)
		} else if err := os.Remove(out); err != nil {
			t.Error(err)
		}
	}
}

// render writes resources as YAML with sorted keys.
func render(t *testing.T, r *xds.Resources) []byte {
	t.Helper()
	var page []byte
	add := func(m proto.Message) {
		text, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		sorted, err := yaml.JSONToYAML(text)
		if err != nil {
			t.Fatal(err)
		}
		var tree any
		if err := yaml.Unmarshal(sorted, &tree); err != nil {
			t.Fatal(err)
		}
		one, err := yaml.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		page = append(append(page, "---\n"...), one...)
	}
	for _, c := range r.Clusters {
		add(c)
	}
	for _, c := range r.Routes {
		add(c)
	}
	return page
}

// TestDeploymentsAreFree holds that Envoy's configuration depends on endpoints alone.
func TestDeploymentsAreFree(t *testing.T) {
	var endpoints []string
	for i := range 20 {
		endpoints = append(endpoints, fmt.Sprintf("https://p%d.test/v1", i))
	}
	var got [2]*xds.Resources
	for i, n := range []int{1, 500} {
		c := catalogOf(t, endpoints, n, nil)
		if len(c.Deployments()) != 20*n {
			t.Fatalf("%d deployments", len(c.Deployments()))
		}
		in := xds.Input{Endpoints: c.Endpoints(), Router: c.Settings(), CAFile: "/ca.pem"}
		slices.Reverse(in.Endpoints)
		var err error
		if got[i], err = xds.Translate(in); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(got[0], got[1], protocmp.Transform()); diff != "" {
		t.Errorf("10,000 deployments differ from 20:\n%s", diff)
	}
	if n := len(got[1].Clusters); n != 40 {
		t.Errorf("%d clusters, want 40", n)
	}
}

// TestConsistent plants what must never be published.
func TestConsistent(t *testing.T) {
	for _, tc := range []struct {
		name  string
		spoil func(*xds.Resources)
	}{
		{"two_of_a_name", func(r *xds.Resources) { r.Clusters = append(r.Clusters, r.Clusters[0]) }},
		{"addresses_of_another", func(r *xds.Resources) { r.Clusters[0].LoadAssignment.ClusterName = "another" }},
		{"invalid_message", func(r *xds.Resources) { r.Clusters[0].Name = "" }},
		{"provider_without_a_plan", func(r *xds.Resources) {
			for _, one := range r.Routes[0].GetVirtualHosts()[0].GetRoutes() {
				if one.GetName() == "gateway" {
					one.GetRoute().ClusterSpecifier = &route.RouteAction_Cluster{Cluster: r.Clusters[0].GetName()}
				}
			}
		}},
		{"plan_that_need_not_be_there", func(r *xds.Resources) {
			r.Routes[0].GetVirtualHosts()[0].GetRoutes()[0].GetMatch().DynamicMetadata = nil
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, _ := translate(t, "http://a.test")
			if err := r.Consistent(); err != nil {
				t.Fatal(err)
			}
			tc.spoil(r)
			if r.Consistent() == nil {
				t.Error("not noticed")
			}
			if err := xds.NewServer(xds.Config{}).Publish(r); fault.KindOf(err) != fault.Internal {
				t.Errorf("published, or refused otherwise: %v", err)
			}
		})
	}
}
