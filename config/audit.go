package config

import (
	"math/big"
	"net/url"
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/delivery"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// Audit is the section audit: how long the record of what happened is kept, and
// where else it goes.
type Audit struct {
	RetentionDays int64 // 1 to 2557, seven years
	// QueueURL is the topic of a queue that gets each record: nats://, tls:// (NATS
	// over TLS), kafka:// or kafkas://; empty for none. It may hold a password.
	QueueURL vault.Secret
	// BucketURL is the object storage that gets a file an hour: s3://, azblob:// or
	// file://; empty for none.
	BucketURL string
	// PrivateWebhooks lets webhooks be http and at private addresses. It is only for
	// the file: who may change settings over the API is not who may look around in the
	// network.
	PrivateWebhooks bool
}

// Webhook is what general_settings say of the webhook. POST /config/update sets the
// rest, and these too, which then win.
type Webhook struct {
	Batch    int64 // the most records in one request; 0: not set
	Parallel int64 // the most requests at a time; 0: not set
}

const (
	defaultRetention = 365
	mostRetention    = 2557 // seven years, two leap days among them
)

// Budgets is what general_settings say of spending.
type Budgets struct {
	// ThrottleFactor is what the request rates of a key, team and so on are multiplied
	// by while it has spent its soft budget and not its whole one; "1" is not at all.
	ThrottleFactor float64
	// CostMapURL is where POST /model/cost_map/reload gets prices from; empty for
	// nowhere.
	CostMapURL string
}

// queueSchemes and bucketSchemes are the schemes that a delivery has a driver for.
func queueSchemes() []string { return []string{"nats", "tls", "kafka", "kafkas"} }

func bucketSchemes() []string { return []string{"s3", "azblob", "file"} }

// audit reads the section audit.
func (d *decoder) audit(n *node, to *Audit) {
	to.RetentionDays = defaultRetention
	o := d.open(n)
	o.integer("retention_days", &to.RetentionDays, 1, mostRetention)
	o.secret("queue_url", &to.QueueURL)
	d.place(o, "queue_url", to.QueueURL.Reveal(), queueSchemes())
	o.str("bucket_url", &to.BucketURL)
	d.place(o, "bucket_url", to.BucketURL, bucketSchemes())
	o.boolean("allow_private_webhooks", &to.PrivateWebhooks)
	o.close()
	d.at.note(n, 1)
}

// place checks the URL of a queue or a bucket.
func (d *decoder) place(o *object, name, value string, schemes []string) {
	if value == "" {
		return
	}
	if u, err := url.Parse(value); err != nil || !slices.Contains(schemes, u.Scheme) {
		n := o.n.field(name)
		d.fail(n, "is not a URL that begins with %s://: write one", strings.Join(schemes, ":// or "))
	}
}

// webhook reads what general_settings say of the webhook.
func (*decoder) webhook(o *object, to *Webhook) {
	o.integer(delivery.FieldBatch, &to.Batch, 1, delivery.MaxBatch)
	o.integer(delivery.FieldParallel, &to.Parallel, 1, delivery.MaxParallel)
}

// budgets reads what general_settings say of spending.
func (d *decoder) budgets(o *object, to *Budgets) {
	to.ThrottleFactor = 1
	if n, ok := o.take("budget_throttle_factor"); ok {
		s, there := d.text(n)
		factor, sound := new(big.Rat).SetString(s)
		switch {
		case !there:
		case !sound || factor.Sign() <= 0 || factor.Cmp(big.NewRat(1, 1)) > 0:
			d.fail(n, "is not a number above 0 and at most 1: 0.5 halves the request rate between the soft budget and the whole one")
		default:
			to.ThrottleFactor, _ = factor.Float64()
		}
	}
	o.str("model_cost_map_url", &to.CostMapURL)
	if u, err := url.Parse(to.CostMapURL); to.CostMapURL != "" && (err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "") {
		d.fail(o.n.field("model_cost_map_url"), "is not an http or https URL: write where the price map can be read")
	}
}
