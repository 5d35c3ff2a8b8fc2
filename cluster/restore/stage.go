package restore

import (
	"bytes"
	"context"
	"errors"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

const (
	// NameLength is the length of a restore's name in bytes.
	NameLength = 16
	// pieceSize is how many bytes of records go with one entry of the log.
	pieceSize = 1 << 20
	// Most is the largest size of the records of one restore in bytes. The commit entry holds
	// all of them in memory, on every node.
	Most = 1 << 30

	// CodeGone is the code of the Conflict for a restore with missing pieces: it took too long,
	// and the leader has dropped them.
	CodeGone = "restore_dropped"
)

// Tx changes the replicated state and reads its own writes.
type Tx interface {
	record.Tx
	Scan(r store.Range, fn func(key, value []byte) bool) error
}

func place(name []byte, kind byte) []byte {
	return append(append(make([]byte, 0, NameLength+1), name...), kind)
}

// The kinds of keys of a restore.
const (
	kindHead   = 'h'
	kindRecord = 'r'
	kindDone   = 'd'
)

// Pieces passes the settings of a backup to send, in pieces for one log entry each, and returns the
// number of pieces.
func Pieces(ctx context.Context, state *store.Store, name []byte, send func(*clusterv1.StageRestore) error) (pieces uint64, err error) {
	piece, size := &clusterv1.StageRestore{Restore: name}, 0
	flush := func() error {
		pieces++
		piece.Number = pieces
		err := send(piece)
		piece, size = &clusterv1.StageRestore{Restore: name}, 0
		return err
	}
	for _, r := range Ranges() {
		space := store.Space(r.GetSpace())
		var failed error
		err := state.Scan(ctx, store.Range{Space: space, From: r.GetFrom(), To: r.GetTo()}, func(key, value []byte) bool {
			piece.Records = append(piece.GetRecords(), &clusterv1.StagedRecord{Space: r.GetSpace(), Key: bytes.Clone(key), Value: bytes.Clone(value)})
			if size += len(key) + len(value); size >= pieceSize {
				failed = flush()
			}
			return failed == nil
		})
		if err := errors.Join(err, failed); err != nil {
			return pieces, err
		}
	}
	if len(piece.GetRecords()) == 0 && pieces > 0 {
		return pieces, nil
	}
	return pieces, flush() // also a backup without settings has a piece
}

// Stage stores one piece. now is the clock of the state.
func Stage(tx Tx, s *clusterv1.StageRestore, now time.Time) *fault.Error {
	if len(s.GetRestore()) != NameLength {
		return fault.New(fault.Malformed, "", "The name of a restore must have %d bytes.", NameLength)
	}
	head, f := headOf(tx, s.GetRestore())
	switch {
	case f != nil:
		return f
	case s.GetNumber() <= head.GetPieces():
		return nil // the piece has arrived before, and its response was lost
	case s.GetNumber() != head.GetPieces()+1:
		return gone()
	case head.GetPieces() == 0:
		head.TimeUnixNano = record.Nanos(now)
	}
	for _, r := range s.GetRecords() {
		head.Bytes += uint64(len(r.GetKey()) + len(r.GetValue()))
		at := append(place(s.GetRestore(), kindRecord), byte(r.GetSpace()))
		tx.Set(store.SpaceRestore, append(at, r.GetKey()...), r.GetValue())
	}
	if head.GetBytes() > Most {
		return fault.New(fault.TooLarge, "restore_too_large", "The snapshot's settings have more than %d bytes. Restore them into a new cluster with --full.", Most)
	}
	head.Pieces = s.GetNumber()
	return record.Store(tx, store.SpaceRestore, place(s.GetRestore(), kindHead), head)
}

func gone() *fault.Error {
	return fault.New(fault.Conflict, CodeGone, "The restore took too long, and its records were dropped. Nothing was changed; restore the snapshot again.")
}

func headOf(tx Tx, name []byte) (*clusterv1.RestoreStage, *fault.Error) {
	head := &clusterv1.RestoreStage{}
	_, f := record.Load(tx, store.SpaceRestore, place(name, kindHead), head)
	return head, f
}

// Drop deletes all records of a restore. It is idempotent.
func Drop(tx Tx, d *clusterv1.DropRestore) *fault.Error {
	if len(d.GetRestore()) != NameLength {
		return fault.New(fault.Malformed, "", "The name of a restore must have %d bytes.", NameLength)
	}
	return drop(tx, d.GetRestore())
}

func drop(tx Tx, prefix []byte) *fault.Error {
	all := cursor{tx: tx, keys: true, of: store.Range{Space: store.SpaceRestore, Prefix: prefix}}
	for {
		r, f := all.next()
		if f != nil || r == nil {
			return f
		}
		tx.Delete(store.SpaceRestore, r.key)
	}
}

// Old returns the names of restores to drop: those that were staged but not committed before
// staged, and those that were committed before done.
func Old(scan func(r store.Range, fn func(key, value []byte) bool) error, staged, done time.Time) (names [][]byte, err error) {
	at := store.Range{Space: store.SpaceRestore, Limit: 1}
	for {
		var name []byte
		if err := scan(at, func(key, _ []byte) bool {
			name = append(name, key[:NameLength]...)
			return false
		}); err != nil || name == nil {
			return names, err
		}
		old := false
		for _, kind := range []byte{kindDone, kindHead} {
			key := place(name, kind)
			err := scan(store.Range{Space: store.SpaceRestore, From: key, To: append(key, 0)}, func(_, value []byte) bool {
				if kind == kindDone {
					d := &clusterv1.RestoreDone{}
					old = proto.Unmarshal(value, d) != nil || d.GetTimeUnixNano() < record.Nanos(done)
					return false
				}
				h := &clusterv1.RestoreStage{}
				old = proto.Unmarshal(value, h) != nil || h.GetTimeUnixNano() < record.Nanos(staged)
				return false
			})
			if err != nil {
				return names, err
			}
		}
		if old {
			names = append(names, name)
		}
		at.From = place(name, 0xff)
	}
}
