package archive

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"testing"
)

// pretend is an in-memory destination of a Writer.
type pretend map[string]*bytes.Buffer

func (p pretend) create(name string) (io.WriteCloser, error) {
	if p[name] != nil || !plainName(name) {
		return nil, errors.New("rejected")
	}
	p[name] = &bytes.Buffer{}
	return closing{p[name]}, nil
}

type closing struct{ io.Writer }

func (closing) Close() error { return nil }

func (p pretend) open(name string) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(p[name].Bytes())), nil
}

func packed(files map[string]string, names ...string) []byte {
	p := pretend{}
	var list []File
	for _, name := range names {
		p[name] = bytes.NewBufferString(files[name])
		list = append(list, File{Name: name, Size: uint64(len(files[name])), Sum: sha256.Sum256([]byte(files[name]))})
	}
	b, _ := io.ReadAll(NewReader(list, p.open)) // never fails
	return b
}

// FuzzArchive: an accepted archive, in any pieces, is packed as the same bytes and has the
// computed size.
func FuzzArchive(f *testing.F) {
	f.Add(packed(nil), 1)
	f.Add(packed(map[string]string{"000001.sst": "table", "MANIFEST-000002": "manifest"}, "000001.sst", "000009.log", "MANIFEST-000002"), 7)
	f.Fuzz(func(t *testing.T, b []byte, piece int) {
		into := pretend{}
		w := NewWriter(into.create)
		piece = max(1, piece)
		for rest := bytes.Clone(b); len(rest) > 0; {
			n := min(piece, len(rest))
			if _, err := w.Write(rest[:n]); err != nil {
				return
			}
			rest = rest[n:]
		}
		if w.Finish() != nil {
			return
		}
		again, err := io.ReadAll(NewReader(w.Files(), into.open))
		if err != nil || !bytes.Equal(again, b) || Size(w.Files()) != int64(len(b)) {
			t.Errorf("%x is packed as %x: %v", b, again, err)
		}
	})
}
