package vault

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// Agreement is the consensus of the nodes on their Keyring.
type Agreement interface {
	// Agree applies change to the current Keyring and returns when Learn has been called with
	// the result. It may call change several times; if change reports false, there is nothing
	// to write.
	Agree(ctx context.Context, change func(Keyring) (Keyring, bool)) error
	// Unlocked is called when a key has arrived, so that secrets can be opened with it.
	Unlocked()
}

// Unlock waits until the KMSs have provided the keys of the Keyring of the last Learn. If the
// primary is a KMS key without a root, it creates one, and Run makes the nodes agree on it. So
// a successful start proves that the key is usable. Unlock retries a failing KMS for a minute;
// the error names it and the last cause.
func (r *Ring) Unlock(ctx context.Context) error {
	started, wait := time.Now(), firstWait
	for {
		_, err := r.prepare(ctx)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Since(started)+wait > startTime:
			return fmt.Errorf("the encryption key cannot be had after %v; see that this node reaches the KMS and may encrypt and decrypt with the key: %w",
				time.Since(started).Round(time.Second), err)
		}
		r.again(ctx, err, wait)
		if !pause(ctx, wait, nil) {
			return ctx.Err()
		}
		wait = min(2*wait, longestStartWait)
	}
}

// Run makes the nodes agree on missing parts of their Keyring, and fetches keys that are agreed
// on later, until ctx ends. It retries without limit.
func (r *Ring) Run(ctx context.Context, a Agreement) error {
	wait := firstWait
	for ctx.Err() == nil {
		err := r.settle(ctx, a)
		if err == nil {
			wait = firstWait
			select {
			case <-r.wake:
			case <-ctx.Done():
			}
			continue
		}
		if ctx.Err() == nil {
			r.again(ctx, err, wait)
			pause(ctx, wait, r.wake)
			wait = min(2*wait, longestWait)
		}
	}
	return nil
}

func (r *Ring) again(ctx context.Context, err error, wait time.Duration) {
	r.logger.LogAttrs(ctx, slog.LevelWarn, "the encryption key cannot be had yet",
		slog.Any("error", err), slog.Duration("next_attempt", wait))
}

// pause waits for a time or until it is woken, and reports whether ctx is still active.
func pause(ctx context.Context, wait time.Duration, wake <-chan struct{}) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-wake:
	case <-ctx.Done():
		return false
	}
	return true
}

// settle is one round of Run.
func (r *Ring) settle(ctx context.Context, a Agreement) error {
	r.mu.Lock()
	learned := r.learned
	r.mu.Unlock()
	if !learned {
		return nil
	}
	came, err := r.prepare(ctx)
	if came {
		a.Unlocked()
	}
	r.mu.Lock()
	keyring := r.keyring
	r.mu.Unlock()
	if _, missing := r.complete(keyring); missing {
		if e := a.Agree(ctx, r.complete); e != nil {
			err = errors.Join(err, fmt.Errorf("the nodes do not agree on it: %w", e))
		}
	}
	return err
}

// complete returns a Keyring with the parts that this node can add, and whether it added any: a
// root for the primary, and a first sealing key.
func (r *Ring) complete(k Keyring) (next Keyring, changed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	next = k
	if r.candidate.URI != "" {
		next = k.With(r.candidate)
	}
	if next.Sealing == (KeyID{}) {
		if r.primary.uri == "" {
			next.Sealing = r.fixed[0].id
		} else if root, ok := next.Root(r.primary.uri); ok {
			next.Sealing = r.roots[string(root.Wrapped)].id // zero until it is unwrapped
		}
	}
	return next, !next.Equal(k)
}

// prepare fetches the missing keys from the KMSs, and creates a root if the primary has none.
// It reports whether a key of the Keyring has arrived, even if another one failed.
func (r *Ring) prepare(ctx context.Context) (came bool, err error) {
	r.asking.Lock()
	defer r.asking.Unlock()
	missing, makeRoot := r.missing()
	var problems []error
	for _, root := range missing {
		err := r.ask(ctx, root.URI, func(ctx context.Context, k KMS) error {
			key, err := root.Unwrap(ctx, k)
			if err == nil {
				r.hold(root, key)
				came = true
			}
			return err
		})
		problems = append(problems, err)
	}
	if makeRoot {
		problems = append(problems, r.ask(ctx, r.primary.uri, func(ctx context.Context, k KMS) error {
			root, key, err := NewRoot(ctx, k, r.primary.uri, time.Now())
			if err == nil {
				r.hold(root, key)
				r.mu.Lock()
				r.candidate = root
				r.mu.Unlock()
			}
			return err
		}))
	}
	if came {
		r.refresh()
	}
	return came, errors.Join(problems...)
}

// missing returns the roots to unwrap, and whether to create one.
func (r *Ring) missing() (roots []Root, makeRoot bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, root := range r.keyring.Roots {
		if _, there := r.roots[string(root.Wrapped)]; !there && slices.Contains(r.uris, root.URI) {
			roots = append(roots, root)
		}
	}
	if uri := r.primary.uri; uri != "" && r.candidate.URI == "" {
		_, there := r.keyring.Root(uri)
		makeRoot = !there
	}
	return roots, makeRoot
}

// hold stores the key of a root.
func (r *Ring) hold(root Root, key Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.roots[string(root.Wrapped)] = key
}

// ask calls one KMS.
func (r *Ring) ask(ctx context.Context, uri string, question func(context.Context, KMS) error) error {
	limited, cancel := context.WithTimeout(ctx, attemptTime)
	defer cancel()
	k, err := r.open(limited, uri)
	if err == nil {
		err = errors.Join(question(limited, k), k.Close())
	}
	switch {
	case err == nil:
		return nil
	case limited.Err() != nil && ctx.Err() == nil:
		return fmt.Errorf("%s did not respond within %v", uri, attemptTime)
	}
	return fmt.Errorf("%s: %w", uri, err)
}
