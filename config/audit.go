package config

import (
	"math/big"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelgateway/modelgateway/cluster/vault"
)

// Audit is the section audit: how long the record of what happened is kept, and
// where else it goes.
type Audit struct {
	RetentionDays int64 // 1 to 2557, seven years
	// HotDays is how long records stay in the replicated state, before they go into files: 1 to 2557.
	HotDays int64
	// LegalHoldFrom is the day (UTC, 2006-01-02) from which on no record is dropped, however old it is; empty for none.
	LegalHoldFrom string
	// QueueURL is the topic of a queue that gets each record: nats://, tls:// (NATS
	// over TLS), kafka:// or kafkas://; empty for none. It may hold a password.
	QueueURL vault.Secret
	// BucketURL is the object storage that gets a file an hour, and the files of sealed records: s3://,
	// azblob:// or file://; empty for none.
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
	defaultHot       = 7
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
		{"hot_days", number{to: &a.HotDays, standard: defaultHot, least: 1, most: mostRetention}, "older records are [sealed](money.md#sealed-records): files in the bucket or on each voter"},
		{"legal_hold_from", word{to: &a.LegalHoldFrom, without: unset, parse: day}, "`2026-01-31`: records from that day (UTC) on are kept, whatever `retention_days` says, until you remove it"},
		{"queue_url", secretText{&a.QueueURL}, "`nats://host/subject`, `kafka://host/topic`"},
		{"bucket_url", word{to: &a.BucketURL, without: unset}, "`s3://`, `azblob://`, `file://`: [hourly files](analytics.md) and sealed records"},
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

// day reads a day of the calendar.
func day(s string) (v, problem string) {
	if _, err := time.Parse(time.DateOnly, s); err != nil {
		return "", "is not a day: write it like 2026-01-31"
	}
	return s, ""
}

// LegalHold returns the time from which on no record is dropped; the zero time for none.
func (a *Audit) LegalHold() time.Time {
	t, _ := time.Parse(time.DateOnly, a.LegalHoldFrom) // day has read it
	return t
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
