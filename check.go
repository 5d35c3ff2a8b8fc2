package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/keys"
	"github.com/modelgateway/modelgateway/config"
	"github.com/modelgateway/modelgateway/extproc/provider"
	"github.com/modelgateway/modelgateway/mgmt"
	"github.com/modelgateway/modelgateway/mgmt/deliver"
)

func configCommand() *cobra.Command {
	root := &cobra.Command{Use: "config", Short: "Work with configuration files"}
	var accepted []string
	check := &cobra.Command{
		Use:   "check FILE",
		Short: "Check a configuration file and print what it comes to, with every default and without secrets",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := load(args[0], accepted)
			if err != nil {
				return err
			}
			s.warn(c.ErrOrStderr())
			_, err = c.OutOrStdout().Write(s.config.Effective())
			return err
		},
	}
	acceptUnprotected(check, &accepted)
	root.AddCommand(check)
	return root
}

// setup is a configuration file, read and checked as a whole.
type setup struct {
	config  *config.Config
	catalog *catalog.Catalog
	keys    *keys.Set
}

// acceptUnprotected adds the flag by which an operator starts without a guard that
// the file asks for.
func acceptUnprotected(c *cobra.Command, to *[]string) {
	c.Flags().StringArrayVar(to, "accept-unprotected", nil,
		"start although this setting of LiteLLM, which protects, is not supported: its name as the rejection shows it, such as litellm_params.tags (repeatable)")
}

// load reads a file. What `config check` accepts, `serve` starts with, if both get
// the same accepted names.
func load(file string, accepted []string) (*setup, error) {
	cfg, err := config.Load(file, os.LookupEnv, accepted...)
	if err != nil {
		return nil, err
	}
	cat, err := catalog.New(cfg.Catalog(), providers(), nil)
	if err != nil {
		return nil, cfg.Locate(err)
	}
	set, err := keys.New(cfg.VirtualKeys(), cfg.MasterKey)
	if err != nil {
		return nil, cfg.Locate(err)
	}
	if err := mgmt.CheckKeyRules(&cfg.KeyRules); err != nil {
		return nil, cfg.Locate(err)
	}
	if err := checkPlaces(cfg.Audit); err != nil {
		return nil, cfg.Locate(err)
	}
	return &setup{config: cfg, catalog: cat, keys: set}, nil
}

// checkPlaces reads the addresses that the audit log goes to, and connects to nothing.
func checkPlaces(a config.Audit) error {
	d, err := deliver.New(deliver.Config{QueueURL: a.QueueURL.Reveal(), BucketURL: a.BucketURL})
	if err != nil {
		return err
	}
	return d.Close()
}

func (s *setup) warn(w io.Writer) {
	for i := range s.config.Warnings {
		_, _ = fmt.Fprintln(w, "warning: "+s.config.Warnings[i].String())
	}
}

// providers is what the catalogue must know of those that the data plane speaks to.
func providers() catalog.Providers {
	out := make(catalog.Providers)
	for _, p := range provider.Providers() {
		out[p.Name] = catalog.ProviderDefaults{DefaultBase: p.BaseURL, NeedsBase: p.NeedsBase, NeedsKey: p.NeedsKey}
	}
	return out
}
