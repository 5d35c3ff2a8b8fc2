package bucket_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/bucket"
)

func put(t *testing.T, b *bucket.Bucket, name, content string) {
	t.Helper()
	if err := b.Put(t.Context(), name, "text/plain", func(w io.Writer) error {
		_, err := io.WriteString(w, content)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func get(ctx context.Context, b *bucket.Bucket, name string) (content string, err error) {
	err = b.Get(ctx, name, func(r io.Reader) error {
		all, err := io.ReadAll(r)
		content = string(all)
		return err
	})
	return content, err
}

// TestDirectory puts objects into a directory, reads and deletes them.
func TestDirectory(t *testing.T) {
	dir := t.TempDir()
	b, err := bucket.Open("audit.bucket_url", "file://"+dir)
	if err != nil {
		t.Fatal(err)
	}
	put(t, b, "segments/usage/one.seg", "first")
	put(t, b, "segments/usage/one.seg", "second") // replaces it
	put(t, b, "segments/usage/two.seg", "other")
	if got, err := get(t.Context(), b, "segments/usage/one.seg"); got != "second" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	broken := errors.New("the reader has had enough")
	if err := b.Get(t.Context(), "segments/usage/two.seg", func(io.Reader) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if err := b.Put(t.Context(), "segments/usage/two.seg", "", func(io.Writer) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if got, err := get(t.Context(), b, "segments/usage/two.seg"); got != "other" || err != nil {
		t.Errorf("after a put that failed: %q %v", got, err)
	}
	for range 2 { // the second time there is nothing to delete
		if err := b.Delete(t.Context(), "segments/usage/one.seg"); err != nil {
			t.Error(err)
		}
	}
	if err := b.Delete(t.Context(), "segments/audit/none.seg"); err != nil {
		t.Error(err)
	}
	if _, err := get(t.Context(), b, "segments/usage/one.seg"); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "reading the object segments/usage/one.seg") {
		t.Errorf("%v", err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "segments", "usage", "*"))
	if err != nil || len(names) != 1 {
		t.Errorf("the directory has %q, %v", names, err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}
