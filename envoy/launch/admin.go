package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/modelgateway/modelgateway/envoy/contract"
)

// admin is a client of Envoy's admin listener on its Unix socket. It is safe for concurrent
// use.
type admin struct {
	client *http.Client
}

func newAdmin(socket string) admin {
	return admin{client: &http.Client{
		Timeout: adminTimeout,
		Transport: &http.Transport{
			DisableKeepAlives: true, // connections to a dead child are useless
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				var d net.Dialer
				return d.DialContext(ctx, "unix", socket)
			},
		},
	}}
}

// call returns the body of a 200 response, at most 64 KiB.
func (a admin) call(ctx context.Context, method, path string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://envoy"+path, http.NoBody)
	if err != nil {
		return "", fmt.Errorf("admin %s: %w", path, err)
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return "", fmt.Errorf("admin %s: %w", path, err)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	err = errors.Join(err, resp.Body.Close())
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d", resp.StatusCode)
	}
	if err != nil {
		return "", fmt.Errorf("admin %s: %w", path, err)
	}
	return string(body), nil
}

// ready reports whether Envoy has its configuration and serves.
func (a admin) ready(ctx context.Context) bool {
	_, err := a.call(ctx, http.MethodGet, "/ready")
	return err == nil
}

// waitReady blocks until Envoy is ready or ctx ends.
func (a admin) waitReady(ctx context.Context) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for !a.ready(ctx) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

// drain stops new connections, asks clients to disconnect, and blocks until no request is in
// flight or ctx ends.
func (a admin) drain(ctx context.Context) error {
	for _, path := range []string{"/healthcheck/fail", "/drain_listeners"} {
		if _, err := a.call(ctx, http.MethodPost, path); err != nil {
			return err
		}
	}
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		active, err := a.active(ctx)
		if err != nil || active == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// active returns the number of requests in flight on the listener.
func (a admin) active(ctx context.Context) (int, error) {
	const name = "http." + contract.Listener + ".downstream_rq_active"
	body, err := a.call(ctx, http.MethodGet, "/stats?filter="+strings.ReplaceAll(name, ".", `%5C.`))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(body) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+": "); ok {
			n, err := strconv.Atoi(value)
			if err != nil {
				return 0, fmt.Errorf("admin statistic: %w", err)
			}
			return n, nil
		}
	}
	return 0, nil // no request yet
}
