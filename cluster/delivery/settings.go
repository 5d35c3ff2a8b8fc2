package delivery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/table"
	"github.com/modelgateway/modelgateway/cluster/vault"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// PreviousFor is how long deliveries are signed with the secret before the current
// one as well: a day, in which the receiver's is changed.
const PreviousFor = 24 * time.Hour

// settingsKey is the key in store.SpaceDelivery.
const settingsKey = "settings"

// What the secrets are bound to.
const (
	secretContext   = "delivery/webhook/secret"
	previousContext = "delivery/webhook/previous_secret"
)

// Settings say whether and how the webhook gets the audit log. The zero Settings are
// those of a gateway on which nobody has set any.
type Settings struct {
	Webhook       bool
	URL           string
	Secret        vault.Secret // empty: there is none, or this node cannot open it
	Previous      vault.Secret // the one before
	SecretChanged time.Time
	Events        []string // those that the webhook gets; none means all
	Pace          Pace     // as it was set; 0 in it: the configuration's
	record.Meta

	sealed, sealedPrevious []byte // the secrets as the state has them
	locked                 error  // why they could not be opened
}

// Locked is why a secret of the settings cannot be opened by this node; nil where
// all is well. Nothing is delivered by such settings.
func (s Settings) Locked() error { return s.locked }

// Ready reports whether the webhook can be delivered to.
func (s Settings) Ready() bool { return s.Webhook && s.URL != "" && !s.Secret.IsEmpty() }

// Secrets are those that a delivery is signed with now, the current one first.
func (s Settings) Secrets(now time.Time) []vault.Secret {
	if s.Previous.IsEmpty() || now.Sub(s.SecretChanged) >= PreviousFor {
		return []vault.Secret{s.Secret}
	}
	return []vault.Secret{s.Secret, s.Previous}
}

func settingsAt() record.At { return record.At{Space: store.SpaceDelivery, Key: []byte(settingsKey)} }

// Load reads the settings. Secrets that cannot be opened are among broken, and so
// are settings that cannot be read, which are then none.
func Load(ctx context.Context, state table.Scanner, open vault.Open) (s Settings, broken []error, err error) {
	err = state.Scan(ctx, store.Range{Space: store.SpaceDelivery}, func(key, value []byte) bool {
		if string(key) == settingsKey {
			var unreadable error
			if s, unreadable = read(value, open); unreadable != nil {
				broken = append(broken, unreadable)
			}
		}
		return true
	})
	if s.locked != nil {
		broken = append(broken, s.locked)
	}
	return s, broken, err
}

// With returns the settings as changes of the state leave them. A record that cannot
// be read leaves them as they were, and is among the errors.
func (s Settings) With(changes []record.Change, open vault.Open) (Settings, []error) {
	var broken []error
	for _, c := range changes {
		if c.Space != store.SpaceDelivery || string(c.Key) != settingsKey {
			continue
		}
		next, err := read(c.Value, open)
		if err != nil {
			broken = append(broken, err)
			continue
		}
		if s = next; s.locked != nil {
			broken = append(broken, s.locked)
		}
	}
	return s, broken
}

func read(value []byte, open vault.Open) (Settings, error) {
	r := &clusterv1.DeliverySettings{}
	if err := proto.Unmarshal(value, r); err != nil {
		return Settings{}, record.Unreadable(err)
	}
	s := Settings{
		Webhook: r.GetWebhook(), URL: r.GetWebhookUrl(), Events: r.GetWebhookEvents(),
		Pace:          Pace{Batch: int(r.GetWebhookBatch()), Parallel: int(r.GetWebhookParallel())},
		SecretChanged: record.FromNanos(r.GetSecretChangedUnixNano()), Meta: record.MetaOf(r.GetStamp()),
		sealed: r.GetSealedWebhookSecret(), sealedPrevious: r.GetSealedPreviousSecret(),
	}
	var failed, before error
	s.Secret, failed = opened(s.sealed, secretContext, open)
	s.Previous, before = opened(s.sealedPrevious, previousContext, open)
	if err := errors.Join(failed, before); err != nil {
		s.locked = fmt.Errorf("opening the secret of the audit log's webhook: %w", err)
	}
	return s, nil
}

func opened(sealed []byte, context string, open vault.Open) (vault.Secret, error) {
	if len(sealed) == 0 {
		return vault.Secret{}, nil
	}
	return open(sealed, context)
}

func (s Settings) record() *clusterv1.DeliverySettings {
	return &clusterv1.DeliverySettings{
		Webhook: s.Webhook, WebhookUrl: s.URL, WebhookEvents: s.Events,
		SealedWebhookSecret: s.sealed, SealedPreviousSecret: s.sealedPrevious,
		SecretChangedUnixNano: record.Nanos(s.SecretChanged),
		WebhookBatch:          uint32(s.Pace.Batch), WebhookParallel: uint32(s.Pace.Parallel),
	}
}
