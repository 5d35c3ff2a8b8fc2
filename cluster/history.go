package cluster

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/inject"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/vault"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

const (
	// historyPause is how often the leader looks after the audit log.
	historyPause = 10 * time.Second
	// A checkpoint is due after so long if there is anything new, and at the next look
	// if there is much: it bounds what could be cut off the end unseen, and each is kept
	// for ever.
	checkpointEvery   = time.Minute
	checkpointRecords = 10_000
	// trimEvery is how often it is looked for what is older than Config.Retention.
	trimEvery = 10 * time.Minute
	// trimUsage is how many usage records go with one entry of the log.
	trimUsage = 5000
	// defaultRetention is how long history is kept if no retention is configured.
	defaultRetention = 365 * 24 * time.Hour
)

const (
	signerKey     = "signer"
	signerContext = "audit/signer"
)

func signerAt() record.At { return record.At{Space: store.SpaceAuditSigner, Key: []byte(signerKey)} }

// keepHistory has the leader sign checkpoints of the audit log and drop what is
// older than it is to be kept.
func (n *Node) keepHistory(ctx context.Context) error {
	ticker := time.NewTicker(historyPause)
	defer ticker.Stop()
	var trimmed time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if !n.consensus.IsLeader() {
			continue
		}
		if err := n.checkpoint(ctx, n.clock.Now()); err != nil && ctx.Err() == nil {
			n.logger.LogAttrs(ctx, slog.LevelWarn, "the audit log has no new checkpoint", slog.Any("error", err))
		}
		if time.Since(trimmed) < trimEvery || !n.clock.Steady() {
			continue
		}
		trimmed = time.Now()
		if err := n.trimHistory(ctx, n.clock.Now().Add(-n.cfg.Retention)); err != nil && ctx.Err() == nil {
			n.logger.LogAttrs(ctx, slog.LevelWarn, "what is too old could not be dropped", slog.Any("error", err))
		}
	}
}

// checkpoint signs the head of the audit log, if it is time. A crash before it is
// committed leaves it to the next look.
func (n *Node) checkpoint(ctx context.Context, now time.Time) error {
	var head audit.ChainHead
	var last audit.Checkpoint
	err := n.consensus.View(func(state *store.Store) (err error) {
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
	signer, err := n.signer(ctx)
	if err != nil {
		return err
	}
	c, err := audit.Sign(head, audit.DefaultWorkspace, now, signer)
	if err != nil {
		return err
	}
	inject.Crash("audit.checkpoint.before")
	_, err = n.Change(ctx, "gateway", func(_ *View, tx *record.Txn) error {
		tx.Put(record.At{Space: store.SpaceCheckpoint, Key: audit.CheckpointKey(audit.DefaultWorkspace, c.GetSize())}, c)
		return nil
	})
	inject.Crash("audit.checkpoint.kept")
	return err
}

// signer returns the key that signs checkpoints. The first leader that needs it generates it. It
// is sealed again when the encryption key has changed.
func (n *Node) signer(ctx context.Context) (*audit.Signer, error) {
	r, err := n.signerRecord()
	if err != nil {
		return nil, err
	}
	if r == nil {
		return n.newSigner(ctx)
	}
	if n.cfg.Ring != nil {
		again, changed, err := n.Reseal(r.GetSealedKey(), signerContext)
		if err != nil {
			return nil, err
		}
		if changed {
			r.SealedKey = again
			if err := n.putSigner(ctx, r, r.GetStamp().GetRevision()); err != nil {
				return nil, err
			}
		}
	}
	return n.openSigner(r)
}

// openSigner reads a key. Anybody who can write the state can exchange what it says is
// the public one; the private one only who has the encryption key.
func (n *Node) openSigner(r *clusterv1.AuditSigner) (*audit.Signer, error) {
	private, err := n.Open(r.GetSealedKey(), signerContext)
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

// checkpointVerifier returns the key that checkpoints must be signed with; none before
// the first. A node that is locked has to believe what is kept of it.
func (n *Node) checkpointVerifier() ([]audit.Verifier, error) {
	r, err := n.signerRecord()
	if err != nil || r == nil {
		return nil, err
	}
	if _, err := n.openSigner(r); err != nil && !errors.Is(err, vault.ErrLocked) {
		return nil, err
	}
	v, err := audit.ParseVerifier(r.GetVerifier())
	if err != nil {
		return nil, record.Unreadable(err)
	}
	return []audit.Verifier{v}, nil
}

func (n *Node) newSigner(ctx context.Context) (*audit.Signer, error) {
	private, verifier := audit.NewSigner()
	sealed, err := n.Seal(private, signerContext)
	if err != nil {
		return nil, err
	}
	if err := n.putSigner(ctx, &clusterv1.AuditSigner{SealedKey: sealed, Verifier: verifier}, 0); err != nil {
		return nil, err
	}
	inject.Crash("audit.signer.kept")
	return audit.ParseSigner(private)
}

func (n *Node) putSigner(ctx context.Context, r *clusterv1.AuditSigner, revision uint64) error {
	_, err := n.Change(ctx, "gateway", func(_ *View, tx *record.Txn) error {
		tx.Require(signerAt(), revision)
		tx.Put(signerAt(), r)
		return nil
	})
	return err
}

// signerRecord reads the key's record; nil if there is none.
func (n *Node) signerRecord() (r *clusterv1.AuditSigner, err error) {
	err = n.consensus.View(func(state *store.Store) error {
		value, ok, err := state.Get(store.SpaceAuditSigner, []byte(signerKey))
		if err != nil || !ok {
			return err
		}
		r = &clusterv1.AuditSigner{}
		if err := proto.Unmarshal(value, r); err != nil {
			return record.Unreadable(err)
		}
		return nil
	})
	return r, err
}

// trimHistory drops what was recorded before a time, step by step.
func (n *Node) trimHistory(ctx context.Context, before time.Time) error {
	for n.consensus.IsLeader() && ctx.Err() == nil {
		var head audit.ChainHead
		var first uint64
		var usage bool
		err := n.consensus.View(func(state *store.Store) (err error) {
			if head, err = audit.Head(state, audit.DefaultWorkspace); err != nil {
				return err
			}
			if first, err = audit.TrimPoint(ctx, state, audit.DefaultWorkspace, before); err != nil {
				return err
			}
			return state.Scan(ctx, store.Range{Space: store.SpaceUsage, To: record.Instant(before), Limit: 1}, func(_, _ []byte) bool {
				usage = true
				return false
			})
		})
		if err != nil || first == head.First && !usage {
			return err
		}
		if err := n.commit(ctx, &clusterv1.Command{Change: &clusterv1.Command_TrimHistory{TrimHistory: &clusterv1.TrimHistory{
			Workspace: audit.DefaultWorkspace, AuditFirst: first, UsageBeforeUnixNano: record.Nanos(before), UsageMost: trimUsage,
		}}}); err != nil {
			return err
		}
	}
	return nil
}
