package consensus

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/raft"

	"github.com/modelgateway/modelgateway/cluster/consensus/archive"
)

// snapshot describes a snapshot on the disk.
type snapshot struct {
	id                  string // the name of its directory
	index, term         uint64
	configurationIndex  uint64
	configuration       []byte // as Raft encodes it
	files               []archive.File
	sequence            uint64 // distinguishes snapshots of the same entry
	configurationServed raft.Configuration
}

// metaMagic begins the description of a snapshot: four numbers, then the configuration and the
// manifest with their lengths, then the SHA-256 of all of it.
const metaMagic = "MGSNAPM1"

func (s *snapshot) encode() []byte {
	out := []byte(metaMagic)
	for _, n := range []uint64{s.index, s.term, s.configurationIndex, s.sequence} {
		out = binary.BigEndian.AppendUint64(out, n)
	}
	for _, part := range [][]byte{s.configuration, archive.EncodeManifest(s.files)} {
		out = binary.BigEndian.AppendUint32(out, uint32(len(part)))
		out = append(out, part...)
	}
	sum := sha256.Sum256(out)
	return append(out, sum[:]...)
}

func decodeSnapshot(id string, b []byte) (*snapshot, error) {
	if len(b) < len(metaMagic)+4*8+2*4+sha256.Size || string(b[:len(metaMagic)]) != metaMagic {
		return nil, errors.New("the file is not a snapshot description of this version")
	}
	body, tail := b[:len(b)-sha256.Size], b[len(b)-sha256.Size:]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], tail) {
		return nil, errors.New("the checksum does not fit")
	}
	body = body[len(metaMagic):]
	s := &snapshot{id: id}
	for _, n := range []*uint64{&s.index, &s.term, &s.configurationIndex, &s.sequence} {
		*n, body = binary.BigEndian.Uint64(body), body[8:]
	}
	var parts [2][]byte
	for i := range parts {
		if len(body) < 4 || uint64(len(body)-4) < uint64(binary.BigEndian.Uint32(body)) {
			return nil, errors.New("the description is truncated")
		}
		n := binary.BigEndian.Uint32(body)
		parts[i], body = body[4:4+n], body[4+n:]
	}
	if len(body) > 0 {
		return nil, errors.New("there is data after the end")
	}
	var err error
	if s.files, err = archive.DecodeManifest(parts[1]); err != nil {
		return nil, err
	}
	s.configuration = bytes.Clone(parts[0])
	if s.configurationServed, err = decodeConfiguration(s.configuration); err != nil {
		return nil, err
	}
	return s, nil
}

// decodeConfiguration is raft.DecodeConfiguration, but returns an error instead of a panic.
func decodeConfiguration(b []byte) (c raft.Configuration, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the configuration cannot be read: %v", r)
		}
	}()
	return raft.DecodeConfiguration(b), nil
}

// meta returns s as Raft's type.
func (s *snapshot) meta() *raft.SnapshotMeta {
	return &raft.SnapshotMeta{
		Version: raft.SnapshotVersionMax, ID: s.id,
		Index: s.index, Term: s.term,
		Configuration: s.configurationServed, ConfigurationIndex: s.configurationIndex,
		Size: archive.Size(s.files),
	}
}

// newer reports whether s covers more of the log than o, or was made later.
func (s *snapshot) newer(o *snapshot) bool {
	if s.index != o.index {
		return s.index > o.index
	}
	if s.term != o.term {
		return s.term > o.term
	}
	return s.sequence > o.sequence
}

// snapshotName returns the id of a snapshot.
func snapshotName(index, term, sequence uint64) string {
	return fmt.Sprintf("%d-%d-%d", index, term, sequence)
}

// sequenceOf returns the last number of the name of a complete or incomplete snapshot; 0 if it
// has none.
func sequenceOf(name string) uint64 {
	n, err := strconv.ParseUint(name[strings.LastIndexByte(name, '-')+1:], 10, 64)
	if err != nil {
		return 0
	}
	return n
}
