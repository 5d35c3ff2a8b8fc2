package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"github.com/spf13/cobra"

	"github.com/modelgateway/modelgateway/cluster/audit"
)

// auditExport are the flags of audit export.
type auditExport struct {
	data, out    string
	workspace    string
	from, to     string
	externalOnly bool
	gateway      remote
}

func exportAuditCommand() *cobra.Command {
	o := auditExport{gateway: remote{output: "json"}}
	c := &cobra.Command{
		Use:   "export -o FILE [--data DIR]",
		Short: "Save the audit log to a file that can be checked",
		Long: "Save the audit log of a running gateway, or with --data that of one that does not run: a line of JSON for each record,\n" +
			"with all that is needed to check it elsewhere (modelgateway audit verify --export FILE).",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			x, err := o.export()
			if err != nil {
				return err
			}
			if o.out == "-" {
				return o.write(c.Context(), x, c.OutOrStdout())
			}
			return exportTo(o.out, func(to io.Writer) error { return o.write(c.Context(), x, to) })
		},
	}
	f := c.Flags()
	o.gateway.flags(f, "a key that sees everything")
	f.StringVar(&o.data, "data", "", "the data directory of a gateway that does not run")
	f.StringVarP(&o.out, "output", "o", "", "the file to make, which must not be there yet; - for standard output")
	f.StringVar(&o.from, "from", "", "the id of the first event (default: the first that is there)")
	f.StringVar(&o.workspace, "workspace", audit.DefaultWorkspace, "with --data: the workspace whose log is meant")
	f.StringVar(&o.to, "to", "", "with --data: the id of the last event (default: the last)")
	f.BoolVar(&o.externalOnly, "external-only", false, "with --data: leave out the fields that other systems do not get; their hashes are there, so that it can be checked")
	if err := c.MarkFlagRequired("output"); err != nil {
		panic(err) // there is no such flag
	}
	for _, name := range []string{"url", "key"} {
		c.MarkFlagsMutuallyExclusive("data", name)
	}
	return c
}

// write writes the export, from the one place or the other.
func (o auditExport) write(ctx context.Context, x audit.Export, to io.Writer) error {
	if o.data != "" {
		return withState(o.data, func(r audit.Reader) error { return audit.WriteExport(ctx, to, r, x) })
	}
	gateway, err := o.gateway.client()
	if err != nil {
		return err
	}
	query := url.Values{"format": {"jsonl"}}
	if x.From > 1 {
		query.Set("starting_after", audit.EventID(x.From-1))
	}
	r, err := gateway.request(ctx, http.MethodGet, "/audit-log?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	answer, err := gateway.send(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if n, err := io.Copy(to, answer.Body); err != nil {
		return fmt.Errorf("the audit log broke off after %d bytes: %w", n, err)
	}
	return nil
}

// export is what the flags ask for.
func (o auditExport) export() (audit.Export, error) {
	x := audit.Export{Workspace: o.workspace, ExternalOnly: o.externalOnly}
	for _, f := range []struct {
		name, text string
		to         *uint64
	}{{"from", o.from, &x.From}, {"to", o.to, &x.To}} {
		if f.text == "" {
			continue
		}
		number, ok := audit.ParseEventID(f.text)
		if !ok {
			return x, fmt.Errorf("--%s %s: must be the id of an event, such as %s", f.name, f.text, audit.EventID(1))
		}
		*f.to = number
	}
	if o.data == "" && (x.To != 0 || x.ExternalOnly || x.Workspace != audit.DefaultWorkspace) {
		return x, errors.New("--to, --external-only and --workspace go with --data")
	}
	return x, nil
}

// exportTo makes a file. It is whole, or it is not there.
func exportTo(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // the operator names it
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}
