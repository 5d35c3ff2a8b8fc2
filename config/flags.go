package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/config/endpoint"
)

// Flags are the flags of serve that replace settings of the file. An empty string, an
// empty list and a negative number mean that a flag was not given.
type Flags struct {
	Data, Listen, ManagementListen  string
	EnvoyMode, EnvoyPath            string
	Join                            []string // an entry may name several nodes with commas between them
	Expect                          int
	ClusterListen, ClusterAdvertise string
}

// Flag is one of Flags: the one place for its name and its documentation.
type Flag struct {
	Name    string
	Setting string // the path of the setting that it replaces
	Usage   string
	Value   any // *string, *[]string or *int
}

// All returns the flags, whose values are those of f.
func (f *Flags) All() []Flag {
	return []Flag{
		{"data", "data_dir", "data directory (default: data_dir of the file, or " + defaultData + ")", &f.Data},
		{"listen", "listen", "address to listen on (default: listen of the file, or " + defaultListen + ")", &f.Listen},
		{"management-listen", "management_listen", "address for management and health alone, without a limit on connections (default: management_listen of the file, or none)", &f.ManagementListen},
		{"envoy", "envoy.mode", "child: run Envoy; external: serve one that somebody else runs", &f.EnvoyMode},
		{"envoy-path", "envoy.path", "Envoy to run (default: $ENVOY_PATH, the one that make fetched, or the one on PATH)", &f.EnvoyPath},
		{"join", "cluster.join", "nodes to find the cluster at, host:port (default: cluster.join of the file)", &f.Join},
		{"expect", "cluster.expect", "this node votes, and the first start waits for so many: 1, 3, 5 or 7; 0: it does not vote (default: cluster.expect of the file)", &f.Expect},
		{"cluster-listen", "cluster.listen", "address for the other nodes, TCP and UDP (default: cluster.listen of the file, or " + defaultClusterListen + ")", &f.ClusterListen},
		{"cluster-advertise", "cluster.advertise", "address that the other nodes reach this one at (default: derived)", &f.ClusterAdvertise},
	}
}

// Apply puts flags over what the file has and checks the whole as Parse does. The error
// names the flags, and then c is as it was. Call it before c is shared.
func (c *Config) Apply(f Flags) error {
	next := *c
	next.DataDir = cmp.Or(f.Data, c.DataDir)
	next.Envoy.Path = cmp.Or(f.EnvoyPath, c.Envoy.Path)
	if err := next.setListen(f.Listen, f.ManagementListen); err != nil {
		return err
	}
	switch mode := EnvoyMode(f.EnvoyMode); mode {
	case "":
	case EnvoyChild, EnvoyExternal:
		next.Envoy.Mode = mode
	default:
		return fmt.Errorf("--envoy %s: must be child or external", f.EnvoyMode)
	}
	if err := next.setCluster(f); err != nil {
		return err
	}
	*c = next
	return nil
}

// setListen sets where callers connect. The error is a ProblemsError.
func (c *Config) setListen(listen, management string) error {
	given := "--listen"
	if listen != "" {
		c.Listen = listen
	}
	if management != "" {
		given = "--management-listen"
		address, err := endpoint.Listen(management)
		if err != nil {
			return ProblemsError{{File: given, Detail: quote(management) + " is not an address to listen at (" + err.Error() + "): write IP:port, such as 127.0.0.1:8081"}}
		}
		c.ManagementListen = address
	}
	if endpoint.Same(c.Listen, c.ManagementListen) {
		return ProblemsError{{File: given, Detail: "listen and management_listen have the same address: give one of them another port"}}
	}
	return nil
}

// setCluster sets the section cluster: all nodes of join replace those of the file. The
// error is a ProblemsError.
func (c *Config) setCluster(f Flags) error {
	next := c.Cluster
	var problems ProblemsError
	complain := func(flag, detail string) {
		problems = append(problems, Problem{File: flag, Detail: detail})
	}
	given := "--cluster-listen"
	if f.Expect >= 0 {
		given = "--expect"
		if why := expectFault(f.Expect); why != "" {
			complain(given, why)
		}
		next.Expect = f.Expect
	}
	if len(f.Join) > 0 {
		given = "--join"
		next.Join = nil
		for _, entry := range f.Join {
			for _, fault := range addJoin(&next.Join, entry) {
				complain(given, fault)
			}
		}
	}
	address := func(flag, value string, parse func(string) (string, string), to *string) {
		if value == "" {
			return
		}
		var why string
		if *to, why = parse(strings.TrimSpace(value)); why != "" {
			complain(flag, quote(value)+" "+why)
		}
	}
	address("--cluster-listen", f.ClusterListen, endpoint.ClusterListen, &next.Listen)
	address("--cluster-advertise", f.ClusterAdvertise, endpoint.Advertise, &next.Advertise)
	next.fill()
	if why := next.credentialFault(); why != "" {
		complain(given, why)
	}
	if why := next.portFault(c.Listen, c.ManagementListen); why != "" {
		complain(given, why)
	}
	if len(problems) > 0 {
		return problems
	}
	if c.Cluster = next; next.Enabled() {
		c.Warnings = slices.DeleteFunc(slices.Clone(c.Warnings), func(p Problem) bool {
			return p.Path == "cluster.listen" || p.Path == "cluster.advertise"
		})
	}
	return nil
}
