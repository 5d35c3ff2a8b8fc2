package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"
)

func restoreCommand(o *remote) *cobra.Command {
	var yes bool
	var in restoreRequest
	c := &cobra.Command{
		Use:   "restore FILE",
		Short: "Make the keys, models and settings of all nodes those of a snapshot",
		Long: "Make the keys, models, tenants, prompts and settings of all nodes those of a snapshot. The nodes go on serving. What was\n" +
			"spent, budget windows, the audit log and delivery positions stay as they are now: they never go back.\n" +
			"Keys that were deleted or regenerated after the snapshot are valid again, and keys that were made after it are rejected;\n" +
			"the output and the audit log say which.\n\n" +
			"With --full everything is restored, the ledger and the audit log included. That works only in a new cluster: stop all\n" +
			"nodes, empty their data directories, start them, and restore. Data directories of the old cluster cannot join it.",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if !yes {
				return errors.New("this makes the keys, models and settings of all nodes those of the snapshot, and what was set after it is lost; add --yes if that is meant")
			}
			gateway, err := o.client()
			if err != nil {
				return err
			}
			in.file = args[0]
			body, err := gateway.restore(c.Context(), in)
			if err != nil {
				return err
			}
			if o.output == "json" {
				return printJSON(c.OutOrStdout(), body)
			}
			return writeRestored(c.OutOrStdout(), args[0], body)
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "do it")
	c.Flags().BoolVar(&in.full, "full", false, "restore everything, into a new cluster")
	c.Flags().BoolVar(&in.acceptUnusable, "accept-unusable", false, "restore also credentials that are sealed with an encryption key which the nodes do not have")
	return c
}

// restoreRequest says what is to be restored.
type restoreRequest struct {
	file                 string
	full, acceptUnusable bool
}

// shownRestored is a restore, as the API shows it.
type shownRestored struct {
	Snapshot string `json:"snapshot_time"`
	Changes  []struct {
		Name     string `json:"name"`
		Returned uint64 `json:"returned"`
		Changed  uint64 `json:"changed"`
		Removed  uint64 `json:"removed"`
	} `json:"changes"`
	Notes []string `json:"notes"`
}

// writeRestored writes what a restore has changed.
func writeRestored(w io.Writer, file string, body []byte) error {
	var done shownRestored
	if err := json.Unmarshal(body, &done); err != nil {
		return fmt.Errorf("the snapshot was restored, and the response cannot be read: %w", err)
	}
	fmt.Fprintln(w, "restored "+file)
	if done.Snapshot != "" {
		fmt.Fprintln(w, "snapshot of "+done.Snapshot)
	}
	for _, c := range done.Changes {
		if c.Returned+c.Changed+c.Removed > 0 {
			fmt.Fprintf(w, "%s: %d returned, %d changed, %d removed\n", c.Name, c.Returned, c.Changed, c.Removed)
		}
	}
	for _, note := range done.Notes {
		fmt.Fprintln(w, "note: "+note)
	}
	return nil
}

// restore uploads a snapshot and returns the response.
func (c *client) restore(ctx context.Context, in restoreRequest) ([]byte, error) {
	f, err := os.Open(in.file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() == 0 {
		return nil, fmt.Errorf("%s is empty or no file; name one that modelgateway cluster snapshot wrote", in.file)
	}
	query := url.Values{"confirm": {"yes"}}
	if in.full {
		query.Set("full", "yes")
	}
	if in.acceptUnusable {
		query.Set("accept_unusable", "yes")
	}
	r, err := c.request(ctx, http.MethodPost, "/cluster/restore?"+query.Encode(), f)
	if err != nil {
		return nil, err
	}
	r.ContentLength = info.Size()
	r.Header.Set("Content-Type", "application/octet-stream")
	answer, err := c.send(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	return io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
}
