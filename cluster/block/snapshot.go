package block

import (
	"context"

	"github.com/modelgateway/modelgateway/cluster/store"
)

// Snapshot returns a reader of the state as it is now, which the caller must close soon. A reader that has no
// snapshots is returned as it is.
func Snapshot(r Reader) (now Reader, done func(), err error) {
	if f, ok := r.(filed); ok {
		now, done, err = Snapshot(f.Reader)
		return filed{now, f.files}, done, err
	}
	s, ok := r.(interface{ View() (*store.Reader, error) })
	if !ok {
		return r, func() {}, nil
	}
	view, err := s.View()
	if err != nil {
		return nil, nil, err
	}
	return snapshot{view}, func() { _ = view.Close() }, nil // an iterator that failed has told its error already
}

type snapshot struct{ *store.Reader }

// Scan implements Reader.
func (s snapshot) Scan(ctx context.Context, x store.Range, fn func(key, value []byte) bool) error {
	err := s.Reader.Scan(x, func(key, value []byte) bool { return context.Cause(ctx) == nil && fn(key, value) }) //nolint:contextcheck // ends with ctx as well
	if err == nil {
		err = context.Cause(ctx)
	}
	return err
}
