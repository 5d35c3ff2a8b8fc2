package history

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/block"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/inject"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/vault"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

const (
	// pause is how often the leader looks after the audit log.
	pause = 10 * time.Second
	// A checkpoint is due after checkpointEvery if there are new records, and at the next look if
	// there are checkpointRecords. It limits how many records could be cut off the end unnoticed.
	// Checkpoints are kept for ever.
	checkpointEvery   = time.Minute
	checkpointRecords = 10_000
	// trimEvery is how often the leader looks for records that are older than Config.Retention.
	trimEvery = 10 * time.Minute
	// trimUsage is how many usage records one entry of the log deletes.
	trimUsage = 5000
	// DefaultRetention is how long history is kept if no retention is configured.
	DefaultRetention = 365 * 24 * time.Hour
)

const (
	signerKey     = "signer"
	signerContext = "audit/signer"
)

func signerAt() record.At { return record.At{Space: store.SpaceAuditSigner, Key: []byte(signerKey)} }

// Config connects a Keeper to its node.
type Config struct {
	Leads  func() bool
	View   func(func(*store.Store) error) error
	Change func(context.Context, func(*record.Txn) error) error
	Trim   func(context.Context, *clusterv1.TrimHistory) error // commits it
	Pack   func(context.Context, *clusterv1.PackHistory) error // commits it
	// All reports whether all members of the cluster are known to understand a version of
	// transactions.
	All func(version uint32) bool

	Seal func(plain vault.Secret, context string) ([]byte, error)
	Open func(sealed []byte, context string) (vault.Secret, error)
	// Reseal seals a value with the current key if another key has sealed it. nil: the key never
	// changes.
	Reseal func(sealed []byte, context string) (out []byte, changed bool, err error)

	Now       func() time.Time // the cluster's time
	Steady    func() bool      // the time is reliable enough to delete something
	Retention time.Duration    // how long history is kept
	HoldFrom  time.Time        // records from then on are kept longer; zero: none
	Sealing   Sealing
	Report    func(about string, err error) // for the operator; nil error: nothing is wrong any more
	Logger    *slog.Logger
}

// Keeper keeps the history of a cluster in order. It is safe for concurrent use.
type Keeper struct{ cfg Config }

// New returns a Keeper.
func New(cfg Config) *Keeper { return &Keeper{cfg: cfg} }

// Run signs checkpoints of the audit log and drops records that are older than Config.Retention,
// while this node leads, until ctx ends.
func (k *Keeper) Run(ctx context.Context) error {
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	var trimmed time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if !k.cfg.Leads() {
			continue
		}
		if err := k.checkpoint(ctx, k.cfg.Now()); err != nil && ctx.Err() == nil {
			k.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "the audit log has no new checkpoint", slog.Any("error", err))
		}
		if time.Since(trimmed) < trimEvery || !k.cfg.Steady() {
			continue
		}
		trimmed = time.Now()
		if err := k.trim(ctx, k.dropBefore()); err != nil && ctx.Err() == nil {
			k.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "what is too old could not be dropped", slog.Any("error", err))
		}
	}
}

// dropBefore returns the time before which records are dropped.
func (k *Keeper) dropBefore() time.Time {
	before := k.cfg.Now().Add(-k.cfg.Retention)
	if hold := k.cfg.HoldFrom; !hold.IsZero() && hold.Before(before) {
		return hold
	}
	return before
}

// checkpoint signs the head of the audit log, if it is time. After a crash before the commit, the next
// look does it.
func (k *Keeper) checkpoint(ctx context.Context, now time.Time) error {
	var head audit.ChainHead
	var last audit.Checkpoint
	err := k.cfg.View(func(state *store.Store) (err error) {
		if head, err = audit.Head(state, audit.DefaultWorkspace); err != nil {
			return err
		}
		last, _, err = audit.LastCheckpoint(ctx, state, audit.DefaultWorkspace)
		return err
	})
	grown := head.Size - last.Size
	if err != nil || grown == 0 || grown < checkpointRecords && now.Sub(last.Time) < checkpointEvery {
		return err
	}
	signer, err := k.signer(ctx)
	if err != nil {
		return err
	}
	c, err := audit.Sign(head, audit.DefaultWorkspace, now, signer)
	if err != nil {
		return err
	}
	inject.Crash("audit.checkpoint.before")
	err = k.cfg.Change(ctx, func(tx *record.Txn) error {
		tx.Put(record.At{Space: store.SpaceCheckpoint, Key: audit.CheckpointKey(audit.DefaultWorkspace, c.GetSize())}, c)
		return nil
	})
	inject.Crash("audit.checkpoint.kept")
	return err
}

