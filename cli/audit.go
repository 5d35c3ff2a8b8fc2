package cli

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/modelgateway/modelgateway/cluster/audit"
)

func auditCommand() *cobra.Command {
	root := &cobra.Command{Use: "audit", Short: "Check the audit log, or save it to a file that can be checked"}
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
			"That the end is missing, or that all of it was written again, only a checkpoint shows that was kept elsewhere\n" +
			"(--checkpoint), or, as long as nobody else could sign one, those beside the records with the key that they must be\n" +
			"signed with (--checkpoint-key). What that leaves open is said with the result. Of a part, records outside of it\n" +
			"are not looked at.",
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
	f.StringVar(&o.export, "export", "", "a `FILE` of modelgateway audit export or of a bucket, compressed or not; - for standard input")
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
		return verifyExport(ctx, stdin, check)
	}
	f, err := os.Open(name) //nolint:gosec // the operator names it
	if err != nil {
		return audit.Report{}, err
	}
	report, err := verifyExport(ctx, f, check)
	return report, errors.Join(err, f.Close())
}

// verifyExport checks an export as it is, or compressed, as it is in a bucket.
func verifyExport(ctx context.Context, r io.Reader, check audit.Check) (audit.Report, error) {
	in := bufio.NewReader(r)
	if magic, err := in.Peek(2); err != nil || string(magic) != "\x1f\x8b" {
		return audit.VerifyExport(ctx, in, check)
	}
	plain, err := gzip.NewReader(in)
	if err != nil {
		return audit.Report{}, fmt.Errorf("--export: %w", err)
	}
	report, err := audit.VerifyExport(ctx, plain, check)
	return report, errors.Join(err, plain.Close())
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
