package vault

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// Agreement is how the nodes agree on their Keyring.
type Agreement interface {
	// Agree has change applied to the Keyring that is in force, wherever that was
	// decided, and returns when Learn has been told of the outcome. change may be
	// called several times; if it reports false there is nothing to write.
	Agree(ctx context.Context, change func(Keyring) (Keyring, bool)) error
	// Unlocked is called when a key has come, so that what it opens can be opened.
	Unlocked()
}

// Unlock waits until the KMSs have given the keys of the Keyring that was learned
// last. If the primary is a key in a KMS and has no root yet, one is made, for Run
// to have it agreed on: so whoever starts knows that the key can be used. A KMS
// that does not answer is asked again for a minute; the error names it, and the
// last reason.
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

// Run has the nodes agree on what is missing in their Keyring, and fetches keys that
// are agreed on later, until ctx ends. It tries for as long as it takes.
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

// pause waits for a time, or less if it is woken, and reports whether ctx goes on.
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

// settle does once what Run does.
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

// complete returns a Keyring with what it lacks of this node's making, and whether
// it lacked anything: a root for the primary, and a first key to seal with.
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

// prepare asks the KMSs for the keys that are missing, and for a root if the
// primary has none. It reports whether a key of the Keyring has come, also where
// another has not.
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

// missing returns the roots that are to be unwrapped, and whether one is to be made.
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

// hold keeps the key of a root.
func (r *Ring) hold(root Root, key Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.roots[string(root.Wrapped)] = key
}

// ask asks one KMS.
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
		return fmt.Errorf("%s did not answer within %v", uri, attemptTime)
	}
	return fmt.Errorf("%s: %w", uri, err)
}
