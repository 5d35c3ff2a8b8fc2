package cli

import (
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"
)

func secretsCommand() *cobra.Command {
	var o remote
	root := &cobra.Command{Use: "secrets", Short: "Look after what providers' credentials are sealed with"}
	o.administrate(root.PersistentFlags())
	root.AddCommand(rotateCommand(&o))
	return root
}

// shownRotation is what a rotation did, as the API shows it.
type shownRotation struct {
	Resealed uint32 `json:"resealed"`
	Already  uint32 `json:"already"`
	Total    uint32 `json:"total"`
}

func rotateCommand(o *remote) *cobra.Command {
	return &cobra.Command{
		Use:   "rotate",
		Short: "Seal all credentials with the encryption key that the nodes are configured with",
		Long: "Seal all credentials with the encryption key that the nodes are configured with.\n\n" +
			"To replace that key, while requests go on:\n" +
			"  1. on each node, set general_settings.encryption_key to the new key and add the old one to\n" +
			"     general_settings.encryption_keys_previous; restart them one after the other. Until the next step the old\n" +
			"     key seals.\n" +
			"  2. modelgateway secrets rotate. It is refused as long as a node does not have the new key or does not answer.\n" +
			"  3. Run it again. When it has nothing more to seal, take the old key away, in the same manner.\n\n" +
			"Backups keep the key that they were made with: it is needed to restore them. A key that is rotated within its KMS\n" +
			"needs none of this.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var done shownRotation
			return o.ask(c, adminRequest{http.MethodPost, "/credentials/rotate", struct{}{}}, &done, done.write)
		},
	}
}

// write prints what was done, and what is next.
func (r *shownRotation) write(w io.Writer) {
	fmt.Fprintf(w, "sealed now\t%d\nsealed by this key before\t%d\nin all\t%d\n", r.Resealed, r.Already, r.Total)
	next := "the keys in encryption_keys_previous are not needed any more, but for older backups"
	if r.Resealed > 0 {
		next = "run it again before keys are taken out of encryption_keys_previous: nothing may be left to seal"
	}
	fmt.Fprintln(w, next)
}
