package cli

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/modelgateway/modelgateway/cluster/vault"
)

// The environment variables that replace flags.
const (
	envURL = "MODELGATEWAY_URL"
	envKey = "MODELGATEWAY_KEY"
)

// defaultURL is where serve listens by default.
const defaultURL = "http://127.0.0.1:8080"

// remote are the flags of all commands that speak to a running gateway.
type remote struct{ url, key, output string }

// client returns the client for the flags and the environment. Neither variable is the
// default of its flag, because the help would then show the key.
func (o *remote) client() (*client, error) {
	address, key := o.url, o.key
	if address == "" {
		address = os.Getenv(envURL)
	}
	if address == "" {
		address = defaultURL
	}
	if key == "" {
		key = os.Getenv(envKey)
	}
	if o.output != "table" && o.output != "json" {
		return nil, fmt.Errorf("--output %s: must be table or json", o.output)
	}
	return newClient(address, vault.NewSecret(key))
}

// flags adds the flags that say which gateway to use, and with which key.
func (o *remote) flags(f *pflag.FlagSet, key string) {
	f.StringVar(&o.url, "url", "", "the gateway's address (default: $"+envURL+", or "+defaultURL+")")
	f.StringVar(&o.key, "key", "", key+" (default: $"+envKey+", which other users of the machine cannot see)")
}

// administrate adds the flags of commands that need the master key.
func (o *remote) administrate(f *pflag.FlagSet) {
	o.flags(f, "the master key")
	f.StringVarP(&o.output, "output", "o", "table", "table or json")
}

func clusterCommand() *cobra.Command {
	var o remote
	root := &cobra.Command{Use: "cluster", Short: "Look at and look after the nodes of a running gateway"}
	o.administrate(root.PersistentFlags())
	root.AddCommand(statusCommand(&o), membersCommand(&o), removeCommand(&o), snapshotCommand(&o), restoreCommand(&o), secretCommand())
	return root
}

// shownMember is a node, as the API shows it.
type shownMember struct {
	Node           string  `json:"node"`
	Address        string  `json:"address"`
	Voter          bool    `json:"voter"`
	Alive          bool    `json:"alive"`
	State          string  `json:"state"`
	AppliedIndex   uint64  `json:"applied_index"`
	Lag            uint64  `json:"lag"`
	ContactAge     float64 `json:"contact_age"`
	JournalBacklog int64   `json:"journal_backlog"`
	Version        string  `json:"version"`
	ConfigMatches  bool    `json:"config_matches"`
}

// shownStatus is the cluster, as the API shows it.
type shownStatus struct {
	Node    string `json:"node"`
	Address string `json:"address"`
	Version string `json:"version"`
	State   string `json:"state"`
	Leader  *struct {
		Node    string `json:"node"`
		Address string `json:"address"`
	} `json:"leader"`
	Term         uint64        `json:"term"`
	CommitIndex  uint64        `json:"commit_index"`
	AppliedIndex uint64        `json:"applied_index"`
	Revision     uint64        `json:"revision"`
	Members      []shownMember `json:"members"`
	Problems     []string      `json:"problems"`
}

func statusCommand(o *remote) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show the cluster as the node that is asked sees it",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var st shownStatus
			return o.show(c, "/cluster/status", &st, func(w io.Writer) {
				leader := "none is known"
				if st.Leader != nil {
					leader = st.Leader.Node + " at " + st.Leader.Address
				}
				fmt.Fprintf(w, "node\t%s at %s\nversion\t%s\nstate\t%s\nleader\t%s\nterm\t%d\ncommitted\t%d\napplied\t%d\nrevision\t%d\n\n",
					st.Node, st.Address, st.Version, st.State, leader, st.Term, st.CommitIndex, st.AppliedIndex, st.Revision)
				writeMembers(w, st.Members)
				for _, p := range st.Problems {
					fmt.Fprintf(w, "\nproblem: %s", p)
				}
				if len(st.Problems) > 0 {
					fmt.Fprintln(w)
				}
			})
		},
	}
}

func membersCommand(o *remote) *cobra.Command {
	return &cobra.Command{
		Use:   "members",
		Short: "Show the nodes",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var list struct {
				Members []shownMember `json:"members"`
			}
			return o.show(c, "/cluster/members", &list, func(w io.Writer) { writeMembers(w, list.Members) })
		},
	}
}