// signer returns the key that signs checkpoints. The first leader that needs it generates it. It
// is sealed again when the encryption key has changed.
func (k *Keeper) signer(ctx context.Context) (*audit.Signer, error) {
	r, err := k.signerRecord()
	if err != nil {
		return nil, err
	}
	if r == nil {
		return k.newSigner(ctx)
	}
	if k.cfg.Reseal != nil {
		again, changed, err := k.cfg.Reseal(r.GetSealedKey(), signerContext)
		if err != nil {
			return nil, err
		}
		if changed {
			r.SealedKey = again
			if err := k.putSigner(ctx, r, r.GetStamp().GetRevision()); err != nil {
				return nil, err
			}
		}
	}
	return k.openSigner(r)
}

// openSigner opens the private key. Anybody who can write the state can replace the stored public key,
// but only the owner of the encryption key can replace the private one.
func (k *Keeper) openSigner(r *clusterv1.AuditSigner) (*audit.Signer, error) {
	private, err := k.cfg.Open(r.GetSealedKey(), signerContext)
	if err != nil {
		return nil, err
	}
	signer, err := audit.ParseSigner(private)
	if err != nil {
		return nil, err
	}
	if signer.Verifier().String() != r.GetVerifier() {
		return nil, &fault.Error{
			Op: "audit.signer", Kind: fault.Internal,
			Detail: "The key that is kept for verifying checkpoints of the audit log is not that of the key which signs them: somebody has exchanged it.",
		}
	}
	return signer, nil
}

// Verifiers returns the key that checkpoints must be signed with; none before the first. A node
// that is locked cannot check the stored one.
func (k *Keeper) Verifiers() ([]audit.Verifier, error) {
	r, err := k.signerRecord()
	if err != nil || r == nil {
		return nil, err
	}
	if _, err := k.openSigner(r); err != nil && !errors.Is(err, vault.ErrLocked) {
		return nil, err
	}
	v, err := audit.ParseVerifier(r.GetVerifier())
	if err != nil {
		return nil, record.Unreadable(err)
	}
	return []audit.Verifier{v}, nil
}

func (k *Keeper) newSigner(ctx context.Context) (*audit.Signer, error) {
	private, verifier := audit.NewSigner()
	sealed, err := k.cfg.Seal(private, signerContext)
	if err != nil {
		return nil, err
	}
	if err := k.putSigner(ctx, &clusterv1.AuditSigner{SealedKey: sealed, Verifier: verifier}, 0); err != nil {
		return nil, err
	}
	inject.Crash("audit.signer.kept")
	return audit.ParseSigner(private)
}

func (k *Keeper) putSigner(ctx context.Context, r *clusterv1.AuditSigner, revision uint64) error {
	return k.cfg.Change(ctx, func(tx *record.Txn) error {
		tx.Require(signerAt(), revision)
		tx.Put(signerAt(), r)
		return nil
	})
}

// signerRecord reads the key's record; nil if there is none.
func (k *Keeper) signerRecord() (r *clusterv1.AuditSigner, err error) {
	err = k.cfg.View(func(state *store.Store) error {
		found := &clusterv1.AuditSigner{}
		ok, f := record.Load(state, store.SpaceAuditSigner, []byte(signerKey), found)
		if f != nil {
			return f
		}
		if ok {
			r = found
		}
		return nil
	})
	return r, err
}

// trim drops the records before a time, step by step.
func (k *Keeper) trim(ctx context.Context, before time.Time) error {
	for k.cfg.Leads() && ctx.Err() == nil {
		var head audit.ChainHead
		var first uint64
		var usage bool
		err := k.cfg.View(func(state *store.Store) (err error) {
			if head, err = audit.Head(state, audit.DefaultWorkspace); err != nil {
				return err
			}
			if first, err = audit.TrimPoint(ctx, block.WithFiles(state, k.cfg.Sealing.Files), audit.DefaultWorkspace, before); err != nil {
				return err
			}
			usage, err = ledger.Trimmable(ctx, state, before)
			return err
		})
		if err != nil || first == head.First && !usage {
			return err
		}
		if err := k.cfg.Trim(ctx, &clusterv1.TrimHistory{
			Workspace: audit.DefaultWorkspace, AuditFirst: first, UsageBeforeUnixNano: record.Nanos(before), UsageMost: trimUsage,
		}); err != nil {
			return err
		}
	}
	return nil
}

// Trim applies t to the state. now is the clock of the state.
func Trim(tx *store.Tx, t *clusterv1.TrimHistory, now time.Time) *fault.Error {
	if f := audit.Trim(tx, t.GetWorkspace(), t.GetAuditFirst(), now); f != nil {
		return f
	}
	if t.GetUsageBeforeUnixNano() == 0 {
		return nil
	}
	_, f := ledger.TrimUsage(tx, time.Unix(0, t.GetUsageBeforeUnixNano()), int(t.GetUsageMost()))
	return f
}
