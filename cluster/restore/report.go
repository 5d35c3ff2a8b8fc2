package restore

import (
	"encoding/hex"
	"strconv"
	"time"

	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Report has the changes of a restore.
type Report struct {
	Index  uint64    // of the entry that applied it
	Backup time.Time // when the backup was made
	Counts []Count
}

// Count has the changes to the records of one kind.
type Count struct {
	Name      string
	Returned  uint64 // were not there, and are in the backup
	Changed   uint64 // were there, and are different in the backup
	Removed   uint64 // were there, and are not in the backup
	Kept      uint64 // are the same
	Unblocked uint64 // of the changed ones: were blocked, and no longer are
	// The keys of the first records of each sort; of virtual keys these are hashes.
	ReturnedKeys, RemovedKeys, UnblockedKeys [][]byte
}

// ReportOf returns the report of a restore; nil if it was not committed or its result has expired.
func ReportOf(state *store.Store, name []byte) (*Report, error) {
	done := &clusterv1.RestoreDone{}
	switch ok, f := record.Load(state, store.SpaceRestore, place(name, kindDone), done); {
	case f != nil:
		return nil, f
	case !ok:
		return nil, nil
	}
	out := &Report{Index: done.GetIndex(), Backup: record.FromNanos(done.GetBackupUnixNano())}
	for _, c := range done.GetCounts() {
		out.Counts = append(out.Counts, Count{
			Name: c.GetName(), Returned: c.GetReturned(), Changed: c.GetChanged(), Removed: c.GetRemoved(), Kept: c.GetKept(), Unblocked: c.GetUnblocked(),
			ReturnedKeys: c.GetReturnedKeys(), RemovedKeys: c.GetRemovedKeys(), UnblockedKeys: c.GetUnblockedKeys(),
		})
	}
	return out, nil
}

// Describe adds the changes of a restore to the details of its audit event, and returns the event.
// The result depends only on the arguments, so it is the same on all nodes.
func Describe(e *clusterv1.AuditEvent, done *clusterv1.RestoreDone) *clusterv1.AuditEvent {
	counts := event.Details{}
	for _, c := range done.GetCounts() {
		one := event.Details{}
		one.Integer("returned", int64(c.GetReturned()))
		one.Integer("changed", int64(c.GetChanged()))
		one.Integer("removed", int64(c.GetRemoved()))
		one.Integer("unblocked", int64(c.GetUnblocked()))
		addHexes(&one, "returned_keys", c.GetReturnedKeys())
		addHexes(&one, "removed_keys", c.GetRemovedKeys())
		addHexes(&one, "unblocked_keys", c.GetUnblockedKeys())
		if text := one.Object(); text != "" {
			counts.Raw(c.GetName(), text)
		}
	}
	d := event.ParseDetails(e.GetDetailsJson())
	if text := counts.Object(); text != "" {
		d.Raw("restored", text)
	}
	d.Text("snapshot_time", record.FromNanos(done.GetBackupUnixNano()).Format(time.RFC3339))
	e.DetailsJson = d.Object()
	return e
}

// addHexes adds a list of keys in hex.
func addHexes(d *event.Details, name string, values [][]byte) {
	if len(values) == 0 {
		return
	}
	list := []byte{'['}
	for i, v := range values {
		if i > 0 {
			list = append(list, ',')
		}
		list = strconv.AppendQuote(list, hex.EncodeToString(v))
	}
	d.Raw(name, string(append(list, ']')))
}
