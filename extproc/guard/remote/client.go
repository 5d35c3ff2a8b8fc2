package remote

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"github.com/modelgateway/modelgateway/cluster/address"
)

const (
	maxAnswer    = 2 << 20 // of a response's body, in bytes
	maxHeaders   = 16 << 10
	maxIdle      = 64 // connections to one service that wait for the next call
	idleTime     = 90 * time.Second
	dialTime     = 5 * time.Second
	contentType  = "Content-Type"
	mediaJSON    = "application/json"
	headerReplay = "X-Idempotency-Key"
)

// Config says what services may be called.
type Config struct {
	// Private allows addresses in private networks and on this machine. Those of clouds' metadata services, and other
	// link-local and reserved ones, never are.
	Private bool
	Roots   *x509.CertPool // that certificates are checked with; nil means the system's
}

// Client calls services. All engines share one, with its connections. It is safe for concurrent use.
type Client struct{ http *http.Client }

// NewClient returns a client.
func NewClient(cfg Config) *Client {
	least := address.Public
	if cfg.Private {
		least = address.Private
	}
	dialer := &net.Dialer{Timeout: dialTime, Control: func(_, to string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(to)
		if err != nil || address.Of(at.Addr()) < least {
			return errForbidden
		}
		return nil
	}}
	return &Client{&http.Client{
		Transport: &http.Transport{
			// No proxy of the environment: only the proxy's address would be checked.
			DialContext:            dialer.DialContext,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: cfg.Roots},
			TLSHandshakeTimeout:    dialTime,
			IdleConnTimeout:        idleTime,
			MaxIdleConnsPerHost:    maxIdle,
			MaxResponseHeaderBytes: maxHeaders,
			ForceAttemptHTTP2:      true,
			DisableCompression:     true,
		},
		// A redirect is a response as any other that is not 200.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close closes the connections that nobody uses.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// errForbidden is the error for an address that may not be called.
var errForbidden = errors.New("its name leads to an address in a private network or to a metadata service, which may not be called: see general_settings.allow_private_endpoints")

// statusError is a response with another status than 200.
type statusError int

func (s statusError) Error() string {
	return fmt.Sprintf("the service responds with status %d", int(s))
}

// lateError is a call that did not end in time.
type lateError struct {
	after   time.Duration
	waiting bool // for a place: the call was not made
}

func (e *lateError) Error() string {
	if e.waiting {
		return fmt.Sprintf("max_parallel_requests calls are under way, and none ended within %s", e.after)
	}
	return fmt.Sprintf("the service does not respond within %s", e.after)
}

// line is the way to one service.
type line struct {
	client  *Client
	url     string
	timeout time.Duration
	places  chan struct{} // of calls that are under way
	headers func(to http.Header, body []byte)
}

// call posts a body, and returns the response's.
func (l *line) call(ctx context.Context, body []byte) ([]byte, error) {
	within, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	select {
	case l.places <- struct{}{}:
		defer func() { <-l.places }()
	case <-within.Done():
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &lateError{l.timeout, true}
	}
	out, err := l.post(within, body)
	switch {
	case err == nil:
		return out, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case within.Err() != nil:
		return nil, &lateError{l.timeout, false}
	}
	return nil, err
}

func (l *line) post(ctx context.Context, body []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("api_base is not a URL") // the error quotes it
	}
	r.Header.Set(contentType, mediaJSON)
	r.Header.Set("Accept", mediaJSON)
	r.Header.Set("User-Agent", "modelgateway")
	// A call changes nothing, so it is made again if the service closes the connection just then. The header is not sent.
	r.Header[headerReplay] = nil
	l.headers(r.Header, body)
	answer, err := l.client.http.Do(r)
	if err != nil {
		return nil, unaddressed(err)
	}
	defer func() { _ = answer.Body.Close() }() // it was only read
	if answer.StatusCode != http.StatusOK {
		// What is left unread would cost the connection; too much of it may.
		_, _ = io.CopyN(io.Discard, answer.Body, maxHeaders)
		return nil, statusError(answer.StatusCode)
	}
	out, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the response broke off: %w", err)
	case len(out) > maxAnswer:
		return nil, fmt.Errorf("the response has more than %d bytes", maxAnswer)
	}
	return out, nil
}

// unaddressed leaves out the address that net/http writes into its errors.
func unaddressed(err error) error {
	if errors.Is(err, errForbidden) {
		return errForbidden
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return fmt.Errorf("the service cannot be called: %w", err)
}
