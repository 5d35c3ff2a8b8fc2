package consensus

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"
)

// The format of a snapshot on its way between two nodes: a manifest, then the files. The size
// is known in advance, and the receiver checks the hash of each file while writing it. A tar
// offers neither without more rules than this format has fields. All numbers are big endian:
//
//	magic     8 bytes
//	length    4 bytes, that of the manifest in bytes
//	manifest  a list of files
//	hash      32 bytes, SHA-256 of the manifest
//	files     concatenated, in the order of the manifest
//
// For each file, ordered by name, the manifest has:
//
//	length    2 bytes, of the name
//	file      the name
//	size      8 bytes
//	hash      32 bytes, SHA-256 of the file
const (
	archiveMagic = "MGSTATE1"
	archiveHead  = len(archiveMagic) + 4
	maxManifest  = 16 << 20 // about 200,000 files
	maxFileSize  = 1 << 40
)

// archived is a file of an archive.
type archived struct {
	name string
	size uint64
	sum  [sha256.Size]byte
}

// encodeManifest encodes the manifest of files, which are sorted by name.
func encodeManifest(files []archived) []byte {
	var out []byte
	for _, f := range files {
		out = binary.BigEndian.AppendUint16(out, uint16(len(f.name)))
		out = append(out, f.name...)
		out = binary.BigEndian.AppendUint64(out, f.size)
		out = append(out, f.sum[:]...)
	}
	return out
}

// decodeManifest decodes a manifest. It rejects everything that encodeManifest does not write,
// because the names become files in the data directory.
func decodeManifest(b []byte) ([]archived, error) {
	var files []archived
	for len(b) > 0 {
		if len(b) < 2 {
			return nil, errors.New("the manifest is truncated")
		}
		n := int(binary.BigEndian.Uint16(b))
		if len(b) < 2+n+8+sha256.Size {
			return nil, errors.New("the manifest is truncated")
		}
		f := archived{name: string(b[2 : 2+n]), size: binary.BigEndian.Uint64(b[2+n:])}
		copy(f.sum[:], b[2+n+8:])
		b = b[2+n+8+sha256.Size:]
		if !plainName(f.name) {
			return nil, fmt.Errorf("%q is not a file name", f.name)
		}
		if f.size > maxFileSize {
			return nil, fmt.Errorf("%q is too large", f.name)
		}
		if len(files) > 0 && files[len(files)-1].name >= f.name {
			return nil, fmt.Errorf("%q is out of order", f.name)
		}
		files = append(files, f)
	}
	return files, nil
}

// plainName reports whether name is a file name without a path.
func plainName(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= 255 &&
		!strings.ContainsFunc(name, func(r rune) bool { return r == '/' || r == '\\' || r < ' ' || r == 0x7f })
}

// archiveHeader returns the part before the files.
func archiveHeader(files []archived) []byte {
	manifest := encodeManifest(files)
	sum := sha256.Sum256(manifest)
	out := make([]byte, 0, archiveHead+len(manifest)+len(sum))
	out = append(out, archiveMagic...)
	out = binary.BigEndian.AppendUint32(out, uint32(len(manifest)))
	out = append(out, manifest...)
	return append(out, sum[:]...)
}

// archiveSize returns the size of the archive of files, in bytes.
func archiveSize(files []archived) int64 {
	size := int64(archiveHead) + sha256.Size
	for _, f := range files {
		size += int64(2+len(f.name)+8+sha256.Size) + int64(f.size)
	}
	return size
}

// packer reads files as an archive. It checks them while it reads, so an error that names a
// damaged file may come after part of it was read.
type packer struct {
	open    func(name string) (io.ReadCloser, error)
	files   []archived
	pending []byte // rest of the header
	at      int    // the file being read

	now  io.ReadCloser
	sum  hash.Hash
	left uint64
}

func newPacker(files []archived, open func(name string) (io.ReadCloser, error)) *packer {
	return &packer{open: open, files: files, pending: archiveHeader(files), at: -1}
}

// Read implements io.Reader.
func (p *packer) Read(b []byte) (int, error) {
	if len(p.pending) > 0 {
		n := copy(b, p.pending)
		p.pending = p.pending[n:]
		return n, nil
	}
	for p.left == 0 {
		if err := p.next(); err != nil {
			return 0, err
		}
	}
	n, err := p.now.Read(b[:min(uint64(len(b)), p.left)])
	p.sum.Write(b[:n])
	p.left -= uint64(n)
	if errors.Is(err, io.EOF) {
		err = nil
		if p.left > 0 {
			err = fmt.Errorf("%q is too short", p.files[p.at].name)
		}
	}
	return n, err
}

