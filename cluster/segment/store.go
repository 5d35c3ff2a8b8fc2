package segment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/modelgateway/modelgateway/cluster/block"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/inject"
	"github.com/modelgateway/modelgateway/cluster/store"
)

const (
	suffix = ".seg"
	// part is the suffix of files that are not complete.
	part = ".part"
	// fetchTime limits how long a reader waits for a file that this node does not have.
	fetchTime = time.Minute
	// indexMemory limits the indexes of files that are kept in memory, in bytes.
	indexMemory = 16 << 20
)

// Bucket is object storage that all nodes reach.
type Bucket interface {
	Put(ctx context.Context, name, mediaType string, write func(io.Writer) error) error
	// Get reads an object. An object that is not there is an error.
	Get(ctx context.Context, name string, read func(io.Reader) error) error
	// Delete deletes an object. One that is not there is no error.
	Delete(ctx context.Context, name string) error
}

// Config connects a Store to its node.
type Config struct {
	Dir string
	// ReadOnly is set for a look at the files of a node that is stopped: nothing is written, and nothing fetched.
	ReadOnly bool
	FS       store.FS // nil: the operating system's
	Bucket   Bucket   // nil: none
	// Peers reads a file from other nodes, until one has an intact copy: read returns an error for another one.
	Peers func(ctx context.Context, sum [32]byte, read func(io.Reader) error) error
	// CacheBytes limits the files on this node that are in the bucket as well. 0 means 1 GiB.
	CacheBytes int64
	Report     func(about string, err error) // nil error: nothing is wrong any more
	Logger     *slog.Logger
}

// Store keeps files. It is safe for concurrent use.
type Store struct {
	cfg   Config
	fetch singleflight.Group // by sum
	mu    struct {
		sync.Mutex
		recent []opened // the last used one first
		weight int
		used   map[[32]byte]time.Time // when a file was used last
		next   int                    // number of the next file that is not complete
		failed map[[32]byte]string    // files that nobody has
	}
}

type opened struct {
	sum  [32]byte
	file *block.File
}

// Open makes the directory, and deletes what a crash has left incomplete.
func Open(cfg Config) (*Store, error) {
	cfg.FS = store.FileSystem(cfg.FS)
	if cfg.CacheBytes == 0 {
		cfg.CacheBytes = cacheSize
	}
	s := &Store{cfg: cfg}
	s.mu.used, s.mu.failed = make(map[[32]byte]time.Time), make(map[[32]byte]string)
	if cfg.ReadOnly {
		return s, nil
	}
	if err := cfg.FS.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the directory of sealed segments: %w", err)
	}
	if err := s.syncDir(cfg.FS.PathDir(cfg.Dir)); err != nil { // which has its name
		return nil, fmt.Errorf("syncing the directory above that of sealed segments: %w", err)
	}
	names, err := cfg.FS.List(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("reading the directory of sealed segments: %w", err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, part) {
			if err := cfg.FS.Remove(cfg.FS.PathJoin(cfg.Dir, name)); err != nil {
				return nil, fmt.Errorf("deleting an incomplete segment: %w", err)
			}
		}
	}
	return s, nil
}

// name returns the name of a file in its directory.
func name(sum [32]byte) string { return hex.EncodeToString(sum[:]) + suffix }

// Object returns the name of a segment in the bucket.
func Object(kind string, s block.Segment) string {
	return fmt.Sprintf("segments/%s/%020d-%020d-%s", kind, s.First, s.Last, name(s.Sum))
}

func (s *Store) path(name string) string { return s.cfg.FS.PathJoin(s.cfg.Dir, name) }

// Has reports whether this node has a file of that name and size.
func (s *Store) Has(sum [32]byte, size uint64) bool {
	info, err := s.cfg.FS.Stat(s.path(name(sum)))
	return err == nil && uint64(info.Size()) == size
}

// Create makes the file that write writes, and returns the segment that it returns.
func (s *Store) Create(write func(io.Writer) (block.Segment, error)) (out block.Segment, err error) {
	err = s.write(func(w io.Writer) ([32]byte, error) {
		out, err = write(w)
		return out.Sum, err
	})
	return out, err
}

