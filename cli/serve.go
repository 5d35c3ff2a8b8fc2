package cli

import (
	"github.com/spf13/cobra"

	"github.com/modelgateway/modelgateway/gateway"
)

func serveCommand(version string) *cobra.Command {
	var o gateway.Options
	c := &cobra.Command{
		Use:   "serve --config FILE",
		Short: "Run the gateway and its Envoy",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return gateway.Serve(c.Context(), version, o)
		},
	}
	f := c.Flags()
	f.StringVarP(&o.File, "config", "c", "", "configuration file (YAML)")
	f.StringVar(&o.Data, "data", "", "data directory (default: data_dir of the file, or ./data)")
	f.StringVar(&o.Listen, "listen", "", "address to listen on (default: listen of the file, or 127.0.0.1:8080)")
	f.StringVar(&o.ManagementListen, "management-listen", "", "address for management and health alone, without a limit on connections (default: management_listen of the file, or none)")
	f.StringVar(&o.EnvoyPath, "envoy-path", "", "Envoy to run (default: $ENVOY_PATH, the one that make fetched, or the one on PATH)")
	f.StringVar(&o.EnvoyMode, "envoy", "", "child: run Envoy; external: serve one that somebody else runs")
	f.StringSliceVar(&o.Join, "join", nil, "nodes to find the cluster at, host:port (default: cluster.join of the file)")
	f.IntVar(&o.Expect, "expect", -1, "this node votes, and the first start waits for so many: 1, 3, 5 or 7; 0: it does not vote (default: cluster.expect of the file)")
	f.StringVar(&o.ClusterListen, "cluster-listen", "", "address for the other nodes, TCP and UDP (default: cluster.listen of the file, or 0.0.0.0:7400)")
	f.StringVar(&o.ClusterAdvertise, "cluster-advertise", "", "address that the other nodes reach this one at (default: derived)")
	acceptUnprotected(c, &o.Accepted)
	_ = c.MarkFlagRequired("config")
	return c
}
