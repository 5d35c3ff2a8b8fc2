package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/modelgateway/modelgateway/gateway"
)

func configCommand() *cobra.Command {
	root := &cobra.Command{Use: "config", Short: "Work with configuration files"}
	var accepted []string
	check := &cobra.Command{
		Use:   "check FILE",
		Short: "Check a configuration file and print what it comes to, with every default and without secrets",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := gateway.Load(args[0], accepted)
			if err != nil {
				return err
			}
			for i := range s.Config.Warnings {
				_, _ = fmt.Fprintln(c.ErrOrStderr(), "warning: "+s.Config.Warnings[i].String())
			}
			_, err = c.OutOrStdout().Write(s.Config.Effective())
			return err
		},
	}
	acceptUnprotected(check, &accepted)
	root.AddCommand(check)
	return root
}

// acceptUnprotected adds the flag by which an operator starts without a guard that
// the file asks for.
func acceptUnprotected(c *cobra.Command, to *[]string) {
	c.Flags().StringArrayVar(to, "accept-unprotected", nil,
		"start although this setting of LiteLLM, which protects, is not supported: its name as the rejection shows it, such as litellm_params.tags (repeatable)")
}
