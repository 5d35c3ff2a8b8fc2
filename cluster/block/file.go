package block

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
	"sync"
)

// File is the file of a sealed segment, with its index in memory. It is safe for concurrent use.
type File struct {
	blocks []filedBlock
	groups []filedGroup
	read   func(offset, size int64) ([]byte, error)

	mu   sync.Mutex
	last struct { // the group that was read last: the next block is often in it. With mu.
		number  int
		content []byte // nil: none was read
	}
}

type filedBlock struct {
	at           ref
	group        int
	offset, size int    // in the content of the group
	terms        []byte // as joinTerms joins them
}

type filedGroup struct {
	offset, size int64 // in the file
	content      int   // how many bytes are compressed
}

// Weight is about how much memory the file takes, in bytes.
func (f *File) Weight() int {
	n, group := 0, 0
	for _, b := range f.blocks {
		n += len(b.terms) + 96
	}
	for _, g := range f.groups {
		group = max(group, g.content)
	}
	return n + group
}

// OpenFile reads the index of a file. read reads a part of it.
func OpenFile(size int64, read func(offset, size int64) ([]byte, error)) (*File, error) {
	bad := func(cause error) (*File, error) {
		return nil, damaged(cause, "The file of a sealed segment is damaged.")
	}
	if size < int64(len(segmentMagic))+segmentFooter || size > maxSegment {
		return bad(errors.New("its size is impossible"))
	}
	footer, err := read(size-segmentFooter, segmentFooter)
	if err != nil {
		return nil, err
	}
	length, content := binary.BigEndian.Uint64(footer), binary.BigEndian.Uint64(footer[8:])
	if length > uint64(size)-uint64(len(segmentMagic))-segmentFooter || content > maxBlock {
		return bad(errors.New("the size of its index is impossible"))
	}
	offset := size - segmentFooter - int64(length)
	index, err := read(offset, int64(length)+segmentFooter)
	if err != nil {
		return nil, err
	}
	end := len(index) - sumSize
	if checksum(0, index[:end]) != binary.BigEndian.Uint32(index[end:]) {
		return bad(errors.New("the checksum of its index does not match"))
	}
	raw, err := zstandard.DecodeAll(index[:length], make([]byte, 0, content))
	if err != nil {
		return bad(err)
	}
	if magic, err := read(0, int64(len(segmentMagic))); err != nil {
		return nil, err
	} else if string(magic) != segmentMagic {
		return bad(errors.New("it does not begin as one: upgrade this node if it was written by a newer version"))
	}
	f := &File{read: read}
	if f.blocks, f.groups, err = decodeIndex(raw, offset); err != nil {
		return bad(err)
	}
	return f, nil
}

// find returns a block.
func (f *File) find(first uint64) (filedBlock, bool) {
	i := sort.Search(len(f.blocks), func(i int) bool { return f.blocks[i].at.first >= first })
	if i == len(f.blocks) || f.blocks[i].at.first != first {
		return filedBlock{}, false
	}
	return f.blocks[i], true
}

// content returns the content of a block. The caller must not change it.
func (f *File) content(b filedBlock) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last.content == nil || f.last.number != b.group {
		content, err := f.group(b.group)
		if err != nil {
			return nil, err
		}
		f.last.number, f.last.content = b.group, content
	}
	return f.last.content[b.offset : b.offset+b.size : b.offset+b.size], nil
}

// group reads a group of blocks.
func (f *File) group(number int) ([]byte, error) {
	g, begins := f.groups[number], f.blocks[number*groupSize].at.first
	packed, err := f.read(g.offset, g.size)
	if err != nil {
		return nil, err
	}
	end := len(packed) - sumSize
	if checksum(begins, packed[:end]) != binary.BigEndian.Uint32(packed[end:]) {
		return nil, damagedBlock(begins, errors.New("its checksum does not match"))
	}
	content, err := zstandard.DecodeAll(packed[:end], make([]byte, 0, g.content))
	if err == nil && len(content) != g.content {
		err = fmt.Errorf("it has %d bytes instead of %d", len(content), g.content)
	}
	if err != nil {
		return nil, damagedBlock(begins, err)
	}
	return content, nil
}

// has reports whether a record of the block has a term with postings.
func (b filedBlock) has(t Term) bool {
	n := len(b.terms) / termSize
	i := sort.Search(n, func(i int) bool { return bytes.Compare(b.terms[i*termSize:(i+1)*termSize], t[:]) >= 0 })
	return i < n && bytes.Equal(b.terms[i*termSize:(i+1)*termSize], t[:])
}

// encodeIndex encodes the number of the blocks (4 bytes); of each block its first record (varint), directory entry, size
// and size of its terms (varints); the size of each group (varint); the terms of each block.
func encodeIndex(blocks []filedBlock, groups []filedGroup) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(blocks)))
	for _, b := range blocks {
		out = binary.AppendUvarint(out, b.at.first)
		out = append(out, b.at.encode()...)
		out = binary.AppendUvarint(out, uint64(b.size))
		out = binary.AppendUvarint(out, uint64(len(b.terms)))
	}
	for _, g := range groups {
		out = binary.AppendUvarint(out, uint64(g.size))
	}
	for _, b := range blocks {
		out = append(out, b.terms...)
	}
	return out
}

// indexReader reads an index.
type indexReader struct {
	left []byte
	bad  bool
}

// number reads a number that is at most as high as most.
func (r *indexReader) number(most uint64) uint64 {
	v, n := binary.Uvarint(r.left)
	if n <= 0 || v > most {
		r.bad = true
		return 0
	}
	r.left = r.left[n:]
	return v
}

func (r *indexReader) bytes(n int) []byte {
	if r.bad || n > len(r.left) {
		r.bad = true
		return nil
	}
	out := r.left[:n:n]
	r.left = r.left[n:]
	return out
}

// decodeIndex decodes an index. end is where the groups end.
func decodeIndex(b []byte, end int64) (blocks []filedBlock, groups []filedGroup, err error) {
	bad := errors.New("its index cannot be read")
	r := &indexReader{left: b}
	count := r.bytes(4)
	if r.bad || int64(binary.BigEndian.Uint32(count)) > int64(len(b)) {
		return nil, nil, bad
	}
	blocks = make([]filedBlock, binary.BigEndian.Uint32(count))
	lengths := make([]int, len(blocks))
	for i := range blocks {
		first := r.number(All)
		entry := r.bytes(refSize)
		if r.bad {
			return nil, nil, bad
		}
		at, err := decodeRef(first, entry)
		if err != nil {
			return nil, nil, err
		}
		x := filedBlock{at: at, group: i / groupSize, size: int(r.number(maxBlock))}
		lengths[i] = int(r.number(maxBlock))
		if x.group == len(groups) {
			groups = append(groups, filedGroup{})
		}
		g := &groups[x.group]
		x.offset, g.content = g.content, g.content+x.size
		if blocks[i] = x; i > 0 && at.first != blocks[i-1].at.last()+1 || g.content > maxBlock {
			return nil, nil, bad
		}
	}
	offset := int64(len(segmentMagic))
	for i := range groups {
		groups[i].offset, groups[i].size = offset, int64(r.number(maxSegment))
		if offset += groups[i].size; groups[i].size < sumSize {
			return nil, nil, bad
		}
	}
	for i := range blocks {
		blocks[i].terms = r.bytes(lengths[i])
	}
	if r.bad || len(r.left) > 0 || offset != end {
		return nil, nil, bad
	}
	return blocks, groups, nil
}
