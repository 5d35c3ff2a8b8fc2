package block

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"

	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// SegmentSize is the number of records after whose multiples a full segment ends.
const SegmentSize = 64 * Size

// The format of the file of a sealed segment:
//
//	magic    8 bytes
//	groups   of up to 4 blocks, compressed together (zstd), as they are a sixth smaller then than one by one; each with
//	         a checksum: CRC-32C of the number of its first record and of what is compressed
//	index    zstd, see encodeIndex
//	lengths  of the index, and of its content: 8 bytes each, big endian
//	checksum 4 bytes, big endian: CRC-32C of index and lengths
//
// A block in a group is
//
//	form     1 byte: 0 if the records are whole, 1 and 2 if hashes are cut out of them
//	records  their number, a varint
//	hashes   of form 1: that before the first record, then that of each, 32 bytes each; of form 2: that before the
//	         first record and that of the last one, because the others follow from the records
//	content  as in a block of the state
//
// The state has the SHA-256 of the file.
const (
	segmentMagic  = "mgseg\x00\x001"
	segmentFooter = 8 + 8 + sumSize
	// maxSegment is the highest size of a file that is read: 64 blocks of the longest records that the gateway writes.
	maxSegment = 1 << 30
	groupSize  = 4
)

// Segment describes a sealed segment.
type Segment struct {
	First, Last uint64   // numbers of its records
	Sum         [32]byte // SHA-256 of the file
	Size        uint64   // of the file, in bytes
	Object      string   // name of the file in the bucket; empty: the nodes keep it
	// Of a chain: the hash before the first record, and that of the last.
	Before, After [32]byte

	min, max int64
	blocks   uint32
}

// Message returns the segment as commands and the state have it.
func (s Segment) Message() *clusterv1.SealedSegment {
	m := &clusterv1.SealedSegment{
		First: s.First, Last: s.Last, Sum: s.Sum[:], Size: s.Size, Object: s.Object,
		MinUnixNano: s.min, MaxUnixNano: s.max, Blocks: s.blocks,
	}
	if s.After != ([32]byte{}) {
		m.Before, m.After = s.Before[:], s.After[:]
	}
	return m
}

// SegmentOf is the reverse of Message.
func SegmentOf(m *clusterv1.SealedSegment) (Segment, error) {
	s := Segment{
		First: m.GetFirst(), Last: m.GetLast(), Size: m.GetSize(), Object: m.GetObject(),
		min: m.GetMinUnixNano(), max: m.GetMaxUnixNano(), blocks: m.GetBlocks(),
	}
	chained := len(m.GetAfter()) > 0
	if len(m.GetSum()) != len(s.Sum) || s.First == 0 || s.First > s.Last || s.Size > maxSegment ||
		chained && (len(m.GetBefore()) != len(s.Before) || len(m.GetAfter()) != len(s.After)) {
		return Segment{}, damaged(nil, "What the state has of a sealed segment is damaged.")
	}
	s.Sum = [32]byte(m.GetSum())
	if chained {
		s.Before, s.After = [32]byte(m.GetBefore()), [32]byte(m.GetAfter())
	}
	return s, nil
}

// Files gives the files of sealed segments. It is safe for concurrent use.
type Files interface {
	// Open returns the file of a segment, after it fetched the file if this node does not have it.
	Open(ctx context.Context, s Segment) (*File, error)
	// Damaged says that a part of the file could not be read as it was written. Open then returns an intact one,
	// if there is any; repaired is false if not.
	Damaged(ctx context.Context, s Segment) (repaired bool)
}

// WithFiles returns a reader that reads sealed records as well.
func WithFiles(r Reader, files Files) Reader { return filed{r, files} }

type filed struct {
	Reader

	files Files
}

