package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/modelgateway/modelgateway/cluster/audit"
)

func auditCommand() *cobra.Command {
	root := &cobra.Command{Use: "audit", Short: "Check the audit log, or take it out of a data directory"}
	root.AddCommand(verifyAuditCommand(), exportAuditCommand())
	return root
}

// auditCheck are the flags of audit verify.
type auditCheck struct {
	export, data string
	workspace    string
	keys, held   []string
	json         bool
}

func verifyAuditCommand() *cobra.Command {
	var o auditCheck
	c := &cobra.Command{
		Use:   "verify (--export FILE | --data DIR)",
		Short: "Check every record and every link of the audit log",
		Long: "Check every record and every link of the audit log: of an export, with nothing but the file, or of the data\n" +
			"directory of a gateway that does not run. The first record that is not what was written is named, and the exit\n" +
			"status is 1.\n\n" +
			"That the end is missing, or that all of it was written anew, only a checkpoint shows that was kept elsewhere\n" +
			"(--checkpoint), or, as long as nobody else could sign one, those beside the records with the key that they must be\n" +
			"signed with (--checkpoint-key). Of a part, records outside of it are not looked at.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			check, err := o.check()
			if err != nil {
				return err
			}
			var report audit.Report
			if o.export != "" {
				report, err = verifyExportFile(c.Context(), c.InOrStdin(), o.export, check)
			} else {
				report, err = verifyDataDir(c.Context(), o, check)
			}
			if err != nil {
				return err
			}
			if err := o.print(c.OutOrStdout(), report); err != nil {
				return err
			}
			return auditVerdict(report)
		},
	}
	f := c.Flags()
	f.StringVar(&o.export, "export", "", "a file of `modelgateway audit export`; - for standard input")
	f.StringVar(&o.data, "data", "", "the data directory of a gateway that does not run")
	f.StringVar(&o.workspace, "workspace", audit.DefaultWorkspace, "the workspace whose log of --data is meant")
	f.StringArrayVar(&o.keys, "checkpoint-key", nil, "the public key that checkpoints must be signed with, <name>+<hash>+<base64>; several if it was replaced")
	f.StringArrayVar(&o.held, "checkpoint", nil, "a file with a checkpoint that was kept elsewhere, which the log must agree with; as often as you like")
	f.BoolVar(&o.json, "json", false, "print the result as JSON")
	c.MarkFlagsOneRequired("export", "data")
	c.MarkFlagsMutuallyExclusive("export", "data")
	return c
}

// check reads what the log is to be compared with.
func (o auditCheck) check() (audit.Check, error) {
	var c audit.Check
	for _, text := range o.keys {
		key, err := audit.ParseVerifier(text)
		if err != nil {
			return c, fmt.Errorf("--checkpoint-key: %w", err)
		}
		c.Verifiers = append(c.Verifiers, key)
	}
	for _, name := range o.held {
		note, err := os.ReadFile(name) //nolint:gosec // the operator names it
		if err != nil {
			return c, fmt.Errorf("--checkpoint: %w", err)
		}
		c.Held = append(c.Held, string(note))
	}
	return c, nil
}

func verifyExportFile(ctx context.Context, stdin io.Reader, name string, check audit.Check) (audit.Report, error) {
	if name == "-" {
		return audit.VerifyExport(ctx, stdin, check)
	}
	f, err := os.Open(name) //nolint:gosec // the operator names it
	if err != nil {
		return audit.Report{}, err
	}
	report, err := audit.VerifyExport(ctx, f, check)
	return report, errors.Join(err, f.Close())
}

func verifyDataDir(ctx context.Context, o auditCheck, check audit.Check) (audit.Report, error) {
	var report audit.Report
	check.Indexes = true
	err := withState(o.data, func(r audit.Reader) (err error) {
		if len(check.Verifiers) == 0 {
			if check.Verifiers, err = ownVerifier(r); err != nil {
				return err
			}
		}
		report, err = audit.Verify(ctx, r, o.workspace, check)
		return err
	})
	return report, err
}

// auditVerdict is the error of a log that is not good.
func auditVerdict(r audit.Report) error {
	switch {
	case r.Valid:
		return nil
	case r.BrokenAt == 0:
		return fmt.Errorf("the audit log is not good: %s", r.Reason)
	}
	return fmt.Errorf("the audit log is not good at %s: %s", audit.EventID(r.BrokenAt), r.Reason)
}

