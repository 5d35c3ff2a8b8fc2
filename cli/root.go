package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// Root returns the program's command, with all others below it. version is the program's.
func Root(version string) *cobra.Command {
	root := &cobra.Command{
		Use:           "modelgateway",
		Short:         "A gateway between applications and language-model providers",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(serveCommand(version), configCommand(), clusterCommand(), secretsCommand(), auditCommand(), versionCommand(version))
	root.AddCommand(apiCommands()...)
	return root
}

func versionCommand(version string) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(c.OutOrStdout(), "modelgateway "+version)
			return err
		},
	}
}
