package auditsink

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/fault"
)

// publishTimeout is how long the queue may take for a batch.
const publishTimeout = 30 * time.Second

// publisher is a queue.
type publisher interface {
	// Publish returns how many of the records the queue has acknowledged, counted
	// from the first up to one that it has not.
	Publish(ctx context.Context, records []audit.Record) (int, error)
	Close() error
}

// queue publishes records in batches, each when the one before is acknowledged.
type queue struct {
	to    publisher
	leads func() bool
}

// Ready is always so: the queue is set for as long as the process lives.
func (*queue) Ready() (uint64, bool) { return 0, true }

// Begin is the first record: who reads the queue keeps what it has.
func (*queue) Begin(context.Context) (uint64, error) { return 1, nil }

// Deliver publishes.
func (q *queue) Deliver(ctx context.Context, records []audit.Record) (int, error) {
	if !q.leads() {
		return 0, nil
	}
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	return q.to.Publish(ctx, records)
}

// attribute is a header of a message.
type attribute struct{ name, value string }

// attributes are what goes with a record: what the webhook's headers say.
func attributes(r audit.Record) []attribute {
	inside := sha256.Sum256(r.Internal)
	return []attribute{
		{"event_id", r.EventID},
		{"event_type", r.Type},
		{"sequence", strconv.FormatUint(r.Number, 10)},
		{"internal_hash", "sha256:" + hex.EncodeToString(inside[:])},
		{"hash", "sha256:" + hex.EncodeToString(r.Hash[:])},
	}
}

// openQueue reads a queue's address. It connects when it publishes first.
func openQueue(text string) (publisher, error) {
	a, err := parseAddress(text)
	if err != nil {
		return nil, err
	}
	switch a.scheme {
	case "nats", "tls":
		return newNATS(a)
	case "kafka", "kafkas":
		return newKafka(a)
	}
	return nil, queueError("starts with a scheme that is not known; use nats://, tls:// (NATS over TLS), kafka:// or kafkas:// (Kafka over TLS)")
}

// address is a queue's address: scheme://[user[:password]@]host:port[,host:port]/path?query.
// That is no URL where there are several hosts, so net/url reads its parts alone.
type address struct {
	scheme   string
	user     string
	password string
	hosts    []string
	path     string // without the first slash
	query    url.Values
}

func parseAddress(text string) (address, error) {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return address{}, queueError("is not a URL; write it like kafka://host:9092/topic")
	}
	authority, path, _ := strings.Cut(rest, "/")
	u, err := url.Parse("x:///" + path)
	if err != nil || u.Fragment != "" {
		return address{}, queueError("has a path or query that is not one of a URL")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return address{}, queueError("has a path or query that is not one of a URL")
	}
	a := address{scheme: strings.ToLower(scheme), path: strings.TrimPrefix(u.Path, "/"), query: query}
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		name, password, _ := strings.Cut(authority[:i], ":")
		var bad error
		if a.user, err = url.PathUnescape(name); err != nil {
			bad = err
		}
		if a.password, err = url.PathUnescape(password); err != nil || bad != nil {
			return address{}, queueError("has a user name or password with a percent sign that begins no escape")
		}
		authority = authority[i+1:]
	}
	for host := range strings.SplitSeq(authority, ",") {
		if host == "" || strings.ContainsAny(host, "?#@ ") {
			return address{}, queueError("has an empty or malformed host; write it like kafka://host:9092/topic")
		}
		a.hosts = append(a.hosts, host)
	}
	return a, nil
}

// only refuses parameters other than those of names.
func (a address) only(names ...string) error {
	for name := range a.query {
		if !slices.Contains(names, name) {
			return queueError("has the parameter %q, which there is none of; there are: %s", name, strings.Join(names, ", "))
		}
	}
	return nil
}

func queueError(format string, args ...any) error {
	return fault.Field("audit.queue_url", "invalid_value", "The queue's address "+format+".", args...)
}

// clean takes secrets out of an error's text.
func clean(err error, secrets ...string) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, s := range secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, "[redacted]")
			text = strings.ReplaceAll(text, url.QueryEscape(s), "[redacted]")
			text = strings.ReplaceAll(text, url.PathEscape(s), "[redacted]")
		}
	}
	if text == err.Error() {
		return err
	}
	return errors.New(text)
}
