package delivery

import (
	"crypto/rand"
	"encoding/base64"
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// Bounds of what may be set.
const (
	minSecret = 16
	maxSecret = 256
	maxEvents = 64
)

// Change is what Set changes; nil leaves what is there.
type Change struct {
	Webhook *bool
	URL     *string
	Secret  *vault.Secret // an empty one has one made
	Events  *[]string     // event types, which the caller has checked; an empty list means all
	// Batch and Parallel are the parts of the Pace; 0 clears one, and the
	// configuration's holds again.
	Batch, Parallel *int
}

// Rules are what Set goes by.
type Rules struct {
	Seal  vault.Seal
	Guard Guard
	// IfRevision, where it is not 0, is the revision that the settings must have.
	IfRevision uint64
}

// Set changes the settings. A webhook that is switched on without a secret gets one:
// made is it, and nobody is told of it again. Set is Malformed, naming the setting,
// for what makes no sense, and Conflict where the settings are of another revision.
func (s Settings) Set(tx *record.Txn, c Change, by Rules) (next Settings, made vault.Secret, err error) {
	if err := record.CheckRevision("configuration of the webhook", s.Revision, by.IfRevision); err != nil {
		return s, made, err
	}
	next = s
	next.Meta = tx.Stamped(s.Meta)
	if c.Webhook != nil {
		next.Webhook = *c.Webhook
	}
	if c.URL != nil {
		next.URL = *c.URL
	}
	if c.Events != nil {
		next.Events = slices.Compact(slices.Sorted(slices.Values(*c.Events)))
	}
	if c.Batch != nil {
		next.Pace.Batch = *c.Batch
	}
	if c.Parallel != nil {
		next.Pace.Parallel = *c.Parallel
	}
	if err := next.check(c, by.Guard); err != nil {
		return s, made, err
	}
	secret := c.Secret
	if secret == nil && next.Webhook && len(next.sealed) == 0 || secret != nil && secret.IsEmpty() {
		made = NewSecret()
		secret = &made
	}
	if secret != nil {
		if next, err = next.signedBy(*secret, tx.Time(), by.Seal); err != nil {
			return s, vault.Secret{}, err
		}
	}
	tx.Require(settingsAt(), s.Revision)
	tx.Put(settingsAt(), next.record())
	return next, made, nil
}

// check refuses settings that cannot work. An address that is there already is not
// checked again: what else is changed must not fail for it.
func (s Settings) check(c Change, g Guard) error {
	switch {
	case s.Webhook && s.URL == "":
		return fault.Field("alerting_webhook_url", "missing_field", "alerting has webhook, and there is no alerting_webhook_url; set it as well.")
	case len(s.Events) > maxEvents:
		return fault.Field("alerting_webhook_events", "invalid_value", "alerting_webhook_events has more than %d entries; leave it empty for all events.", maxEvents)
	}
	if err := s.Pace.Check(); err != nil {
		return err
	}
	if c.URL != nil && s.URL != "" {
		if err := g.CheckURL(s.URL); err != nil {
			return err
		}
	}
	if c.Secret != nil && !c.Secret.IsEmpty() {
		if n := len(c.Secret.Reveal()); n < minSecret || n > maxSecret {
			return fault.Field("alerting_webhook_secret", "invalid_value", "alerting_webhook_secret must have %d to %d bytes; leave it out to have one made.", minSecret, maxSecret)
		}
	}
	return nil
}

// signedBy returns the settings with a secret in the place of the current one, which
// is then the previous.
func (s Settings) signedBy(secret vault.Secret, now time.Time, seal vault.Seal) (Settings, error) {
	if !s.Secret.IsEmpty() && s.Secret.Equal(secret.Reveal()) {
		return s, nil
	}
	sealed, err := seal(secret, secretContext)
	if err != nil {
		return s, err
	}
	next := s
	next.Previous, next.sealedPrevious = s.Secret, nil
	if !s.Secret.IsEmpty() {
		// Sealed bytes are bound to their place, so it is sealed for its new one.
		if next.sealedPrevious, err = seal(s.Secret, previousContext); err != nil {
			return s, err
		}
	}
	next.Secret, next.sealed, next.SecretChanged, next.locked = secret, sealed, now, nil
	return next, nil
}

// NewSecret makes a secret for signing: 32 random bytes, as text.
func NewSecret() vault.Secret {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails
	return vault.NewSecret("whsec_" + base64.RawURLEncoding.EncodeToString(raw))
}

// Reseal seals the secrets again if another key than the one in use sealed them, and
// returns how many needed it and how many did not. It is Conflict for one that
// cannot be opened.
func (s Settings) Reseal(tx *record.Txn, reseal func(sealed []byte, context string) (again []byte, changed bool, err error)) (done, already int, err error) {
	next := s
	for _, one := range []struct {
		sealed  *[]byte
		context string
	}{{&next.sealed, secretContext}, {&next.sealedPrevious, previousContext}} {
		if len(*one.sealed) == 0 {
			continue
		}
		again, changed, err := reseal(*one.sealed, one.context)
		switch {
		case err != nil:
			return 0, 0, &fault.Error{
				Op: "delivery.reseal", Kind: fault.Conflict, Code: "cannot_open", Err: err,
				Detail: "The secret of the audit log's webhook cannot be opened by this node; set alerting_webhook_secret again.",
			}
		case changed:
			*one.sealed = again
			done++
		default:
			already++
		}
	}
	if done > 0 {
		tx.Require(settingsAt(), s.Revision)
		tx.Put(settingsAt(), next.record())
	}
	return done, already, nil
}
