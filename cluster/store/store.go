package store

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Store is an open data directory. All methods are safe for concurrent use.
type Store struct {
	// Set by Open, read-only after.
	cfg      Config
	db       *pebble.DB
	lock     *pebble.Lock
	identity Identity
	opened   time.Time

	// Set when the state is unknown, and never reset.
	broken atomic.Pointer[fault.Error]
	dead   chan struct{} // closed when broken is set

	running atomic.Bool // between Open and Close

	disk       diskSpace
	background background
	pace       pace

	mu struct {
		sync.Mutex
		users  int // operations in progress
		closed bool
	}
	idle sync.Cond // signals that mu.users is 0; its lock is mu
}

// Open opens the store in cfg.Dir, or creates it, and returns when it is writable. All errors
// are *fault.Error of kind StorageUnavailable with a remedy. A killed process is a normal case:
// its directory opens without special steps.
func Open(cfg Config) (*Store, error) {
	cfg = cfg.withDefaults()
	s := &Store{cfg: cfg, opened: time.Now(), dead: make(chan struct{})}
	s.idle.L = &s.mu
	s.disk.init(cfg)
	s.background.init()
	s.pace.stop = make(chan struct{})

	if err := s.prepare(); err != nil {
		return nil, err
	}
	db, err := s.openPebble()
	if err != nil {
		_ = s.lock.Close() // the first error is the one to return
		return nil, refuse("open", cfg.Dir, err)
	}
	s.db = db
	s.running.Store(true)
	if err := s.identify(); err != nil {
		_ = s.Close() // the first error is the one to return
		return nil, err
	}
	return s, nil
}

// openPebble is pebble.Open with panics converted to errors: it panics if a sync of the
// directory fails. Nothing has been acknowledged yet, so that is an ordinary error.
func (s *Store) openPebble() (db *pebble.DB, err error) {
	defer func() {
		if r := recover(); r != nil {
			cause, ok := r.(error)
			if !ok {
				cause = fmt.Errorf("%v", r)
			}
			db, err = nil, cause
		}
	}()
	return pebble.Open(s.cfg.Dir, s.options())
}

// Get returns a copy of the value of key, and whether it exists.
func (s *Store) Get(space Space, key []byte) (value []byte, ok bool, err error) {
	if err := s.begin(); err != nil {
		return nil, false, err
	}
	defer s.end()
	return get(s.db, space, key)
}

// Close waits for operations in progress, flushes the memory and unlocks the directory. All
// later calls fail. A second Close does nothing. A store with an unknown state is left as it
// is: the process is about to end, and only a new Open can determine what is on the disk.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.mu.closed {
		s.mu.Unlock()
		return nil
	}
	s.mu.closed = true
	for s.mu.users > 0 {
		s.idle.Wait()
	}
	s.mu.Unlock()

	if err := s.broken.Load(); err != nil {
		return err
	}
	s.running.Store(false) // failures from here on are returned
	close(s.pace.stop)
	// A crash here leaves the last commits only in the log, from which the next Open reads
	// them.
	err := errors.Join(s.db.Close(), s.lock.Close())
	if err != nil {
		return refuse("close", s.cfg.Dir, err)
	}
	return nil
}

// begin admits one operation; each admitted one must call end. It is a mutex with a counter and
// not a read lock: a scan's callback may read, and a second read lock would deadlock with a
// waiting Close.
func (s *Store) begin() error {
	if err := s.broken.Load(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.closed {
		return fault.New(fault.StorageUnavailable, "", "The data directory is closed: the gateway is shutting down.")
	}
	s.mu.users++
	return nil
}

func (s *Store) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.users--
	if s.mu.users == 0 {
		s.idle.Broadcast()
	}
}