// shownVerdict is a report as --json prints it.
type shownVerdict struct {
	Workspace            string  `json:"workspace"`
	Valid                bool    `json:"valid"`
	Checked              uint64  `json:"checked"`
	FirstEventID         *string `json:"first_event_id"`
	LastEventID          *string `json:"last_event_id"`
	HeadHash             string  `json:"head_hash"`
	RootHash             *string `json:"root_hash"`
	BrokenAt             *string `json:"broken_at"`
	Reason               *string `json:"reason"`
	Checkpoints          int     `json:"checkpoints"`
	CheckpointsSigned    int     `json:"checkpoints_signed"`
	CheckpointsUnchecked int     `json:"checkpoints_unchecked"`
}

func (o auditCheck) print(out io.Writer, r audit.Report) error {
	first, last := shownEvent(r.First), shownEvent(r.Last)
	head := fmt.Sprintf("sha256:%x", r.Head)
	if o.json {
		v := shownVerdict{
			Workspace: r.Workspace, Valid: r.Valid, Checked: r.Checked, FirstEventID: first, LastEventID: last,
			HeadHash: head, BrokenAt: shownEvent(r.BrokenAt),
			Checkpoints: r.Checkpoints, CheckpointsSigned: r.Signed, CheckpointsUnchecked: r.Unchecked,
		}
		if r.Root != [32]byte{} {
			root := fmt.Sprintf("sha256:%x", r.Root)
			v.RootHash = &root
		}
		if r.Reason != "" {
			v.Reason = &r.Reason
		}
		body, err := json.Marshal(v)
		if err != nil {
			return err
		}
		return printJSON(out, body)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "workspace\t%s\nrecords that are good\t%d\n", r.Workspace, r.Checked)
	if r.Checked > 0 {
		fmt.Fprintf(w, "from\t%s\nto\t%s\nhash of the last\t%s\n", *first, *last, head)
	}
	fmt.Fprintf(w, "checkpoints that agree\t%d, of which %d are signed by a key that is known\n", r.Checkpoints, r.Signed)
	if r.Unchecked > 0 {
		fmt.Fprintf(w, "checkpoints left out\t%d, of records that are not there\n", r.Unchecked)
	}
	return w.Flush()
}

// shownEvent is the id of an event; nil for none.
func shownEvent(number uint64) *string {
	if number == 0 {
		return nil
	}
	id := audit.EventID(number)
	return &id
}

// auditExport are the flags of audit export.
type auditExport struct {
	data, out    string
	workspace    string
	from, to     string
	externalOnly bool
}

func exportAuditCommand() *cobra.Command {
	var o auditExport
	c := &cobra.Command{
		Use:   "export --data DIR -o FILE",
		Short: "Write the audit log of a gateway that does not run to a file",
		Long: "Write the audit log out of the data directory of a gateway that does not run: a line of JSON for each record,\n" +
			"with all that is needed to check it elsewhere (modelgateway audit verify --export FILE).",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			x, err := o.export()
			if err != nil {
				return err
			}
			return withState(o.data, func(r audit.Reader) error {
				if o.out == "-" {
					return audit.WriteExport(c.Context(), c.OutOrStdout(), r, x)
				}
				return exportTo(c.Context(), o.out, r, x)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&o.data, "data", "", "the data directory of a gateway that does not run")
	f.StringVarP(&o.out, "output", "o", "", "the file to make, which must not be there yet; - for standard output")
	f.StringVar(&o.workspace, "workspace", audit.DefaultWorkspace, "the workspace whose log is meant")
	f.StringVar(&o.from, "from", "", "the id of the first event (default: the first that is there)")
	f.StringVar(&o.to, "to", "", "the id of the last event (default: the last)")
	f.BoolVar(&o.externalOnly, "external-only", false, "leave out the fields that other systems do not get; their hashes are there, so that it can be checked")
	for _, name := range []string{"data", "output"} {
		if err := c.MarkFlagRequired(name); err != nil {
			panic(err) // there is no such flag
		}
	}
	return c
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
	return x, nil
}

// exportTo makes a file. It is whole, or it is not there.
func exportTo(ctx context.Context, name string, r audit.Reader, x audit.Export) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // the operator names it
	if err != nil {
		return err
	}
	err = audit.WriteExport(ctx, f, r, x)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}
