package vault

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Time limits of a KMS.
const (
	attemptTime      = 10 * time.Second       // one call
	startTime        = time.Minute            // all of Unlock, except for the last attempt
	firstWait        = 250 * time.Millisecond // between attempts; it doubles
	longestStartWait = 8 * time.Second        // in Unlock
	longestWait      = 30 * time.Second       // in Run
)

// RingConfig configures the keys of a node.
type RingConfig struct {
	Primary  Source   // the sealing key
	Previous []Source // further keys that open
	// Open connects to the KMS of a URI. It may be nil if no Source is a KMS.
	Open   func(ctx context.Context, uri string) (KMS, error)
	Logger *slog.Logger
}

// Ring seals and opens with the keys of this node, as far as the nodes have agreed on them.
// Unlike a Sealer it changes: with the agreement, and when a KMS has provided a key. It is safe
// for concurrent use; only Unlock and Run block.
type Ring struct {
	// Set by NewRing, read-only after.
	primary Source
	fixed   []Key    // of the sources that are secrets
	uris    []string // of the sources that are KMS keys
	open    func(ctx context.Context, uri string) (KMS, error)
	logger  *slog.Logger

	asking sync.Mutex // held during a KMS call

	mu        sync.Mutex // guards the following fields
	keyring   Keyring
	learned   bool
	roots     map[string]Key // of unwrapped roots, by their wrapped form
	candidate Root           // created here, and possibly never agreed on

	now  atomic.Pointer[opened]
	wake chan struct{}
}

// opened is the current state of a Ring.
type opened struct {
	sealer     *Sealer
	configured KeyID // of the primary source; zero: not known yet
	waiting    bool  // for a key from a KMS
	foreign    bool  // this node does not have the agreed key
}

// NewRing returns a Ring without an agreement. Keys from secrets are ready at once, keys from a
// KMS after Learn and Unlock.
func NewRing(c RingConfig) (*Ring, error) {
	r := &Ring{
		primary: c.Primary, open: c.Open, logger: c.Logger,
		roots: map[string]Key{}, wake: make(chan struct{}, 1),
	}
	for _, s := range append([]Source{c.Primary}, c.Previous...) {
		switch {
		case s.uri == "":
			key, err := KeyFromSecret(s.secret)
			if err != nil {
				return nil, err
			}
			r.fixed = append(r.fixed, key)
		case c.Open == nil:
			return nil, fmt.Errorf("%s is a KMS key, and RingConfig.Open is missing", s.uri)
		case !slices.Contains(r.uris, s.uri):
			r.uris = append(r.uris, s.uri)
		}
	}
	r.refresh()
	return r, nil
}

// Format hides the keys from every verb of fmt.
func (*Ring) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// LogValue hides the keys from slog.
func (*Ring) LogValue() slog.Value { return slog.StringValue(redacted) }

// Seal is Sealer.Seal. It returns ErrLocked while the sealing key is missing.
func (r *Ring) Seal(plain Secret, context string) ([]byte, error) {
	return r.now.Load().sealer.Seal(plain, context)
}

// Open is Sealer.Open. While a key is still missing, it returns ErrLocked instead of
// ErrOtherKey.
func (r *Ring) Open(sealed []byte, context string) (Secret, error) {
	o := r.now.Load()
	plain, err := o.sealer.Open(sealed, context)
	return plain, o.excuse(err)
}

// Reseal is Sealer.Reseal, with the errors of Open.
func (r *Ring) Reseal(sealed []byte, context string) (out []byte, changed bool, err error) {
	o := r.now.Load()
	out, changed, err = o.sealer.Reseal(sealed, context)
	return out, changed, o.excuse(err)
}

func (o *opened) excuse(err error) error {
	if o.waiting && errors.Is(err, ErrOtherKey) {
		return ErrLocked
	}
	return err
}

// Keys returns the ids of the keys that open, in order.
func (r *Ring) Keys() []KeyID { return r.now.Load().sealer.Keys() }

// Primary returns the id of the sealing key.
func (r *Ring) Primary() KeyID { return r.now.Load().sealer.Primary() }

// Configured returns the id of the primary key in the configuration; zero while it is unknown.
// It differs from Primary until Promote.
func (r *Ring) Configured() KeyID { return r.now.Load().configured }

// Waiting reports whether a configured key is still missing: from its KMS, or because it is not
// agreed on.
func (r *Ring) Waiting() bool { return r.now.Load().waiting }

// Promote returns the Keyring with the configured key as the sealing key, and whether that is a
// change. An operator's rotation calls it once every node has the key. The error is ErrLocked.
func (r *Ring) Promote(k Keyring) (next Keyring, changed bool, err error) {
	id := r.Configured()
	if id == (KeyID{}) {
		return k, false, ErrLocked
	}
	changed = k.Sealing != id
	k.Sealing = id
	return k, changed, nil
}

// Learn sets the agreement of the nodes. It takes effect at once, except for new roots, which
// are ready when Unlock has returned or Run has reported them.
func (r *Ring) Learn(k Keyring) {
	r.mu.Lock()
	k.Roots = slices.Clone(k.Roots)
	r.keyring, r.learned = k, true
	r.mu.Unlock()
	r.refresh()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// refresh applies the current agreement and keys.
func (r *Ring) refresh() {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := &opened{}
	keys := slices.Clone(r.fixed)
	for _, root := range r.keyring.Roots {
		key, unwrapped := r.roots[string(root.Wrapped)]
		switch {
		case !slices.Contains(r.uris, root.URI): // not configured on this node
		case unwrapped:
			keys = append(keys, key)
		default:
			next.waiting = true
		}
	}
	if r.primary.uri == "" {
		next.configured = r.fixed[0].id // the first is the primary
	} else if root, ok := r.keyring.Root(r.primary.uri); ok {
		next.configured = r.roots[string(root.Wrapped)].id
	}
	next.waiting = next.waiting || next.configured == (KeyID{})
	seal := r.keyring.Sealing
	switch {
	case slices.ContainsFunc(keys, func(k Key) bool { return k.id == seal }):
	case next.waiting: // the missing key may be the agreed one
		seal = KeyID{}
	default:
		next.foreign = seal != (KeyID{})
		seal = next.configured
	}
	next.sealer = sealerOf(seal, keys)
	last := r.now.Swap(next)
	if next.foreign && (last == nil || !last.foreign) {
		r.logger.Warn("the nodes have agreed to seal with an encryption key that this node does not have, so it seals with its own; "+
			"add the other one to general_settings.encryption_keys_previous, or run modelgateway secrets rotate",
			slog.String("agreed", r.keyring.Sealing.String()), slog.String("own", seal.String()))
	}
}
