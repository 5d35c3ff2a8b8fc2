package config

import (
	"slices"
	"strings"
)

// SetListen puts the flags --listen and --management-listen over what the file has; an
// empty string means that the flag was not given. The error is a ProblemsError that
// names the flag. Call it before SetCluster.
func (c *Config) SetListen(listen, management string) error {
	given := "--listen"
	if listen != "" {
		c.Listen = listen
	}
	if management != "" {
		given = "--management-listen"
		address, err := parseListen(management)
		if err != nil {
			return ProblemsError{{File: given, Detail: quote(management) + " is not an address to listen at (" + err.Error() + "): write IP:port, such as 127.0.0.1:8081"}}
		}
		c.ManagementListen = address
	}
	if sameAddress(c.Listen, c.ManagementListen) {
		return ProblemsError{{File: given, Detail: "listen and management_listen have the same address: give one of them another port"}}
	}
	return nil
}

// SetCluster puts command-line flags over the section cluster and checks the
// whole as Parse does. An empty list, a negative number and an empty string mean
// that a flag was not given; an entry of join may name several nodes with commas
// between them, and all of them replace those of the file. The error is a
// ProblemsError that names the flags, and then c is as it was. Call it before c
// is shared.
func (c *Config) SetCluster(join []string, expect int, listen, advertise string) error {
	next := c.Cluster
	var problems ProblemsError
	complain := func(flag, detail string) {
		problems = append(problems, Problem{File: flag, Detail: detail})
	}
	given := "--cluster-listen"
	if expect >= 0 {
		given = "--expect"
		if why := expectFault(expect); why != "" {
			complain(given, why)
		}
		next.Expect = expect
	}
	if len(join) > 0 {
		given = "--join"
		next.Join = nil
		for _, entry := range join {
			for _, fault := range addJoin(&next.Join, entry) {
				complain(given, fault)
			}
		}
	}
	for _, f := range []struct {
		flag, value string
		parse       func(string) (string, string)
		to          *string
	}{
		{"--cluster-listen", listen, parseClusterListen, &next.Listen},
		{"--cluster-advertise", advertise, parseAdvertise, &next.Advertise},
	} {
		if f.value == "" {
			continue
		}
		address, why := f.parse(strings.TrimSpace(f.value))
		if *f.to = address; why != "" {
			complain(f.flag, quote(f.value)+" "+why)
		}
	}
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
