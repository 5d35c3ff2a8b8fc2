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
	for _, flag := range o.All() {
		switch to := flag.Value.(type) {
		case *string:
			f.StringVar(to, flag.Name, "", flag.Usage)
		case *[]string:
			f.StringSliceVar(to, flag.Name, nil, flag.Usage)
		case *int:
			f.IntVar(to, flag.Name, -1, flag.Usage)
		}
	}
	acceptUnprotected(c, &o.Accepted)
	_ = c.MarkFlagRequired("config")
	return c
}
