package segment

import (
	"cmp"
	"context"
	"encoding/hex"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/modelgateway/modelgateway/cluster/block"
)

const (
	// unusedTime is how long a file stays that no state names: its segment may be about to be committed.
	unusedTime = time.Hour
	// cacheSize is the default of Config.CacheBytes.
	cacheSize = 1 << 30
)

// cached is a file that this node need not have.
type cached struct {
	sum  [32]byte
	size int64
	used time.Time
}

// Keep compares the files of this node with the segments of the state, which list lists: it fetches what this node has to
// have, and deletes what nobody needs. all is false on a node that does not vote, which need not have any file.
func (s *Store) Keep(ctx context.Context, all bool, list func(context.Context, func(block.Segment) bool) error) error {
	names, err := s.cfg.FS.List(s.cfg.Dir) // before the segments: a file whose segment is committed meanwhile stays
	if err != nil {
		return err
	}
	named := make(map[[32]byte]bool) // true: this node has to have the file
	var missing []block.Segment
	if err := list(ctx, func(g block.Segment) bool {
		named[g.Sum] = all && g.Object == ""
		if named[g.Sum] && !s.Has(g.Sum, g.Size) {
			missing = append(missing, g)
		}
		return true
	}); err != nil {
		return err
	}
	for _, g := range missing {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.get(ctx, g); err != nil {
			s.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "sealed records could not be fetched", slog.Any("error", err))
		}
	}
	s.forgetMissing(named)
	return s.clean(names, named)
}

// clean deletes files that nobody needs.
func (s *Store) clean(names []string, named map[[32]byte]bool) error {
	var cache []cached
	total := int64(0)
	for _, n := range names {
		text, ok := strings.CutSuffix(n, suffix)
		b, err := hex.DecodeString(text)
		if !ok || err != nil || len(b) != 32 {
			continue // not ours
		}
		sum := [32]byte(b)
		info, err := s.cfg.FS.Stat(s.path(n))
		if err != nil {
			continue // it is gone
		}
		used := s.usedAt(sum, info.ModTime())
		switch needed, there := named[sum]; {
		case needed:
		case there:
			cache, total = append(cache, cached{sum, info.Size(), used}), total+info.Size()
		case time.Since(used) > unusedTime:
			if err := s.remove(sum); err != nil {
				return err
			}
		}
	}
	slices.SortFunc(cache, func(a, b cached) int { return cmp.Compare(a.used.UnixNano(), b.used.UnixNano()) })
	for _, c := range cache {
		if total <= s.cfg.CacheBytes {
			break
		}
		if err := s.remove(c.sum); err != nil {
			return err
		}
		total -= c.size
	}
	return nil
}

// usedAt returns when a file was used last.
func (s *Store) usedAt(sum [32]byte, written time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if used := s.mu.used[sum]; used.After(written) {
		return used
	}
	return written
}

// remove deletes a file. A crash may leave it; the next Keep deletes it.
func (s *Store) remove(sum [32]byte) error {
	s.forget(sum)
	s.mu.Lock()
	delete(s.mu.used, sum)
	s.mu.Unlock()
	return ignoreMissing(s.cfg.FS.Remove(s.path(name(sum))))
}

// forgetMissing forgets the problems of files that no state names any more.
func (s *Store) forgetMissing(named map[[32]byte]bool) {
	s.mu.Lock()
	for sum := range s.mu.failed {
		if _, ok := named[sum]; !ok {
			delete(s.mu.failed, sum)
		}
	}
	s.mu.Unlock()
	s.reportMissing()
}
