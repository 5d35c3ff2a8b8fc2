package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/block"
	"github.com/modelgateway/modelgateway/cluster/segment"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// copyName is the name of a copy of the state. It is next to the state, because tables
// are then linked and not copied. A starting node ignores such names.
const copyName = "audit-copy"

// withState calls fn with the replicated state of a data directory as its node left
// it. It works on a copy, because an investigation must not change the evidence.
func withState(data string, fn func(audit.Reader) error) (err error) {
	lock, err := lockStopped(data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	states := filepath.Join(data, "state")
	current, err := os.ReadFile(filepath.Join(states, "current")) //nolint:gosec // the operator names it
	if err != nil {
		return fmt.Errorf("%s has no replicated state: is it the data directory of a gateway? %w", data, err)
	}
	if _, err := strconv.ParseUint(string(current), 10, 64); err != nil {
		return fmt.Errorf("%s does not say which state is in force: %w", filepath.Join(states, "current"), err)
	}
	dir := store.NewDir(nil, states)
	if err := dir.Remove(copyName); err != nil { // of one that was killed
		return err
	}
	defer func() { err = errors.Join(err, dir.Remove(copyName)) }()
	if err := dir.Link(string(current), copyName); err != nil {
		return fmt.Errorf("the state of %s cannot be linked to a copy: %w", data, err)
	}
	s, err := store.Open(store.Config{Dir: filepath.Join(states, copyName), Kind: store.StateStore})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	files, err := segment.Open(segment.Config{Dir: filepath.Join(data, "segments"), ReadOnly: true})
	if err != nil {
		return err
	}
	return fn(block.WithFiles(s, files))
}

// lockStopped makes sure that no gateway has the directory open, and that none opens
// it until the lock is closed. It is the lock that a gateway takes first.
func lockStopped(data string) (io.Closer, error) {
	f, err := os.Open(filepath.Join(data, "store", "LOCK")) //nolint:gosec // the operator names it
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not the data directory of a gateway: %w", data, err)
	}
	if err != nil {
		return nil, err
	}
	err = syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_RDLCK, Whence: io.SeekStart})
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) {
		err = fmt.Errorf("a gateway runs on %s: ask it (GET /audit-log/verify), or verify what `modelgateway audit export` saves of it, or stop it", data)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// ownVerifier is the key that a state names for its checkpoints itself, if it has one.
// Who can write the state can replace it.
func ownVerifier(r audit.Reader) ([]audit.Verifier, error) {
	value, ok, err := r.Get(store.SpaceAuditSigner, []byte("signer"))
	if err != nil || !ok {
		return nil, err
	}
	m := &clusterv1.AuditSigner{}
	if err := proto.Unmarshal(value, m); err != nil {
		return nil, fmt.Errorf("the key of the checkpoints cannot be read; give it with --checkpoint-key: %w", err)
	}
	v, err := audit.ParseVerifier(m.GetVerifier())
	if err != nil {
		return nil, fmt.Errorf("the key of the checkpoints cannot be read; give it with --checkpoint-key: %w", err)
	}
	return []audit.Verifier{v}, nil
}