// write makes a file durable under the name that write returns. A crash leaves a file with the suffix part, which the
// next Open deletes, or the whole file, which nobody needs if its segment is not committed: Keep deletes it.
func (s *Store) write(write func(io.Writer) (sum [32]byte, err error)) error {
	s.mu.Lock()
	s.mu.next++
	temporary := s.path(fmt.Sprintf("%d%s", s.mu.next, part))
	s.mu.Unlock()
	f, err := store.CreateFile(s.cfg.FS, temporary)
	if err != nil {
		return err
	}
	sum, err := write(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = s.cfg.FS.Rename(temporary, s.path(name(sum)))
	}
	if err != nil {
		return errors.Join(err, ignoreMissing(s.cfg.FS.Remove(temporary)))
	}
	return s.syncDir(s.cfg.Dir)
}

func (s *Store) syncDir(name string) error {
	dir, err := s.cfg.FS.OpenDir(name)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// copyOf writes a file that another has, and compares it with its sum.
func (s *Store) copyOf(sum [32]byte, size uint64, r io.Reader) error {
	return s.write(func(w io.Writer) ([32]byte, error) {
		h := sha256.New()
		n, err := io.Copy(io.MultiWriter(h, w), io.LimitReader(r, int64(size)+1))
		if err == nil && (uint64(n) != size || [32]byte(h.Sum(nil)) != sum) && !inject.HasDefect("copy_unchecked") {
			err = fmt.Errorf("the copy of %d bytes is another one than the file of %d bytes that the state names", n, size)
		}
		return sum, err
	})
}

// Read reads a file of this node.
func (s *Store) Read(sum [32]byte, read func(io.Reader) error) error {
	f, err := s.cfg.FS.Open(s.path(name(sum)))
	if err != nil {
		return err
	}
	return errors.Join(read(f), f.Close())
}

// Open implements block.Files.
func (s *Store) Open(ctx context.Context, g block.Segment) (*block.File, error) {
	if f := s.known(g.Sum); f != nil {
		return f, nil
	}
	for again := true; ; again = false {
		if !s.Has(g.Sum, g.Size) {
			if err := s.get(ctx, g); err != nil {
				return nil, err
			}
		}
		f, err := block.OpenFile(int64(g.Size), func(offset, size int64) ([]byte, error) { return s.readAt(g, offset, size) })
		if err == nil {
			s.keep(g.Sum, f)
			return f, nil
		}
		if !again || !s.Damaged(ctx, g) {
			return nil, err
		}
	}
}

func (s *Store) readAt(g block.Segment, offset, size int64) ([]byte, error) {
	fail := func(err error) ([]byte, error) {
		return nil, &fault.Error{
			Op: block.OpDamaged, Kind: fault.StorageUnavailable, Err: err,
			Detail: fmt.Sprintf("The file of the sealed records %d to %d cannot be read.", g.First, g.Last),
		}
	}
	f, err := s.cfg.FS.Open(s.path(name(g.Sum)))
	if err != nil {
		return fail(err)
	}
	b := make([]byte, size)
	_, err = f.ReadAt(b, offset)
	if err = errors.Join(err, f.Close()); err != nil {
		return fail(err)
	}
	return b, nil
}

// known returns an open file.
func (s *Store) known(sum [32]byte) *block.File {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.used[sum] = time.Now()
	for i, o := range s.mu.recent {
		if o.sum == sum {
			copy(s.mu.recent[1:i+1], s.mu.recent[:i])
			s.mu.recent[0] = o
			return o.file
		}
	}
	return nil
}

// keep keeps the index of a file in memory, and forgets those that were not used for longest.
func (s *Store) keep(sum [32]byte, f *block.File) {
	s.forget(sum)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.recent = append([]opened{{sum, f}}, s.mu.recent...)
	s.mu.weight += f.Weight()
	for last := len(s.mu.recent) - 1; last > 0 && s.mu.weight > indexMemory; last-- {
		s.mu.weight -= s.mu.recent[last].file.Weight()
		s.mu.recent[last] = opened{}
		s.mu.recent = s.mu.recent[:last]
	}
}

// forget forgets the index of a file.
func (s *Store) forget(sum [32]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, o := range s.mu.recent {
		if o.sum == sum {
			s.mu.weight -= o.file.Weight()
			s.mu.recent = append(s.mu.recent[:i], s.mu.recent[i+1:]...)
			return
		}
	}
}
