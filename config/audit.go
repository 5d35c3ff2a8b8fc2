package config

import (
	"math/big"
	"net/url"
	"slices"
	"strings"

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
	// the file: a caller that may change settings over the API may not therefore
	// reach the network.
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

func (a *Audit) settings() []setting {
	return []setting{
		{"retention_days", number{to: &a.RetentionDays, standard: defaultRetention, least: 1, most: mostRetention}, "up to 2557"},
		{"queue_url", secretText{&a.QueueURL}, "`nats://host/subject`, `kafka://host/topic`"},
		{"bucket_url", word{to: &a.BucketURL, without: unset}, "`s3://`, `azblob://`, `file://`"},
		{"allow_private_webhooks", toggle{&a.PrivateWebhooks}, "whether the webhook may be in a private network"},
	}
}

// audit reads the section audit.
func (d *decoder) audit(o *object, to *Audit) {
	n := d.section(o, "audit", to.settings())
	d.place(n.field("queue_url"), to.QueueURL.Reveal(), queueSchemes())
	d.place(n.field("bucket_url"), to.BucketURL, bucketSchemes())
	d.at.note(n, 1)
}

// place checks the URL of a queue or a bucket.
func (d *decoder) place(n *node, value string, schemes []string) {
	if value == "" {
		return
	}
	if u, err := url.Parse(value); err != nil || !slices.Contains(schemes, u.Scheme) {
		d.fail(n, "is not a URL that begins with %s://: write one", strings.Join(schemes, ":// or "))
	}
}

// throttle reads budget_throttle_factor.
func (d *decoder) throttle(o *object, name string, to *float64) {
	*to = 1
	if n, ok := o.take(name); ok {
		s, there := d.text(n)
		factor, sound := new(big.Rat).SetString(s)
		switch {
		case !there:
		case !sound || factor.Sign() <= 0 || factor.Cmp(big.NewRat(1, 1)) > 0:
			d.fail(n, "is not a number above 0 and at most 1: 0.5 halves the request rate between the soft budget and the whole one")
		default:
			*to, _ = factor.Float64()
		}
	}
}

// costMap reads model_cost_map_url.
func (d *decoder) costMap(o *object, name string, to *string) {
	o.str(name, to)
	if u, err := url.Parse(*to); *to != "" && (err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "") {
		d.fail(o.n.field(name), "is not an http or https URL: write where the price map can be read")
	}
}
