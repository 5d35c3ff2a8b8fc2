package cli

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster/audit"
)

// shownVerdict is a report as --json prints it.
type shownVerdict struct {
	Workspace            string   `json:"workspace"`
	Valid                bool     `json:"valid"`
	Checked              uint64   `json:"checked"`
	FirstEventID         *string  `json:"first_event_id"`
	LastEventID          *string  `json:"last_event_id"`
	HeadHash             string   `json:"head_hash"`
	RootHash             *string  `json:"root_hash"`
	BrokenAt             *string  `json:"broken_at"`
	Reason               *string  `json:"reason"`
	Before               uint64   `json:"before"`
	Checkpoints          int      `json:"checkpoints"`
	CheckpointsSigned    int      `json:"checkpoints_signed"`
	CheckpointsUnchecked int      `json:"checkpoints_unchecked"`
	CoveredEventID       *string  `json:"covered_event_id"`
	CheckpointKeys       []string `json:"checkpoint_keys"`
	CheckpointKeysGiven  bool     `json:"checkpoint_keys_given"`
	NotShown             []string `json:"not_shown"`
}

func (o auditCheck) print(out io.Writer, r audit.Report) error {
	if o.json {
		return o.printJSON(out, r)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "workspace\t%s\nrecords that are good\t%d\n", r.Workspace, r.Checked)
	if r.Checked > 0 {
		fmt.Fprintf(w, "from\t%s\nto\t%s\nhash of the last\tsha256:%x\n", audit.EventID(r.First), audit.EventID(r.Last), r.Head)
	}
	fmt.Fprintf(w, "checkpoints that agree\t%d, of which %d are signed by a key that is known\n", r.Checkpoints, r.Signed)
	for _, key := range r.Verifiers {
		fmt.Fprintf(w, "key that is known\t%s\n", key)
	}
	if r.Covered > 0 {
		fmt.Fprintf(w, "they vouch up to\t%s\n", audit.EventID(r.Covered))
	}
	if r.Unchecked > 0 {
		fmt.Fprintf(w, "checkpoints left out\t%d, of records that are not there\n", r.Unchecked)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, text := range o.notShown(r) {
		if _, err := fmt.Fprintln(out, text); err != nil {
			return err
		}
	}
	return nil
}

func (o auditCheck) printJSON(out io.Writer, r audit.Report) error {
	v := shownVerdict{
		Workspace: r.Workspace, Valid: r.Valid, Checked: r.Checked, FirstEventID: shownEvent(r.First), LastEventID: shownEvent(r.Last),
		HeadHash: fmt.Sprintf("sha256:%x", r.Head), BrokenAt: shownEvent(r.BrokenAt), Before: r.Before,
		Checkpoints: r.Checkpoints, CheckpointsSigned: r.Signed, CheckpointsUnchecked: r.Unchecked,
		CoveredEventID: shownEvent(r.Covered), CheckpointKeys: []string{}, CheckpointKeysGiven: len(o.keys) > 0, NotShown: o.notShown(r),
	}
	for _, key := range r.Verifiers {
		v.CheckpointKeys = append(v.CheckpointKeys, key.String())
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

// notShown says what a log that is good may hide all the same: nobody can see it by
// what was looked at.
func (o auditCheck) notShown(r audit.Report) []string {
	if !r.Valid {
		return []string{}
	}
	var out []string
	switch {
	case r.Covered == 0 && r.Last == 0:
		out = append(out, "There are no records. That there were some only a checkpoint shows that was kept elsewhere (--checkpoint).")
	case r.Covered == 0:
		out = append(out, "No checkpoint vouches for these records: who owns the disk could have written all of them again. Give one that was kept elsewhere (--checkpoint), or the key that they must be signed with (--checkpoint-key).")
	case r.Covered < r.Last:
		out = append(out, "No checkpoint vouches for the records behind "+audit.EventID(r.Covered)+": who owns the disk could have written them again, or cut some off.")
	default:
		out = append(out, "That records were cut off behind "+audit.EventID(r.Covered)+" only a later checkpoint shows that was kept elsewhere (--checkpoint).")
	}
	if len(o.keys) == 0 && len(r.Verifiers) > 0 {
		out = append(out, "The key that is known is the one that the data directory names itself, which who can write there can replace: compare it with the one that was kept elsewhere, or give that (--checkpoint-key).")
	}
	if r.Before > 0 {
		what := "are not there any more: the log says that they were dropped"
		if o.export != "" {
			what = "are not in the export"
		}
		out = append(out, fmt.Sprintf("%d records come before these, which %s. What they said is not checked.", r.Before, what))
	}
	return out
}

// shownEvent is the id of an event; nil for none.
func shownEvent(number uint64) *string {
	if number == 0 {
		return nil
	}
	id := audit.EventID(number)
	return &id
}