// WriteSegment writes the file of a segment: the records from one number to another, which must be whole blocks of the
// state. Nothing is sealed yet.
func (l Log) WriteSegment(ctx context.Context, r Reader, x Span, w io.Writer) (Segment, error) {
	first, last := x.First, x.Last
	sum := sha256.New()
	out := &counted{w: io.MultiWriter(sum, w)} // the sum first: file systems of tests change what they have written
	s := Segment{First: first, Last: last}
	var blocks []filedBlock
	var groups []filedGroup
	var group []byte // content of the blocks that are not written yet
	_, _ = io.WriteString(out, segmentMagic)
	for next := first; next <= last; {
		at, ok, err := l.blockAt(ctx, r, next, last)
		if err != nil {
			return Segment{}, err
		}
		if !ok || at.first != next || at.last() > last {
			return Segment{}, damaged(nil, fmt.Sprintf("No block of records begins with %d.", next))
		}
		value, ok, err := r.Get(l.Space, l.key(kindBlock, at.first))
		if err == nil && !ok {
			err = damaged(nil, fmt.Sprintf("The block of records that begins with %d is missing.", at.first))
		}
		if err != nil {
			return Segment{}, err
		}
		terms, _, err := l.bytes(r, kindTerms, at.first)
		if err != nil {
			return Segment{}, err
		}
		before := len(group)
		content, hashes, err := l.shorten(at, value)
		if err != nil {
			return Segment{}, err
		}
		if group = append(group, content...); next == first && len(hashes) > 0 {
			s.Before = [32]byte(hashes)
		}
		if len(hashes) > 0 {
			s.After = [32]byte(hashes[len(hashes)-32:])
		}
		blocks = append(blocks, filedBlock{at: at, group: len(groups), offset: before, size: len(group) - before, terms: terms})
		if next = at.last() + 1; len(blocks)%groupSize == 0 || next > last {
			packed := zstandard.EncodeAll(group, nil)
			packed = binary.BigEndian.AppendUint32(packed, checksum(blocks[len(blocks)-1-(len(blocks)-1)%groupSize].at.first, packed))
			_, _ = out.Write(packed)
			groups = append(groups, filedGroup{size: int64(len(packed)), content: len(group)})
			group = group[:0]
		}
	}
	raw := encodeIndex(blocks, groups)
	index := zstandard.EncodeAll(raw, nil)
	length := len(index)
	index = binary.BigEndian.AppendUint64(index, uint64(length))
	index = binary.BigEndian.AppendUint64(index, uint64(len(raw)))
	_, _ = out.Write(binary.BigEndian.AppendUint32(index, checksum(0, index)))
	s.Size, s.Sum = uint64(out.n), [32]byte(sum.Sum(nil))
	return s, out.err
}

// shorten returns a block as it is in a file, without the hashes that follow from the others, and all its hashes.
func (l Log) shorten(at ref, value []byte) (out, hashes []byte, err error) {
	f, err := l.unframe(at.first, value)
	if err != nil {
		return nil, nil, damagedBlock(at.first, err)
	}
	raw, err := f.inflate()
	if err != nil {
		return nil, nil, damagedBlock(at.first, err)
	}
	if uint64(f.count) != at.count {
		return nil, nil, notAsMany(at.first)
	}
	if f.form == formChained {
		short := frame{form: formFollows, count: f.count, hashes: append(bytes.Clone(f.hashes[:32]), f.hashes[len(f.hashes)-32:]...)}
		// If somebody has changed a record, its hashes do not follow from it. They stay, and who verifies them finds it.
		if _, follow, err := l.assemble(at.first, short, raw); err == nil && bytes.Equal(follow, f.hashes) {
			hashes, f = f.hashes, short
		}
	}
	if hashes == nil {
		if _, hashes, err = l.assemble(at.first, f, raw); err != nil {
			return nil, nil, err
		}
	}
	out = binary.AppendUvarint([]byte{f.form}, uint64(f.count))
	return append(append(out, f.hashes...), raw...), hashes, nil
}

// counted counts what is written, and keeps the first error.
type counted struct {
	w   io.Writer
	n   int64
	err error
}

// Write implements io.Writer.
func (c *counted) Write(b []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.w.Write(b)
	c.n, c.err = c.n+int64(n), err
	return n, err
}
