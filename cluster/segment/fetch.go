package segment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/modelgateway/modelgateway/cluster/block"
	"github.com/modelgateway/modelgateway/cluster/fault"
)

// What problems are about.
const (
	aboutMissing = "sealed records"
	aboutDamaged = "sealed records on this node"
)

// Hold gets a file that another node has, and returns nil when it is durable here.
func (s *Store) Hold(sum [32]byte, size uint64, from io.Reader) error {
	if s.Has(sum, size) {
		return nil
	}
	return s.copyOf(sum, size, from)
}

// get fetches the file of a segment, if this node does not have an intact one. Readers of the same one wait for the same
// fetch.
func (s *Store) get(ctx context.Context, g block.Segment) error {
	if s.cfg.ReadOnly {
		return unavailable(g, errors.New("its file is not in the data directory, or damaged"))
	}
	done := s.fetch.DoChan(string(g.Sum[:]), func() (any, error) {
		// It goes on if this reader leaves, for others may wait as well.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTime)
		defer cancel()
		if s.Has(g.Sum, g.Size) && s.intact(g) {
			return nil, nil //nolint:nilnil // the result is the error
		}
		err := s.fetchFile(ctx, g)
		s.noteMissing(g, err)
		return nil, err
	})
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case x := <-done:
		return x.Err
	}
}

// fetchFile gets the file of a segment from the bucket, or from another node.
func (s *Store) fetchFile(ctx context.Context, g block.Segment) error {
	read := func(r io.Reader) error { return s.copyOf(g.Sum, g.Size, r) }
	var errs []error
	if g.Object != "" && s.cfg.Bucket != nil {
		err := s.cfg.Bucket.Get(ctx, g.Object, read)
		if err == nil {
			return nil
		}
		errs = append(errs, fmt.Errorf("the bucket: %w", err))
	}
	err := s.cfg.Peers(ctx, g.Sum, read)
	if err == nil {
		return nil
	}
	return unavailable(g, errors.Join(append(errs, err)...))
}

// unavailable is the error for a segment whose file nobody gives.
func unavailable(g block.Segment, cause error) error {
	remedy := "Start the nodes that have them, or put the file " + name(g.Sum) + " into the directory of sealed segments."
	if g.Object != "" {
		remedy = "Check that audit.bucket_url is the bucket that has the object " + g.Object + "."
	}
	return &fault.Error{
		Op: "segment.fetch", Kind: fault.Unavailable, Code: "records_unavailable", Err: cause,
		Detail: fmt.Sprintf("The sealed records %d to %d cannot be read now. %s", g.First, g.Last, remedy),
	}
}

// noteMissing tells the operator of files that nobody gives.
func (s *Store) noteMissing(g block.Segment, err error) {
	s.mu.Lock()
	if err == nil {
		delete(s.mu.failed, g.Sum)
	} else {
		s.mu.failed[g.Sum] = err.Error()
	}
	s.mu.Unlock()
	s.reportMissing()
}

func (s *Store) reportMissing() {
	s.mu.Lock()
	n, text := len(s.mu.failed), ""
	for _, t := range s.mu.failed {
		text = max(text, t)
	}
	s.mu.Unlock()
	if n == 0 {
		s.cfg.Report(aboutMissing, nil)
		return
	}
	s.cfg.Report(aboutMissing, fmt.Errorf("%d segments: %s", n, text))
}

// Damaged implements block.Files. It compares the file with its sum, and replaces one that is damaged.
func (s *Store) Damaged(ctx context.Context, g block.Segment) (repaired bool) {
	s.forget(g.Sum)
	if s.intact(g) {
		return true // another reader has repaired it; or it was written like that, and the caller finds the same again
	}
	// The damaged file stays until there is another: most of its records can be read.
	err := s.get(ctx, g)
	s.forget(g.Sum)
	outcome := "it was replaced by an intact copy"
	if err != nil {
		outcome = "there is no intact copy"
	}
	if s.cfg.ReadOnly {
		return false
	}
	s.cfg.Report(aboutDamaged, fmt.Errorf("the file %s of the records %d to %d was damaged, and %s: check this node's disk", name(g.Sum), g.First, g.Last, outcome))
	s.cfg.Logger.LogAttrs(ctx, slog.LevelError, "a file of sealed records was damaged", slog.String("file", hex.EncodeToString(g.Sum[:])), slog.String("outcome", outcome))
	return err == nil
}

// intact reports whether this node's file is what the state names.
func (s *Store) intact(g block.Segment) bool {
	h := sha256.New()
	err := s.Read(g.Sum, func(r io.Reader) error {
		_, err := io.Copy(h, r)
		return err
	})
	return err == nil && [32]byte(h.Sum(nil)) == g.Sum
}

// Upload puts the file of a segment into the bucket, and reads it again: what is deleted from the state afterwards must
// be there.
func (s *Store) Upload(ctx context.Context, object string, g block.Segment) error {
	if err := s.cfg.Bucket.Put(ctx, object, "application/octet-stream", func(w io.Writer) error {
		return s.Read(g.Sum, func(r io.Reader) error {
			_, err := io.Copy(w, r)
			return err
		})
	}); err != nil {
		return err
	}
	return s.cfg.Bucket.Get(ctx, object, func(r io.Reader) error {
		h := sha256.New()
		n, err := io.Copy(h, io.LimitReader(r, int64(g.Size)+1))
		if err == nil && (uint64(n) != g.Size || [32]byte(h.Sum(nil)) != g.Sum) {
			err = fmt.Errorf("the bucket returns another content than it got for the object %s", object)
		}
		return err
	})
}
