package archive

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

const (
	magic       = "MGSTATE1"
	headSize    = len(magic) + 4
	maxManifest = 16 << 20 // about 200,000 files
	maxFileSize = 1 << 40
)

// File describes a file of an archive.
type File struct {
	Name string
	Size uint64
	Sum  [sha256.Size]byte
}

// EncodeManifest encodes the manifest of files, which are sorted by name.
func EncodeManifest(files []File) []byte {
	var out []byte
	for _, f := range files {
		out = binary.BigEndian.AppendUint16(out, uint16(len(f.Name)))
		out = append(out, f.Name...)
		out = binary.BigEndian.AppendUint64(out, f.Size)
		out = append(out, f.Sum[:]...)
	}
	return out
}

// DecodeManifest decodes a manifest. It rejects everything that EncodeManifest does not write,
// because the names become files in the data directory.
func DecodeManifest(b []byte) ([]File, error) {
	var files []File
	for len(b) > 0 {
		if len(b) < 2 {
			return nil, errors.New("the manifest is truncated")
		}
		n := int(binary.BigEndian.Uint16(b))
		if len(b) < 2+n+8+sha256.Size {
			return nil, errors.New("the manifest is truncated")
		}
		f := File{Name: string(b[2 : 2+n]), Size: binary.BigEndian.Uint64(b[2+n:])}
		copy(f.Sum[:], b[2+n+8:])
		b = b[2+n+8+sha256.Size:]
		if !plainName(f.Name) {
			return nil, fmt.Errorf("%q is not a file name", f.Name)
		}
		if f.Size > maxFileSize {
			return nil, fmt.Errorf("%q is too large", f.Name)
		}
		if len(files) > 0 && files[len(files)-1].Name >= f.Name {
			return nil, fmt.Errorf("%q is out of order", f.Name)
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

// header returns the part before the files.
func header(files []File) []byte {
	manifest := EncodeManifest(files)
	sum := sha256.Sum256(manifest)
	out := make([]byte, 0, headSize+len(manifest)+len(sum))
	out = append(out, magic...)
	out = binary.BigEndian.AppendUint32(out, uint32(len(manifest)))
	out = append(out, manifest...)
	return append(out, sum[:]...)
}

// Size returns the size of the archive of files, in bytes.
func Size(files []File) int64 {
	size := int64(headSize) + sha256.Size
	for _, f := range files {
		size += int64(2+len(f.Name)+8+sha256.Size) + int64(f.Size)
	}
	return size
}

// Reader reads files as an archive. It checks them while it reads, so an error that names a
// damaged file may come after part of it was read.
type Reader struct {
	open    func(name string) (io.ReadCloser, error)
	files   []File
	pending []byte // rest of the header
	at      int    // the file being read

	now  io.ReadCloser
	sum  hash.Hash
	left uint64
}

// NewReader returns a Reader of files, which are sorted by name.
func NewReader(files []File, open func(name string) (io.ReadCloser, error)) *Reader {
	return &Reader{open: open, files: files, pending: header(files), at: -1}
}

// Read implements io.Reader.
func (r *Reader) Read(b []byte) (int, error) {
	if len(r.pending) > 0 {
		n := copy(b, r.pending)
		r.pending = r.pending[n:]
		return n, nil
	}
	for r.left == 0 {
		if err := r.next(); err != nil {
			return 0, err
		}
	}
	n, err := r.now.Read(b[:min(uint64(len(b)), r.left)])
	r.sum.Write(b[:n])
	r.left -= uint64(n)
	if errors.Is(err, io.EOF) {
		err = nil
		if r.left > 0 {
			err = fmt.Errorf("%q is too short", r.files[r.at].Name)
		}
	}
	return n, err
}

// next checks the hash of the current file and opens the next one.
func (r *Reader) next() error {
	if r.now != nil {
		err := r.now.Close()
		r.now = nil
		if err == nil && !bytes.Equal(r.sum.Sum(nil), r.files[r.at].Sum[:]) {
			err = fmt.Errorf("%q is damaged", r.files[r.at].Name)
		}
		if err != nil {
			return err
		}
	}
	if r.at+1 >= len(r.files) {
		return io.EOF
	}
	r.at++
	now, err := r.open(r.files[r.at].Name)
	if err != nil {
		return err
	}
	r.now, r.sum, r.left = now, sha256.New(), r.files[r.at].Size
	return nil
}

// Close closes the file being read.
func (r *Reader) Close() error {
	if r.now == nil {
		return nil
	}
	now := r.now
	r.now = nil
	return now.Close()
}

// Writer writes an archive into files.
type Writer struct {
	create func(name string) (io.WriteCloser, error)
	head   []byte // until the manifest is complete
	files  []File
	begun  bool // the manifest has been decoded
	at     int

	now  io.WriteCloser
	sum  hash.Hash
	left uint64
}

// NewWriter returns a Writer that creates its files with create. The caller ends it with Finish
// or Abort.
func NewWriter(create func(name string) (io.WriteCloser, error)) *Writer {
	return &Writer{create: create}
}

// Files returns the files of the archive after Finish.
func (w *Writer) Files() []File { return w.files }

// Write implements io.Writer.
func (w *Writer) Write(b []byte) (int, error) {
	total := len(b)
	if !w.begun {
		rest, err := w.readHead(b)
		if err != nil || !w.begun {
			return total, err
		}
		b = rest
	}
	for len(b) > 0 {
		if w.now == nil {
			return 0, errors.New("there is data after the last file of the manifest")
		}
		n := int(min(uint64(len(b)), w.left))
		w.sum.Write(b[:n]) // before the write, which may modify the buffer
		if _, err := w.now.Write(b[:n]); err != nil {
			return 0, err
		}
		w.left -= uint64(n)
		b = b[n:]
		if err := w.advance(); err != nil {
			return 0, err
		}
	}
	return total, nil
}

// readHead collects the bytes before the files and returns the rest of b.
func (w *Writer) readHead(b []byte) (rest []byte, err error) {
	w.head = append(w.head, b...)
	if !strings.HasPrefix(magic, string(w.head[:min(len(w.head), len(magic))])) {
		return nil, errors.New("the data is not a snapshot of this version")
	}
	if len(w.head) < headSize {
		return nil, nil
	}
	size := int(binary.BigEndian.Uint32(w.head[len(magic):]))
	if size > maxManifest {
		return nil, errors.New("the manifest is too long")
	}
	end := headSize + size + sha256.Size
	if len(w.head) < end {
		return nil, nil
	}
	manifest := w.head[headSize : headSize+size]
	if sum := sha256.Sum256(manifest); !bytes.Equal(sum[:], w.head[headSize+size:end]) {
		return nil, errors.New("the manifest is damaged")
	}
	if w.files, err = DecodeManifest(manifest); err != nil {
		return nil, err
	}
	rest = slices.Clone(w.head[end:])
	w.begun, w.head, w.at = true, nil, -1
	return rest, w.advance()
}

// advance closes complete files and opens the next one.
func (w *Writer) advance() error {
	for w.left == 0 {
		if w.now != nil {
			err := w.now.Close()
			w.now = nil
			if err == nil && !bytes.Equal(w.sum.Sum(nil), w.files[w.at].Sum[:]) {
				err = fmt.Errorf("%q is damaged", w.files[w.at].Name)
			}
			if err != nil {
				return err
			}
		}
		if w.at+1 >= len(w.files) {
			w.at = len(w.files)
			return nil
		}
		w.at++
		now, err := w.create(w.files[w.at].Name)
		if err != nil {
			return err
		}
		w.now, w.sum, w.left = now, sha256.New(), w.files[w.at].Size
	}
	return nil
}

// Finish returns an error if the archive is incomplete.
func (w *Writer) Finish() error {
	if !w.begun || w.at < len(w.files) {
		return errors.New("the snapshot is truncated")
	}
	return nil
}

// Abort closes the file being written.
func (w *Writer) Abort() {
	if w.now != nil {
		_ = w.now.Close() // the caller removes the file
		w.now = nil
	}
}
