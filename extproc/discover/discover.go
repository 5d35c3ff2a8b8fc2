package discover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/modelgateway/modelgateway/cluster/address"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/provider"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Bounds of a list. OpenAI's page is 100 KB, OpenRouter's 2 MB.
const (
	maxTime   = 30 * time.Second
	maxPages  = 50
	maxPage   = 16 << 20
	maxModels = 10_000
)

// Finder lists the models of accounts. It is safe for concurrent use.
type Finder struct {
	providers map[string]provider.Provider
	token     func(ctx context.Context, d *catalog.Deployment) (cloud.Token, error)
	http      *http.Client
	now       func() time.Time
}

// Config is what a Finder needs.
type Config struct {
	Providers []provider.Provider
	// Token gets a token with a deployment's credential; zero if it needs none. It may be nil.
	Token   func(ctx context.Context, d *catalog.Deployment) (cloud.Token, error)
	Private bool // addresses in private networks are allowed
	Now     func() time.Time
}

// New returns a Finder.
func New(cfg Config) *Finder {
	least := address.Public
	if cfg.Private {
		least = address.Private
	}
	dialer := &net.Dialer{Timeout: 10 * time.Second, Control: func(_, to string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(to)
		if err != nil || address.Of(at.Addr()) < least {
			return fault.New(fault.Denied, "address_not_allowed", "The provider's name leads to an address that the gateway may not call.")
		}
		return nil
	}}
	f := &Finder{providers: make(map[string]provider.Provider, len(cfg.Providers)), token: cfg.Token, now: cfg.Now}
	for _, p := range cfg.Providers {
		f.providers[p.Name] = p
	}
	f.http = &http.Client{
		Transport:     &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true, TLSHandshakeTimeout: 10 * time.Second, ForceAttemptHTTP2: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return f
}

// Models returns the models that a deployment's account can reach, sorted, by the names that deployments
// have. The deployment's own model does not matter. Errors are *fault.Error.
func (f *Finder) Models(ctx context.Context, d *catalog.Deployment) ([]string, error) {
	p, ok := f.providers[d.Provider]
	lister, lists := p.Driver.(driver.Lister)
	if !ok || !lists {
		return nil, fault.New(fault.Unsupported, driver.CodeEndpoint, "%s does not list its models; its documentation has their names.", d.Provider)
	}
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	t := driver.Target{Deployment: string(d.ID), Model: d.Model, BasePath: d.BasePath, APIKey: d.APIKey, Settings: d.Cloud}
	for _, h := range d.ExtraHeaders {
		t.Headers = append(t.Headers, driver.Header{Name: h.Name, Value: h.Value})
	}
	if f.token != nil {
		var err error
		if t.Token, err = f.token(ctx, d); err != nil {
			return nil, err
		}
	}
	host := d.Endpoint.Authority()
	if elsewhere, ok := p.Driver.(driver.ListedElsewhere); ok {
		host = elsewhere.ListHost(host)
	}
	var all []string
	page := ""
	for range maxPages {
		call, err := lister.ListModels(t, page)
		if err != nil {
			return nil, err
		}
		call.Method = http.MethodGet
		if signer, ok := p.Driver.(driver.Signer); ok {
			if err := signer.Sign(&call, t, host, f.now()); err != nil {
				return nil, err
			}
		}
		body, err := f.page(ctx, p.Driver, d.Endpoint.Scheme+"://"+host, &call)
		if missing, ok := errors.AsType[missingPageError](err); ok {
			body, err = []byte("{}"), nil // a part of the list that this account does not have
			if page == "" {
				err = missing.error
			}
		}
		if err != nil {
			return nil, err
		}
		models, next, err := lister.ModelsOf(page, body)
		if err != nil {
			return nil, failed(err)
		}
		all = append(all, models...)
		if next == "" || next == page || len(all) > maxModels {
			break
		}
		page = next
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(len(all), maxModels)], nil
}

// missingPageError is the failure of a page that does not exist.
type missingPageError struct{ error }

// page returns the body of a page of the list.
func (f *Finder) page(ctx context.Context, of driver.Driver, base string, call *driver.Call) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, call.Method, base+call.Path, http.NoBody)
	if err != nil {
		return nil, unreachable()
	}
	for _, h := range call.Headers {
		req.Header.Set(h.Name, h.Value.Reveal())
	}
	resp, err := f.http.Do(req)
	if err != nil {
		if e := fault.From(err); e != nil && e.Code == "address_not_allowed" {
			return nil, e
		}
		return nil, unreachable()
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxPage+1))
	switch {
	case err != nil:
		return nil, unreachable()
	case resp.StatusCode == http.StatusNotFound:
		return nil, missingPageError{failed(of.Classify(resp.StatusCode, resp.Header.Get, body))}
	case resp.StatusCode != http.StatusOK:
		return nil, failed(of.Classify(resp.StatusCode, resp.Header.Get, body))
	case len(body) > maxPage:
		return nil, failed(driver.InvalidResponse(fmt.Sprintf("is longer than %d bytes", maxPage)))
	}
	return body, nil
}

func unreachable() error {
	return fault.New(fault.Upstream, "upstream_unreachable", "The provider could not be reached. Check api_base, and whether the gateway's network leads there.")
}

// failed returns the error for a failure of the provider.
func failed(err error) error {
	var f *wire.Failure
	if !errors.As(err, &f) {
		return err
	}
	kind := f.Kind
	if kind == fault.Malformed || kind == fault.NotFound {
		kind = fault.Upstream // the gateway has made the request, and not the caller of the management API
	}
	return fault.New(kind, cmp.Or(f.Code, "upstream_error"), "%s", f.Message)
}
