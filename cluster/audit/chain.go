package audit

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/inject"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Tx changes the replicated state and reads its own writes.
type Tx interface {
	Get(space store.Space, key []byte) (value []byte, ok bool, err error)
	Set(space store.Space, key, value []byte)
	Delete(space store.Space, key []byte)
	Scan(r store.Range, fn func(key, value []byte) bool) error
}

// hashDomain is the prefix of every hash input of a chain.
const hashDomain = "gwaudit1"

// hashPrefix is the prefix of a hash in its text form.
const hashPrefix = "sha256:"

// genesis returns the hash that precedes a workspace's first record.
func genesis(workspace string) [32]byte { return sha256.Sum256([]byte(hashDomain + workspace)) }

// link returns the hash of the record that follows previous.
func link(previous, external, internal [32]byte) [32]byte {
	if inject.HasDefect("chain_without_internal") {
		internal = [32]byte{}
	}
	var b [len(hashDomain) + 3*sha256.Size]byte
	n := copy(b[:], hashDomain)
	n += copy(b[n:], previous[:])
	n += copy(b[n:], external[:])
	copy(b[n:], internal[:])
	return sha256.Sum256(b[:])
}

func hashText(h [32]byte) string { return hashPrefix + hex.EncodeToString(h[:]) }

// recordKey returns the key of a segment that begins with a record in store.SpaceAuditSegment, and of a record of
// an older version in store.SpaceAudit. With a size as the number, it is the key of a checkpoint in
// store.SpaceCheckpoint.
func recordKey(workspace string, number uint64) []byte {
	b := make([]byte, 0, len(workspace)+9)
	b = append(append(b, workspace...), 0)
	return binary.BigEndian.AppendUint64(b, number)
}

// recordPrefix returns the prefix of all keys of a workspace.
func recordPrefix(workspace string) []byte { return append([]byte(workspace), 0) }

// numberOf decodes the number at the end of a key.
func numberOf(key []byte) uint64 { return binary.BigEndian.Uint64(key[len(key)-8:]) }

// Append appends one record, as AppendAll does.
func Append(tx Tx, workspace string, e *clusterv1.AuditEvent, recorded time.Time) *fault.Error {
	return AppendAll(tx, workspace, []*clusterv1.AuditEvent{e}, recorded)
}

// AppendAll appends records to a chain, in order. recorded is the time of the log entry; an
// event without a time gets it as well. Events may contain any text: AppendAll repairs invalid
// UTF-8 and JSON.
func AppendAll(tx Tx, workspace string, events []*clusterv1.AuditEvent, recorded time.Time) *fault.Error {
	if len(events) == 0 {
		return nil
	}
	if !validWorkspace(workspace) {
		return fault.New(fault.Malformed, "", "A workspace name must have 1 to 64 lower-case letters, digits, - and _.")
	}
	head, f := headIn(tx, workspace)
	if f != nil {
		return f
	}
	w, err := newWriter(tx, workspace, head.GetSize(), len(events))
	if err != nil {
		return record.Unreadable(err)
	}
	tree := frontier(head.GetFrontier())
	hash := [32]byte(head.GetHash())
	size := head.GetSize()
	at := micros(record.Nanos(recorded))
	var entry entry // its bytes are copied by add
	for _, e := range events {
		if size++; size == segmentStart(size) {
			tx.Set(store.SpaceAuditSegment, recordKey(workspace, size), outset{size, hash, tree}.wire())
		}
		entry = newEntry(entry, place{workspace, size, hash}, e, at)
		w.add(size, entry, e)
		hash = entry.hash
		tree = tree.grown(size-1, leafHash(hash))
	}
	if err := w.end(); err != nil {
		return record.Unreadable(err)
	}
	head.Size, head.Hash, head.Frontier = size, hash[:], tree
	return putHead(tx, workspace, head)
}

func putHead(tx Tx, workspace string, head *clusterv1.AuditHead) *fault.Error {
	value, err := proto.MarshalOptions{Deterministic: true}.Marshal(head)
	if err != nil {
		return record.Unreadable(err)
	}
	tx.Set(store.SpaceAuditHead, []byte(workspace), value)
	return nil
}

// headIn reads the head of a chain in order to change it.
func headIn(tx Tx, workspace string) (*clusterv1.AuditHead, *fault.Error) {
	head, err := readHead(tx, workspace)
	if err != nil {
		return nil, record.Unreadable(err)
	}
	return head, nil
}

// getter is a Tx or a Reader.
type getter interface {
	Get(space store.Space, key []byte) (value []byte, ok bool, err error)
}

// readHead reads a head. A missing head is that of an empty chain.
func readHead(r getter, workspace string) (*clusterv1.AuditHead, error) {
	value, ok, err := r.Get(store.SpaceAuditHead, []byte(workspace))
	if err != nil {
		return nil, err
	}
	if !ok {
		h := genesis(workspace)
		return &clusterv1.AuditHead{Hash: h[:], First: 1, FirstPrevious: h[:]}, nil
	}
	head := &clusterv1.AuditHead{}
	if err := proto.Unmarshal(value, head); err != nil {
		return nil, damagedHead(err)
	}
	switch {
	case len(head.GetHash()) != sha256.Size, len(head.GetFirstPrevious()) != sha256.Size,
		head.GetFirst() == 0, head.GetFirst()-1 > head.GetSize(), head.GetFirst() != segmentStart(head.GetFirst()),
		!frontier(head.GetFrontier()).fits(head.GetSize()),
		!frontier(head.GetFirstFrontier()).fits(head.GetFirst() - 1):
		return nil, damagedHead(nil)
	}
	return head, nil
}

// The operations that can find the chain damaged.
const (
	opHead    = "audit.head"
	opRecord  = "audit.record"
	opSegment = "audit.segment"
)

func damagedHead(cause error) *fault.Error {
	return &fault.Error{Op: opHead, Kind: fault.Internal, Detail: "The head of the audit log is damaged.", Err: cause}
}
