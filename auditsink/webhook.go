package auditsink

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/delivery"
	"github.com/modelgateway/modelgateway/cluster/inject"
	"github.com/modelgateway/modelgateway/cluster/signature"
)

const (
	hookTimeout = 10 * time.Second
	hookIdle    = 90 * time.Second // how long a connection is kept that nothing is sent on
	maxAnswer   = 64 << 10         // of an answer's body; nobody reads it
	maxHeaders  = 16 << 10
	// startEarly is how much earlier than the settings the webhook's first record
	// may be: they are stamped by the clocks of two nodes.
	startEarly = 5 * time.Second
	// maxBatchBytes bounds the body of a batch. A record that is larger is sent alone.
	maxBatchBytes = 1 << 20
)

// webhook posts records to an address.
type webhook struct {
	cfg    Config
	client *http.Client
}

func newWebhook(c Config) *webhook {
	transport := c.Transport
	if transport == nil {
		transport = &http.Transport{
			// No proxy of the environment: the Guard would see its address only.
			DialContext:            c.Guard.Dialer().DialContext,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.Roots},
			TLSHandshakeTimeout:    hookTimeout,
			IdleConnTimeout:        hookIdle,
			MaxIdleConnsPerHost:    delivery.MaxParallel, // each request that is out keeps its connection
			MaxResponseHeaderBytes: maxHeaders,
			ForceAttemptHTTP2:      true,
			DisableCompression:     true,
		}
	}
	return &webhook{cfg: c, client: &http.Client{
		Transport: transport,
		Timeout:   hookTimeout,
		// A redirect is an answer as any other that is not 2xx.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close closes its connections.
func (w *webhook) Close() error {
	w.client.CloseIdleConnections()
	return nil
}

// Ready reports whether the settings name a webhook.
func (w *webhook) Ready() (uint64, bool) {
	s := w.cfg.Settings()
	return s.Revision, s.Ready()
}

// Begin is the first record since the webhook was switched on. Records are in the
// order of when they were written, so that is a search by halves.
func (w *webhook) Begin(ctx context.Context) (uint64, error) {
	since := w.cfg.Settings().UpdatedAt.Add(-startEarly)
	head, err := w.cfg.Source.Head(ctx)
	if err != nil {
		return 0, err
	}
	low, high := uint64(1), head+1
	for low < high {
		middle := low + (high-low)/2
		number, old := high, false
		err := w.cfg.Source.From(ctx, middle, func(r audit.Record) bool {
			number, old = r.Number, r.Recorded.Before(since)
			return false
		})
		switch {
		case err != nil:
			return 0, err
		case old:
			low = number + 1
		default:
			high = middle
		}
	}
	return low, nil
}

// post sends records in one request.
func (w *webhook) post(ctx context.Context, s delivery.Settings, pace delivery.Pace, batch []*item) error {
	if err := w.cfg.Guard.CheckURL(s.URL); err != nil {
		return fmt.Errorf("the webhook of the settings may not be called: %w", err)
	}
	body, headers := payload(pace, batch)
	ask, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, bytes.NewReader(body))
	if err != nil {
		return errors.New("the webhook's address is not a URL") // the error quotes it
	}
	now := time.Now()
	ask.Header.Set("Content-Type", "application/json")
	ask.Header.Set("User-Agent", "modelgateway")
	ask.Header.Set(signature.Header, signature.Of(now, body, s.Secrets(now)))
	for _, h := range headers {
		ask.Header.Set(h.Name, h.Value)
	}
	inject.Crash("deliver.post.before")
	answer, err := w.client.Do(ask)
	if err != nil {
		return cleanHTTP(err)
	}
	defer func() { _ = answer.Body.Close() }() // it was only read
	// What is left unread would cost the connection; too much of it may.
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxAnswer))
	if answer.StatusCode/100 == 2 {
		inject.Crash("deliver.post.taken")
		return nil
	}
	failed := fmt.Errorf("the webhook answered %d", answer.StatusCode)
	if after, ok := retryAfter(answer.Header.Get("Retry-After"), now); ok {
		return &later{failed, after}
	}
	if answer.StatusCode == http.StatusTooManyRequests {
		return &later{failed, firstBackoff} // an immediate retry would be one more request too many
	}
	return failed
}

// BatchHeader carries the number of records of a batch.
const BatchHeader = "X-Gateway-Batch"

// payload is the body of a request and the headers that say what is in it: a record,
// or where batches are set an array of records, also if there is only one.
func payload(pace delivery.Pace, batch []*item) ([]byte, []audit.Header) {
	if pace.Batch == 1 {
		return batch[0].record.External, batch[0].headers
	}
	size := 1 + len(batch)
	for _, x := range batch {
		size += len(x.record.External)
	}
	body := make([]byte, 0, size)
	for i, x := range batch {
		body = append(body, "[,"[min(i, 1)])
		body = append(body, x.record.External...)
	}
	return append(body, ']'), []audit.Header{{Name: BatchHeader, Value: strconv.Itoa(len(batch))}}
}

// cleanHTTP leaves out the address that net/http writes into its errors.
func cleanHTTP(err error) error {
	var u *url.Error
	if !errors.As(err, &u) {
		return err
	}
	if u.Timeout() {
		return fmt.Errorf("the webhook did not answer within %s", hookTimeout)
	}
	return fmt.Errorf("the webhook cannot be called: %w", u.Err)
}

// retryAfter reads the header: seconds or a date.
func retryAfter(text string, now time.Time) (time.Duration, bool) {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0), true
	}
	return 0, false
}
