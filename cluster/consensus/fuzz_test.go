package consensus

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"testing"

	"github.com/hashicorp/raft"

	"github.com/modelgateway/modelgateway/cluster/consensus/archive"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// FuzzLogEntry: every accepted entry is encoded as the same bytes.
func FuzzLogEntry(f *testing.F) {
	for _, l := range []*raft.Log{
		{Index: 1, Term: 1, Type: raft.LogConfiguration, Data: []byte("members")},
		{Index: 1 << 40, Term: 3, Type: raft.LogCommand, Data: []byte("command"), Extensions: []byte("more")},
		{Index: 2, Term: 1, Type: raft.LogNoop},
	} {
		f.Add(l.Index, appendEntry(nil, l))
	}
	f.Fuzz(func(t *testing.T, index uint64, b []byte) {
		var l raft.Log
		for _, b := range [][]byte{b, resealed(index, b)} {
			if err := decodeEntry(index, b, &l); err != nil {
				continue
			}
			if again := appendEntry(nil, &l); !bytes.Equal(again, b) {
				t.Errorf("%x is written as %x", b, again)
			}
		}
	})
}

// resealed returns b with a valid checksum, so that the code after the checksum is fuzzed as
// well.
func resealed(index uint64, b []byte) []byte {
	if len(b) < entryTail {
		return nil
	}
	body := bytes.Clone(b[:len(b)-entryTail])
	sum := entrySum(index, body)
	return append(body, byte(sum>>24), byte(sum>>16), byte(sum>>8), byte(sum))
}

// FuzzSnapshotMeta: an accepted description is encoded as the same bytes.
func FuzzSnapshotMeta(f *testing.F) {
	s := &snapshot{
		index: 7, term: 2, configurationIndex: 3, sequence: 4,
		configuration: raft.EncodeConfiguration(raft.Configuration{Servers: []raft.Server{{ID: "a", Address: "b"}}}),
		files:         []archive.File{{Name: "a", Size: 1}, {Name: "b", Size: 2}},
	}
	f.Add(s.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, b := range [][]byte{b, signed(b)} {
			s, err := decodeSnapshot("x", b)
			if err != nil {
				continue
			}
			if again := s.encode(); !bytes.Equal(again, b) {
				t.Errorf("%x is written as %x", b, again)
			}
		}
	})
}

// signed returns b with a valid checksum.
func signed(b []byte) []byte {
	if len(b) < sha256.Size {
		return nil
	}
	body := bytes.Clone(b[:len(b)-sha256.Size])
	sum := sha256.Sum256(body)
	return append(body, sum[:]...)
}

// FuzzBackup: an accepted backup is written as the same bytes.
func FuzzBackup(f *testing.F) {
	var seed bytes.Buffer
	w := newBackupWriter(&seed)
	if err := errors.Join(w.begin(mark{index: 3, term: 2, clock: 1}), w.record('a', []byte("key"), []byte("value")), w.record('b', nil, nil), w.end()); err != nil {
		f.Fatal(err)
	}
	f.Add(seed.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, b := range [][]byte{b, signed(b)} {
			var again bytes.Buffer
			w := newBackupWriter(&again)
			at, err := readBackup(bytes.NewReader(b), func(store.Space, []byte, []byte) error { return nil })
			if err != nil {
				continue
			}
			if err := w.begin(at); err != nil {
				t.Fatal(err)
			}
			if _, err := readBackup(bytes.NewReader(b), w.record); err != nil {
				t.Fatal(err)
			}
			if err := w.end(); err != nil || !bytes.Equal(again.Bytes(), b) {
				t.Errorf("%x is written as %x: %v", b, again.Bytes(), err)
			}
		}
	})
}
