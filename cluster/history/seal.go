package history

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/block"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/inject"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/segment"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

const (
	// SealVersion is the version of transactions whose nodes read sealed segments.
	SealVersion = 5
	// DefaultHot is how long records stay in the state if nothing else is configured.
	DefaultHot = 7 * 24 * time.Hour
	// lateMost is how long the records of a segment that does not become full wait for more; not longer than
	// Sealing.Hot.
	lateMost = 24 * time.Hour
	// sealRest is how many times as long as its work took the leader rests, block by block. Requests come first.
	sealRest = 4
)

// Sealing is what a Keeper seals with.
type Sealing struct {
	Hot   time.Duration // how long records stay in the state
	Files *segment.Store
	// Spread returns nil when a majority of the voters have the file of a segment.
	Spread func(ctx context.Context, s block.Segment) error
	Bucket segment.Bucket // nil: the voters keep the files
	Seal   func(context.Context, *clusterv1.SealSegment) error
	Forget func(context.Context, *clusterv1.ForgetSegment) error
}

// sealedLog is a log whose records are sealed.
type sealedLog struct {
	kind      string // in the names of objects
	workspace string // in commands
	multiple  uint64
	block.Log
}

func sealedLogs() []sealedLog {
	return []sealedLog{
		{"audit", audit.DefaultWorkspace, audit.SealMultiple, audit.Log(audit.DefaultWorkspace)},
		{"usage", "", block.Size, ledger.RowLog()},
	}
}

// logOf returns the log that a command means.
func logOf(workspace string) block.Log {
	if workspace == "" {
		return ledger.RowLog()
	}
	return audit.Log(workspace)
}

// Segments calls fn for each sealed segment of the state, until fn returns false.
func Segments(ctx context.Context, state *store.Store, fn func(block.Segment) bool) error {
	more := true
	for _, l := range sealedLogs() {
		if err := l.Segments(ctx, state, func(s block.Segment) bool {
			more = fn(s)
			return more
		}); err != nil || !more {
			return err
		}
	}
	return nil
}

// LastSegments are the last segments of the logs, by the sums of their files: others mean that something was sealed.
type LastSegments struct {
	Audit, Usage [32]byte
	Voter        bool // whether the node has a vote
}

// Last returns the last segments of the state.
func Last(ctx context.Context, state *store.Store) (out LastSegments, err error) {
	for i, to := range []*[32]byte{&out.Audit, &out.Usage} {
		s, _, err := sealedLogs()[i].LastSegment(ctx, state)
		if err != nil {
			return out, err
		}
		*to = s.Sum
	}
	return out, nil
}

// RunSeal seals records that are older than Sealing.Hot, and deletes what was dropped from the bucket, while this node
// leads, until ctx ends.
func (k *Keeper) RunSeal(ctx context.Context) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		wait := pause
		if k.cfg.Leads() && k.cfg.Steady() && k.cfg.All(SealVersion) {
			did, err := k.sealDue(ctx)
			if err != nil && ctx.Err() == nil {
				k.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "records could not be sealed", slog.Any("error", err))
			}
			k.noteUnsealed(ctx, err)
			if did && err == nil {
				wait = packEvery
			}
		}
		timer.Reset(wait)
	}
}

// noteUnsealed tells the operator that records stay in the state, which grows.
func (k *Keeper) noteUnsealed(ctx context.Context, err error) {
	switch {
	case err == nil:
		k.cfg.Report("sealing", nil)
	case ctx.Err() == nil:
		k.cfg.Report("sealing", fmt.Errorf("records that are old enough stay in the state: %w", err))
	}
}

// sealDue seals the next segment of each log, and forgets what was dropped. did is true if it has done something.
func (k *Keeper) sealDue(ctx context.Context) (did bool, err error) {
	var errs []error
	for _, l := range sealedLogs() {
		sealed, err := k.seal(ctx, l)
		forgotten, err2 := k.forget(ctx, l)
		did, errs = did || sealed || forgotten, append(errs, err, err2)
	}
	return did, errors.Join(errs...)
}

