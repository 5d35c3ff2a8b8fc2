package consensus

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io"
	"slices"

	"github.com/modelgateway/modelgateway/cluster/store"
)

// The format of a backup. It holds keys and values, not files, so that a node with another
// version of the storage engine can restore it. All numbers are big endian:
//
//	magic    8 bytes
//	version  1 byte, 1
//	index    8 bytes, of the last applied entry
//	term     8 bytes
//	clock    8 bytes, nanoseconds since the Unix epoch
//	records  1 byte, the space; 4 bytes, the key's length; 4 bytes, the value's length; key; value
//	end      1 byte, 0; 8 bytes, the number of records
//	sum      32 bytes, SHA-256 of all of the above
const (
	backupMagic   = "MGBACKUP"
	backupVersion = 1
	backupHead    = len(backupMagic) + 1 + 8 + 8 + 8
	maxKey        = 1 << 16
	maxValue      = 64 << 20
)

// backupWriter writes a backup.
type backupWriter struct {
	out   *bufio.Writer
	sum   hash.Hash
	count uint64
}

func newBackupWriter(w io.Writer) *backupWriter {
	sum := sha256.New()
	return &backupWriter{out: bufio.NewWriterSize(io.MultiWriter(w, sum), 1<<16), sum: sum}
}

func (b *backupWriter) begin(at mark) error {
	head := make([]byte, 0, backupHead)
	head = append(head, backupMagic...)
	head = append(head, backupVersion)
	for _, n := range []uint64{at.index, at.term, uint64(at.clock)} {
		head = binary.BigEndian.AppendUint64(head, n)
	}
	_, err := b.out.Write(head)
	return err
}

func (b *backupWriter) record(space store.Space, key, value []byte) error {
	if len(key) > maxKey || len(value) > maxValue {
		return damaged("backup", "The replicated state has a record that is too large for a backup.", errors.New("record too large"))
	}
	var head [9]byte
	head[0] = byte(space)
	binary.BigEndian.PutUint32(head[1:], uint32(len(key)))
	binary.BigEndian.PutUint32(head[5:], uint32(len(value)))
	b.count++
	for _, part := range [][]byte{head[:], key, value} {
		if _, err := b.out.Write(part); err != nil {
			return err
		}
	}
	return nil
}

func (b *backupWriter) end() error {
	var tail [9]byte
	binary.BigEndian.PutUint64(tail[1:], b.count)
	if _, err := b.out.Write(tail[:]); err != nil {
		return err
	}
	if err := b.out.Flush(); err != nil {
		return err
	}
	// The sum covers everything before it, so it bypasses the hashing writer.
	if _, err := b.out.Write(b.sum.Sum(nil)); err != nil {
		return err
	}
	return b.out.Flush()
}

// summed is a reader that hashes what it reads.
type summed struct {
	in  io.Reader
	sum hash.Hash
}

// Read implements io.Reader.
func (s *summed) Read(b []byte) (int, error) {
	n, err := s.in.Read(b)
	s.sum.Write(b[:n])
	return n, err
}

// readBackup calls fn for each record and returns the mark of the backup. The records are valid
// only if it returns without an error. fn must not keep the key or the value: the next record
// overwrites them.
func readBackup(r io.Reader, fn func(space store.Space, key, value []byte) error) (mark, error) {
	// The buffer is below the hash, which must not include read-ahead of the sum itself.
	in := &summed{in: bufio.NewReaderSize(r, 1<<16), sum: sha256.New()}
	at, err := readBackupHead(in)
	if err != nil {
		return at, err
	}
	// Reused for all records. A backup has millions; separate buffers would produce garbage of
	// several times the file's size.
	var head [9]byte
	var record []byte
	for count := uint64(0); ; count++ {
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return at, truncated(err)
		}
		if head[0] == 0 {
			if binary.BigEndian.Uint64(head[1:]) != count {
				return at, notBackup("records are missing")
			}
			return at, checkBackupEnd(in)
		}
		if head[0] > lastSpace {
			return at, notBackup("it is damaged")
		}
		keys, values := binary.BigEndian.Uint32(head[1:]), binary.BigEndian.Uint32(head[5:])
		if keys > maxKey || values > maxValue {
			return at, notBackup("it is damaged")
		}
		if record, err = readExactly(in, record, int(keys)+int(values)); err != nil {
			return at, truncated(err)
		}
		if err := fn(store.Space(head[0]), record[:keys], record[keys:]); err != nil {
			return at, err
		}
	}
}

// readExactly reads n bytes into buffer. It grows the buffer as bytes arrive, so that a damaged
// length does not allocate memory.
func readExactly(in io.Reader, buffer []byte, n int) ([]byte, error) {
	const piece = 64 << 10
	buffer = buffer[:0]
	for have := 0; have < n; have = len(buffer) {
		buffer = slices.Grow(buffer, min(n-have, piece))[:have+min(n-have, piece)]
		if _, err := io.ReadFull(in, buffer[have:]); err != nil {
			return nil, err
		}
	}
	return buffer, nil
}

func readBackupHead(in io.Reader) (mark, error) {
	head := make([]byte, backupHead)
	if _, err := io.ReadFull(in, head); err != nil {
		return mark{}, truncated(err)
	}
	if string(head[:len(backupMagic)]) != backupMagic {
		return mark{}, notBackup("it is not one")
	}
	head = head[len(backupMagic):]
	if head[0] != backupVersion {
		return mark{}, notBackup("it is of version %d and this gateway reads version %d", head[0], backupVersion)
	}
	return mark{
		index: binary.BigEndian.Uint64(head[1:]),
		term:  binary.BigEndian.Uint64(head[9:]),
		clock: int64(binary.BigEndian.Uint64(head[17:])),
	}, nil
}

func checkBackupEnd(in *summed) error {
	want := in.sum.Sum(nil)
	got := make([]byte, len(want))
	if _, err := io.ReadFull(in.in, got); err != nil {
		return truncated(err)
	}
	if !bytes.Equal(got, want) {
		return notBackup("it is damaged")
	}
	if _, err := io.ReadFull(in.in, got[:1]); !errors.Is(err, io.EOF) {
		return notBackup("there is more than there should be")
	}
	return nil
}

// truncated distinguishes a truncated backup from one that cannot be read.
func truncated(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return notBackup("it is cut off")
	}
	return err
}
