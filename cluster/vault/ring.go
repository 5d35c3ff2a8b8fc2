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

// How long a KMS is waited for.
const (
	attemptTime      = 10 * time.Second       // one question
	startTime        = time.Minute            // all of Unlock, but for the last attempt
	firstWait        = 250 * time.Millisecond // between attempts; it doubles
	longestStartWait = 8 * time.Second        // in Unlock
	longestWait      = 30 * time.Second       // in Run
)

// RingConfig says what keys a node has.
type RingConfig struct {
	Primary  Source   // what is to seal
	Previous []Source // what opens besides
	// Open reaches the KMS that a URI names. It may be nil if no Source is one.
	Open   func(ctx context.Context, uri string) (KMS, error)
	Logger *slog.Logger
}

// Ring seals and opens with the keys that a node has, as far as the nodes have
// agreed on them. Other than a Sealer it changes: when the agreement does, and when
// a KMS has given a key. It is safe for concurrent use; only Unlock and Run wait
// for anything.
type Ring struct {
	// Set by NewRing, read only after.
	primary Source
	fixed   []Key    // of the sources that are secrets
	uris    []string // of those that are keys in a KMS
	open    func(ctx context.Context, uri string) (KMS, error)
	logger  *slog.Logger

	asking sync.Mutex // held while a KMS is asked

	mu        sync.Mutex // of what follows
	keyring   Keyring
	learned   bool
	roots     map[string]Key // of unwrapped roots, by how they are wrapped
	candidate Root           // made here, and perhaps never agreed on

	now  atomic.Pointer[opened]
	wake chan struct{}
}

// opened is what a Ring can do at a moment.
type opened struct {
	sealer     *Sealer
	configured KeyID // of the primary source; zero: not known yet
	waiting    bool  // for a key that a KMS holds
	foreign    bool  // the key that was agreed on is none of this node's
}

// NewRing returns a Ring that knows of no agreement yet. What is a secret opens at
// once, what is in a KMS after Learn and Unlock.
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
			return nil, fmt.Errorf("no KMS can be reached, and %s is in one", s.uri)
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

// Seal is Sealer.Seal. It is ErrLocked as long as the key that is to seal is not
// there.
func (r *Ring) Seal(plain Secret, context string) ([]byte, error) {
	return r.now.Load().sealer.Seal(plain, context)
}

// Open is Sealer.Open. What no key opens is ErrLocked rather than ErrOtherKey while
// a key is still to come.
func (r *Ring) Open(sealed []byte, context string) (Secret, error) {
	o := r.now.Load()
	plain, err := o.sealer.Open(sealed, context)
	return plain, o.excuse(err)
}

// Reseal is Sealer.Reseal, with errors as Open has them.
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

// Keys returns the names of the keys that open, in order.
func (r *Ring) Keys() []KeyID { return r.now.Load().sealer.Keys() }

// Primary returns the name of the key that seals.
func (r *Ring) Primary() KeyID { return r.now.Load().sealer.Primary() }

// Configured returns the name of the key that the configuration says is to seal;
// zero as long as it is not known. It differs from Primary until Promote.
func (r *Ring) Configured() KeyID { return r.now.Load().configured }

// Waiting reports whether a key that this node is configured with has yet to come
// from its KMS, or to be agreed on.
func (r *Ring) Waiting() bool { return r.now.Load().waiting }

// Promote returns the Keyring with the configured key as the one to seal with, and
// whether that is a change. It is for an operator's rotation, once every node has
// the key. The error is ErrLocked.
func (r *Ring) Promote(k Keyring) (next Keyring, changed bool, err error) {
	id := r.Configured()
	if id == (KeyID{}) {
		return k, false, ErrLocked
	}
	changed = k.Sealing != id
	k.Sealing = id
	return k, changed, nil
}

// Learn tells the Ring what the nodes have agreed on. It goes by it at once, but
// for roots that are new to it: those are there when Unlock has returned, or Run
// has told of them.
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

// refresh puts in force what is known.
func (r *Ring) refresh() {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := &opened{}
	keys := slices.Clone(r.fixed)
	for _, root := range r.keyring.Roots {
		key, unwrapped := r.roots[string(root.Wrapped)]
		switch {
		case !slices.Contains(r.uris, root.URI): // this node is not meant to have it
		case unwrapped:
			keys = append(keys, key)
		default:
			next.waiting = true
		}
	}
	if r.primary.uri == "" {
		next.configured = r.fixed[0].id // the primary is the first
	} else if root, ok := r.keyring.Root(r.primary.uri); ok {
		next.configured = r.roots[string(root.Wrapped)].id
	}
	next.waiting = next.waiting || next.configured == (KeyID{})
	seal := r.keyring.Sealing
	switch {
	case slices.ContainsFunc(keys, func(k Key) bool { return k.id == seal }):
	case next.waiting: // it may be the one that is to come
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
