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

// A snapshot on its way between two nodes: what the files are, then the files. Its
// size is known beforehand, and every file is checked against its hash as it is
// written; a tar has neither without more rules than this format has fields. All
// numbers are big endian:
//
//	magic     8 bytes
//	length    4 bytes, of the list behind it
//	contents  the list: what the files are
//	hash      32 bytes, SHA-256 of the list
//	files     one behind the other, in the list's order
//
// and the list, the manifest, is, for each file in the order of the names:
//
//	length    2 bytes, of the name behind it
//	file      its name, that many bytes
//	size      8 bytes
//	hash      32 bytes, SHA-256 of the file
const (
	archiveMagic = "MGSTATE1"
	archiveHead  = len(archiveMagic) + 4
	maxManifest  = 16 << 20 // some 200,000 files
	maxFileSize  = 1 << 40
)

// archived is one file of an archive.
type archived struct {
	name string
	size uint64
	sum  [sha256.Size]byte
}

// encodeManifest is the manifest of files, which are sorted by name.
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

// decodeManifest reads a manifest and refuses whatever encodeManifest would not
// have written: the names become files in the data directory.
func decodeManifest(b []byte) ([]archived, error) {
	var files []archived
	for len(b) > 0 {
		if len(b) < 2 {
			return nil, errors.New("the manifest is cut off")
		}
		n := int(binary.BigEndian.Uint16(b))
		if len(b) < 2+n+8+sha256.Size {
			return nil, errors.New("the manifest is cut off")
		}
		f := archived{name: string(b[2 : 2+n]), size: binary.BigEndian.Uint64(b[2+n:])}
		copy(f.sum[:], b[2+n+8:])
		b = b[2+n+8+sha256.Size:]
		if !plainName(f.name) {
			return nil, fmt.Errorf("%q is no file name", f.name)
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

// plainName reports whether name is that of a file in a directory, and of no other.
func plainName(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= 255 &&
		!strings.ContainsFunc(name, func(r rune) bool { return r == '/' || r == '\\' || r < ' ' || r == 0x7f })
}

// archiveHeader is everything before the files.
func archiveHeader(files []archived) []byte {
	manifest := encodeManifest(files)
	sum := sha256.Sum256(manifest)
	out := make([]byte, 0, archiveHead+len(manifest)+len(sum))
	out = append(out, archiveMagic...)
	out = binary.BigEndian.AppendUint32(out, uint32(len(manifest)))
	out = append(out, manifest...)
	return append(out, sum[:]...)
}

// archiveSize is the size of the archive of files, in bytes.
func archiveSize(files []archived) int64 {
	size := int64(archiveHead) + sha256.Size
	for _, f := range files {
		size += int64(2+len(f.name)+8+sha256.Size) + int64(f.size)
	}
	return size
}

// packer reads an archive out of files. It checks them while it reads: an error
// says which one is damaged, after some of it may have been read.
type packer struct {
	open    func(name string) (io.ReadCloser, error)
	files   []archived
	pending []byte // of the header
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

// next checks the file that was read and opens the next one.
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
	head   []byte // until the manifest is whole
	files  []archived
	begun  bool // the manifest is read
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
			return 0, errors.New("there is more than the manifest says")
		}
		n := int(min(uint64(len(b)), u.left))
		u.sum.Write(b[:n]) // first, because the file may change what it is given
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

// readHead collects what is before the files and returns what is behind it.
func (u *unpacker) readHead(b []byte) (rest []byte, err error) {
	u.head = append(u.head, b...)
	if !strings.HasPrefix(archiveMagic, string(u.head[:min(len(u.head), len(archiveMagic))])) {
		return nil, errors.New("this is no snapshot, or one of another version")
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

// advance ends files that are whole and begins the next one.
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

// finish reports whether the archive was whole.
func (u *unpacker) finish() error {
	if !u.begun || u.at < len(u.files) {
		return errors.New("the snapshot is cut off")
	}
	return nil
}

// abort closes the file being written.
func (u *unpacker) abort() {
	if u.now != nil {
		_ = u.now.Close() // it is going to be removed
		u.now = nil
	}
}