// writeMembers writes a table of nodes.
func writeMembers(w io.Writer, members []shownMember) {
	fmt.Fprintln(w, "NODE\tADDRESS\tSTATE\tVOTER\tALIVE\tAPPLIED\tLAG\tBACKLOG\tVERSION\tCONFIG")
	for i := range members {
		m := &members[i]
		config := "same"
		switch {
		case !m.Alive:
			config = "-"
		case !m.ConfigMatches:
			config = "differs"
		}
		state := m.State
		if state == "" {
			state = "-"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%d\t%d\t%s\t%s\n", m.Node, m.Address, state, yesNo(m.Voter), yesNo(m.Alive), m.AppliedIndex, m.Lag, m.JournalBacklog, m.Version, config)
	}
}

func yesNo(b bool) string { //nolint:revive // it prints the flag, which decides nothing else
	if b {
		return "yes"
	}
	return "no"
}

// show gets a path and prints the response, as ask does.
func (o *remote) show(c *cobra.Command, path string, to any, table func(io.Writer)) error {
	return o.ask(c, adminRequest{method: http.MethodGet, path: path}, to, table)
}

// adminRequest is a request to the management API; without a body if that is nil.
type adminRequest struct {
	method, path string
	body         any
}

// ask sends a request and prints the response: as it is, or decoded into to as a table.
func (o *remote) ask(c *cobra.Command, r adminRequest, to any, table func(io.Writer)) error {
	gateway, err := o.client()
	if err != nil {
		return err
	}
	body, err := gateway.call(c.Context(), r.method, r.path, r.body)
	if err != nil {
		return err
	}
	if o.output == "json" {
		return printJSON(c.OutOrStdout(), body)
	}
	if err := json.Unmarshal(body, to); err != nil {
		return fmt.Errorf("the answer of %s cannot be read; is it a gateway of this version? %w", gateway.base, err)
	}
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
	table(w)
	return w.Flush()
}

func printJSON(w io.Writer, body []byte) error {
	v := jsontext.Value(body)
	if err := v.Indent(); err != nil {
		return fmt.Errorf("the answer is not JSON: %w", err)
	}
	_, err := fmt.Fprintln(w, string(v))
	return err
}

func removeCommand(o *remote) *cobra.Command {
	return &cobra.Command{
		Use:   "remove NODE",
		Short: "Take a node out of the cluster for good",
		Long: "Take a node out of the cluster for good: for one that is lost or is to be replaced. NODE is its id, as members shows it.\n" +
			"A node that was removed comes back with an empty data directory only.",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			remove := adminRequest{method: http.MethodDelete, path: "/cluster/members/" + url.PathEscape(args[0])}
			return o.ask(c, remove, new(any), func(w io.Writer) { fmt.Fprintln(w, "removed "+args[0]) })
		},
	}
}

func snapshotCommand(o *remote) *cobra.Command {
	return &cobra.Command{
		Use:   "snapshot FILE",
		Short: "Save the keys, deployments and settings that the nodes agree on",
		Long: "Save all that the nodes agree on, as of one moment: keys, models and settings, and the ledger. FILE is replaced when the whole\n" +
			"snapshot is on the disk; until then, and after an error, it is as it was.",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			gateway, err := o.client()
			if err != nil {
				return err
			}
			size, err := gateway.snapshot(c.Context(), args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "saved %d bytes to %s\n", size, args[0])
			return err
		},
	}
}

// snapshot downloads the state into a hidden file next to the wanted one, and renames
// it when it is complete and synced. A crash before that leaves the hidden file, which
// nothing reads and which may be deleted.
func (c *client) snapshot(ctx context.Context, file string) (size int64, err error) {
	r, err := c.request(ctx, http.MethodGet, "/cluster/snapshot", nil)
	if err != nil {
		return 0, err
	}
	dir, name := filepath.Split(file)
	if dir == "" {
		dir = "."
	}
	f, err := os.CreateTemp(dir, "."+name+".*")
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, unless(f.Close(), os.ErrClosed), unless(os.Remove(f.Name()), os.ErrNotExist))
		}
	}()
	answer, err := c.send(r)
	if err != nil {
		return 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	if size, err = io.Copy(f, answer.Body); err != nil {
		return 0, fmt.Errorf("the snapshot broke off after %d bytes, so nothing was saved: %w", size, err)
	}
	if err = errors.Join(f.Sync(), f.Close()); err != nil {
		return 0, err
	}
	if err = os.Rename(f.Name(), file); err != nil {
		return 0, err
	}
	return size, syncDir(dir)
}

// unless returns err unless it is the expected one.
func unless(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // the operator names it
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// secretCommand prints a secret for the nodes of a cluster. It calls no gateway.
func secretCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "secret",
		Short: "Make a secret for a new cluster: the value of cluster.secret on all of its nodes",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			b := make([]byte, secretBytes)
			_, _ = rand.Read(b) // never fails
			_, err := fmt.Fprintln(c.OutOrStdout(), base64.RawURLEncoding.EncodeToString(b))
			return err
		},
	}
}

// secretBytes is the length of a new secret: as many bits as the keys that are
// derived from it.
const secretBytes = 32
