package block

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/modelgateway/modelgateway/cluster/inject"
)

// The format of a block. Numbers are varints where no size is given:
//
//	version      1 byte, 1
//	form         1 byte: 1 if hashes are cut out of the records, else 0
//	records      their number
//	hashes       if they are cut out: that before the first record, then that of each, 32 bytes each
//	size         of the frame's content
//	frame        zstd: differences of the times, lengths of the records, records
//	checksum     4 bytes, big endian: CRC-32C of the first record's number (8 bytes) and all of the above
//
// Pebble has checksums as well. This one also detects an intact block in the wrong place. A dictionary
// was measured: with 256 records in a block it saves nothing.
const (
	blockVersion = 1
	formPlain    = 0
	formChained  = 1
	formFollows  = 2
	sumSize      = 4
	// maxBlock is the highest size of a block that is read, decompressed.
	maxBlock = 256 << 20
)

// coder compresses and decompresses. The package's functions have no place to keep it: they are called with a
// transaction.
type coder struct {
	*zstd.Encoder
	*zstd.Decoder

	buffers *sync.Pool // of *buffer
}

// buffer is the memory that encodes a block: as much as that of a thousand requests, so it is used again.
type buffer struct{ rests, raw, out []byte }

//nolint:gochecknoglobals // has no state that anybody sees, and is safe for concurrent use
var zstandard = newCoder()

func newCoder() coder {
	// The fastest level: the next one takes a fifth longer and gains nothing on such records.
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(maxRaw), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
	if err != nil {
		panic(err) // only for impossible options
	}
	enc.EncodeAll(nil, nil) // makes its channel here, and not in the virtual time of a test
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxBlock))
	if err != nil {
		panic(err)
	}
	return coder{enc, dec, &sync.Pool{New: func() any { return new(buffer) }}}
}

// block is a decoded block: consecutive records.
type block struct {
	first  uint64
	times  []int64
	values [][]byte
}

// encode encodes consecutive records as a block, and calls set with it. The bytes are only valid during the call.
func (l Log) encode(records []unpacked, set func(b []byte)) {
	buf := zstandard.buffers.Get().(*buffer)
	defer zstandard.buffers.Put(buf)
	sizes := make([]int, len(records))
	form, hashes := byte(formChained), l.split(buf, records, sizes)
	if hashes == nil {
		form = formPlain
	}
	raw := buf.raw[:0]
	at := int64(0)
	for _, r := range records {
		raw = binary.AppendVarint(raw, r.Time-at)
		at = r.Time
	}
	for _, size := range sizes {
		raw = binary.AppendUvarint(raw, uint64(size))
	}
	raw = append(raw, buf.rests...)
	out := append(buf.out[:0], blockVersion, form)
	out = binary.AppendUvarint(out, uint64(len(records)))
	out = append(out, hashes...)
	out = binary.AppendUvarint(out, uint64(len(raw)))
	out = zstandard.EncodeAll(raw, out)
	out = binary.BigEndian.AppendUint32(out, checksum(records[0].Number, out))
	buf.raw, buf.out = raw, out
	set(out)
}

func checksum(first uint64, b []byte) uint32 {
	var number [8]byte
	binary.BigEndian.PutUint64(number[:], first)
	table := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum(number[:], table), table, b)
}

// split fills the buffer with the part of the records that is compressed, and returns their hashes; nil if they are no chain.
func (l Log) split(buf *buffer, records []unpacked, sizes []int) (hashes []byte) {
	buf.rests = buf.rests[:0]
	var last [32]byte
	for i, r := range records {
		before := len(buf.rests)
		if l.Chain == nil {
			buf.rests = append(buf.rests, r.Value...)
			sizes[i] = len(buf.rests) - before
			continue
		}
		rests, x, ok := l.Chain.Split(buf.rests, r.Value)
		switch {
		case !ok, i > 0 && x.Previous != last:
			// Somebody changed them before they were packed. They stay as they are, and who verifies them finds it.
			l.Chain = nil
			return l.split(buf, records, sizes)
		case i == 0:
			hashes = append(make([]byte, 0, 32*(len(records)+1)), x.Previous[:]...)
		}
		hashes, last = append(hashes, x.Own[:]...), x.Own
		buf.rests, sizes[i] = rests, len(rests)-before
	}
	return hashes
}

// decode decodes a block.
func (l Log) decode(first uint64, b []byte) (*block, error) {
	out, _, err := l.decodeHashed(first, b)
	return out, err
}

// frame is a block of which only the checksum was looked at.
type frame struct {
	form   byte
	count  int
	hashes []byte
	rest   []byte // size and frame
}

func (l Log) unframe(first uint64, b []byte) (f frame, err error) {
	if len(b) < 2+sumSize || checksum(first, b[:len(b)-sumSize]) != binary.BigEndian.Uint32(b[len(b)-sumSize:]) && !inject.HasDefect("block_unchecked") {
		return f, errors.New("its checksum does not match")
	}
	b = b[:len(b)-sumSize]
	if b[0] != blockVersion || b[1] > formChained {
		return f, fmt.Errorf("version %d, form %d is unknown: upgrade this node", b[0], b[1])
	}
	return l.parts(b[1:])
}