// next checks the hash of the current file and opens the next one.
func (p *packer) next() error {
	if p.now != nil {
		err := p.now.Close()
		p.now = nil
		if err == nil && !bytes.Equal(p.sum.Sum(nil), p.files[p.at].sum[:]) {
			err = fmt.Errorf("%q is damaged", p.files[p.at].name)
		}
		if err != nil {
			return err
		}
	}
	if p.at+1 >= len(p.files) {
		return io.EOF
	}
	p.at++
	now, err := p.open(p.files[p.at].name)
	if err != nil {
		return err
	}
	p.now, p.sum, p.left = now, sha256.New(), p.files[p.at].size
	return nil
}

// Close closes the file being read.
func (p *packer) Close() error {
	if p.now == nil {
		return nil
	}
	now := p.now
	p.now = nil
	return now.Close()
}

// unpacker writes an archive into files.
type unpacker struct {
	create func(name string) (io.WriteCloser, error)
	head   []byte // until the manifest is complete
	files  []archived
	begun  bool // the manifest has been decoded
	at     int

	now  io.WriteCloser
	sum  hash.Hash
	left uint64
}

// Write implements io.Writer.
func (u *unpacker) Write(b []byte) (int, error) {
	total := len(b)
	if !u.begun {
		rest, err := u.readHead(b)
		if err != nil || !u.begun {
			return total, err
		}
		b = rest
	}
	for len(b) > 0 {
		if u.now == nil {
			return 0, errors.New("there is data after the last file of the manifest")
		}
		n := int(min(uint64(len(b)), u.left))
		u.sum.Write(b[:n]) // before the write, which may modify the buffer
		if _, err := u.now.Write(b[:n]); err != nil {
			return 0, err
		}
		u.left -= uint64(n)
		b = b[n:]
		if err := u.advance(); err != nil {
			return 0, err
		}
	}
	return total, nil
}

// readHead collects the bytes before the files and returns the rest of b.
func (u *unpacker) readHead(b []byte) (rest []byte, err error) {
	u.head = append(u.head, b...)
	if !strings.HasPrefix(archiveMagic, string(u.head[:min(len(u.head), len(archiveMagic))])) {
		return nil, errors.New("the data is not a snapshot of this version")
	}
	if len(u.head) < archiveHead {
		return nil, nil
	}
	size := int(binary.BigEndian.Uint32(u.head[len(archiveMagic):]))
	if size > maxManifest {
		return nil, errors.New("the manifest is too long")
	}
	end := archiveHead + size + sha256.Size
	if len(u.head) < end {
		return nil, nil
	}
	manifest := u.head[archiveHead : archiveHead+size]
	if sum := sha256.Sum256(manifest); !bytes.Equal(sum[:], u.head[archiveHead+size:end]) {
		return nil, errors.New("the manifest is damaged")
	}
	if u.files, err = decodeManifest(manifest); err != nil {
		return nil, err
	}
	rest = slices.Clone(u.head[end:])
	u.begun, u.head, u.at = true, nil, -1
	return rest, u.advance()
}

// advance closes complete files and opens the next one.
func (u *unpacker) advance() error {
	for u.left == 0 {
		if u.now != nil {
			err := u.now.Close()
			u.now = nil
			if err == nil && !bytes.Equal(u.sum.Sum(nil), u.files[u.at].sum[:]) {
				err = fmt.Errorf("%q is damaged", u.files[u.at].name)
			}
			if err != nil {
				return err
			}
		}
		if u.at+1 >= len(u.files) {
			u.at = len(u.files)
			return nil
		}
		u.at++
		now, err := u.create(u.files[u.at].name)
		if err != nil {
			return err
		}
		u.now, u.sum, u.left = now, sha256.New(), u.files[u.at].size
	}
	return nil
}

// finish returns an error if the archive is incomplete.
func (u *unpacker) finish() error {
	if !u.begun || u.at < len(u.files) {
		return errors.New("the snapshot is truncated")
	}
	return nil
}

// abort closes the file being written.
func (u *unpacker) abort() {
	if u.now != nil {
		_ = u.now.Close() // the caller removes the file
		u.now = nil
	}
}