// seal seals the next segment of a log, if one is due.
func (k *Keeper) seal(ctx context.Context, l sealedLog) (sealed bool, err error) {
	next, due, err := k.sealable(ctx, l)
	if err != nil || !due {
		return false, err
	}
	var s block.Segment
	err = k.cfg.View(func(state *store.Store) error {
		s, err = k.cfg.Sealing.Files.Create(func(w io.Writer) (block.Segment, error) {
			return l.WriteSegment(ctx, state, next, &resting{ctx: ctx, w: w, since: time.Now()})
		})
		return err
	})
	if err != nil {
		return false, err
	}
	// A crash here leaves a file that no state names. The next leader makes it again, and this node deletes it.
	if s.Object, err = k.place(ctx, l, s); err != nil && !inject.HasDefect("seal_unplaced") {
		return false, err
	}
	// A crash here leaves copies that no state names: nodes delete them. An object is replaced by the same.
	err = k.cfg.Sealing.Seal(ctx, &clusterv1.SealSegment{Version: SealVersion, Workspace: l.workspace, Segment: s.Message()})
	return err == nil, err
}

// sealable returns the range of the next segment of a log.
func (k *Keeper) sealable(ctx context.Context, l sealedLog) (next block.Span, due bool, err error) {
	hot := k.cfg.Now().Add(-k.cfg.Sealing.Hot)
	err = k.cfg.View(func(state *store.Store) error {
		older, err := audit.HasOlder(ctx, state, audit.DefaultWorkspace)
		if err == nil && !older {
			older, err = ledger.HasOlderRows(ctx, state)
		}
		if err != nil || older {
			return err // they are packed first
		}
		next, due, err = l.Sealable(ctx, state, block.Due{
			Before: record.Nanos(hot), Late: record.Nanos(hot.Add(-min(lateMost, k.cfg.Sealing.Hot))), Multiple: l.multiple,
		})
		return err
	})
	return next, due, err
}

// place puts the file of a segment where it is durable: into the bucket, or on a majority of the voters.
func (k *Keeper) place(ctx context.Context, l sealedLog, s block.Segment) (object string, err error) {
	x := k.cfg.Sealing
	if x.Bucket == nil {
		return "", x.Spread(ctx, s)
	}
	object = segment.Object(l.kind, s)
	return object, x.Files.Upload(ctx, object, s)
}

// forget deletes the files of dropped segments from the bucket.
func (k *Keeper) forget(ctx context.Context, l sealedLog) (forgotten bool, err error) {
	var dropped []block.Segment
	if err := k.cfg.View(func(state *store.Store) error {
		return l.Dropped(ctx, state, func(s block.Segment) bool {
			dropped = append(dropped, s)
			return len(dropped) < trimMost
		})
	}); err != nil || len(dropped) == 0 {
		return false, err
	}
	if k.cfg.Sealing.Bucket == nil {
		return false, errors.New("audit.bucket_url is not set, and dropped records are in a bucket: set it, so that they are deleted")
	}
	for _, s := range dropped {
		if err := k.cfg.Sealing.Bucket.Delete(ctx, s.Object); err != nil {
			return false, err
		}
		// A crash here leaves the note: the object is deleted again, which is no error.
		if err := k.cfg.Sealing.Forget(ctx, &clusterv1.ForgetSegment{Version: SealVersion, Workspace: l.workspace, First: s.First}); err != nil {
			return false, err
		}
	}
	return true, nil
}

// trimMost is how many dropped segments are deleted from the bucket at a time.
const trimMost = 64

// resting writes a file, and rests after each block.
type resting struct {
	ctx   context.Context //nolint:containedctx // lives as long as one call of WriteSegment
	w     io.Writer
	since time.Time
}

// Write implements io.Writer.
func (r *resting) Write(b []byte) (int, error) {
	n, err := r.w.Write(b)
	if err != nil {
		return n, err
	}
	rest := time.NewTimer(sealRest * time.Since(r.since))
	defer rest.Stop()
	select {
	case <-rest.C:
	case <-r.ctx.Done():
		return n, context.Cause(r.ctx)
	}
	r.since = time.Now()
	return n, nil
}

// Seal applies c to the state. A segment whose records are not there as it says changes nothing.
func Seal(tx *store.Tx, c *clusterv1.SealSegment) *fault.Error {
	s, err := block.SegmentOf(c.GetSegment())
	if err == nil {
		_, err = logOf(c.GetWorkspace()).Seal(tx, s)
	}
	if err != nil {
		return record.Unreadable(err)
	}
	return nil
}

// Forget applies c to the state.
func Forget(tx *store.Tx, c *clusterv1.ForgetSegment) {
	logOf(c.GetWorkspace()).Forget(tx, c.GetFirst())
}