// parts reads form, number of records and hashes.
func (l Log) parts(b []byte) (f frame, err error) {
	if len(b) == 0 || b[0] > formFollows || b[0] != formPlain && l.Chain == nil {
		return f, errors.New("its form is unknown: upgrade this node")
	}
	f.form = b[0]
	count, n := binary.Uvarint(b[1:])
	if n <= 0 || count == 0 || count > Size {
		return f, errors.New("its number of records is impossible")
	}
	f.count, f.rest = int(count), b[1+n:]
	size := [...]int{formPlain: 0, formChained: 32 * (f.count + 1), formFollows: 2 * 32}[f.form]
	if len(f.rest) < size {
		return f, errors.New("it is too short")
	}
	f.hashes, f.rest = f.rest[:size], f.rest[size:]
	return f, nil
}

// decodeHashed decodes a block, and returns the hashes of a chain: that before the first record, then that of each.
func (l Log) decodeHashed(first uint64, b []byte) (*block, []byte, error) {
	f, err := l.unframe(first, b)
	if err != nil {
		return nil, nil, damagedBlock(first, err)
	}
	raw, err := f.inflate()
	if err != nil {
		return nil, nil, damagedBlock(first, err)
	}
	return l.assemble(first, f, raw)
}

// inflate returns the content of the frame.
func (f frame) inflate() ([]byte, error) {
	size, n := binary.Uvarint(f.rest)
	if n <= 0 || size > maxBlock {
		return nil, errors.New("its size is impossible")
	}
	return zstandard.DecodeAll(f.rest[n:], make([]byte, 0, size))
}

// assemble makes a block of its parts, of which raw was compressed.
func (l Log) assemble(first uint64, f frame, raw []byte) (*block, []byte, error) {
	out, err := unwrap(first, f.count, raw)
	if err != nil {
		return nil, nil, damagedBlock(first, err)
	}
	switch f.form {
	case formChained:
		l.join(out, f.hashes, len(raw))
		return out, f.hashes, nil
	case formFollows:
		hashes := l.follow(out, f.hashes[:32], len(raw))
		if !bytes.Equal(hashes[len(hashes)-32:], f.hashes[32:]) {
			return nil, nil, damagedBlock(first, errors.New("the hash of its last record is not the one that follows from its records"))
		}
		return out, hashes, nil
	}
	return out, nil, nil
}

func damagedBlock(first uint64, cause error) error {
	return damaged(cause, fmt.Sprintf("The block of records that begins with %d is damaged.", first))
}

// unwrap reads what was compressed.
func unwrap(first uint64, count int, raw []byte) (*block, error) {
	out := &block{first: first, times: make([]int64, count), values: make([][]byte, count)}
	at := int64(0)
	for i := range out.times {
		d, n := binary.Varint(raw)
		if n <= 0 {
			return nil, errors.New("its times cannot be read")
		}
		at += d
		out.times[i], raw = at, raw[n:]
	}
	sizes := make([]uint64, count)
	for i := range sizes {
		size, n := binary.Uvarint(raw)
		if n <= 0 || size > maxBlock {
			return nil, errors.New("its lengths cannot be read")
		}
		sizes[i], raw = size, raw[n:]
	}
	for i, size := range sizes {
		if uint64(len(raw)) < size {
			return nil, errors.New("it is too short")
		}
		out.values[i], raw = raw[:size:size], raw[size:]
	}
	if len(raw) > 0 {
		return nil, errors.New("it is too long")
	}
	return out, nil
}

// join puts the hashes back into the records.
func (l Log) join(b *block, hashes []byte, size int) {
	buffer := make([]byte, 0, size+len(b.values)*160)
	for i, rest := range b.values {
		from := len(buffer)
		buffer = l.Chain.Join(buffer, rest, Link{[32]byte(hashes[32*i:]), [32]byte(hashes[32*(i+1):])})
		b.values[i] = buffer[from:len(buffer):len(buffer)]
	}
}

// follow puts the hashes back that follow from the one before the first record, and returns all of them.
func (l Log) follow(b *block, previous []byte, size int) (hashes []byte) {
	buffer := make([]byte, 0, size+len(b.values)*160)
	hashes = append(make([]byte, 0, 32*(len(b.values)+1)), previous...)
	last := [32]byte(previous)
	for i, rest := range b.values {
		from := len(buffer)
		buffer, last = l.Chain.Follow(buffer, rest, last)
		b.values[i] = buffer[from:len(buffer):len(buffer)]
		hashes = append(hashes, last[:]...)
	}
	return hashes
}

// unpacked is a record that is in no block yet.
type unpacked struct {
	Record

	terms []Term
}

// appendUnpacked encodes a record that is in no block yet: time (8 bytes), number of terms (1 byte),
// terms, value.
func appendUnpacked(to []byte, e Entry) []byte {
	to = binary.BigEndian.AppendUint64(to, uint64(e.Time))
	to = append(to, byte(len(e.Terms)))
	for _, t := range e.Terms {
		to = append(to, t[:]...)
	}
	return append(to, e.Value...)
}

func decodeUnpacked(number uint64, b []byte) (unpacked, error) {
	const fixed = 8 + 1
	if len(b) < fixed || len(b) < fixed+int(b[8])*termSize {
		return unpacked{}, damaged(nil, fmt.Sprintf("The record %d is damaged.", number))
	}
	out := unpacked{Record: Record{Number: number, Time: int64(binary.BigEndian.Uint64(b))}}
	out.terms = make([]Term, b[8])
	for i := range out.terms {
		out.terms[i] = Term(b[fixed+i*termSize:])
	}
	out.Value = b[fixed+len(out.terms)*termSize:]
	return out, nil
}
