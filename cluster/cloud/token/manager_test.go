package token_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.uber.org/goleak"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/cloud/token"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a manager over a catalogue that a test changes, with a token service that the test plays.
type bench struct {
	*token.Manager
	t *testing.T

	mu struct {
		sync.Mutex
		log      bytes.Buffer
		fetch    fetch
		catalog  *catalog.Catalog
		changed  chan struct{}
		fetches  map[string]int // by access key
		running  int
		problems map[string]string
	}
}

// fetch answers for the token service.
type fetch func(ctx context.Context, key string) (cloud.Token, error)

// serve replaces the token service.
func (b *bench) serve(f fetch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mu.fetch = f
}

// Write is for the logger.
func (b *bench) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.mu.log.Write(line)
}

func (b *bench) logged() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.mu.log.String()
}

func newBench(t *testing.T, deployments ...catalog.DeploymentSpec) *bench {
	t.Helper()
	b := &bench{t: t}
	b.mu.fetches, b.mu.problems = map[string]int{}, map[string]string{}
	b.mu.changed = make(chan struct{})
	b.mu.catalog = catalogOf(t, deployments...)
	b.Manager = token.NewManager(token.Config{
		Catalog: func() *catalog.Catalog { b.mu.Lock(); defer b.mu.Unlock(); return b.mu.catalog },
		Changed: func() <-chan struct{} { b.mu.Lock(); defer b.mu.Unlock(); return b.mu.changed },
		Cloud: func(provider string) cloud.Kind {
			if provider == "clouded" {
				return cloud.AWS
			}
			return cloud.None
		},
		New: func(c cloud.Credential) (token.Fetcher, error) {
			return fetcher{b, c.Settings.Get(cloud.AWSAccessKeyID)}, nil
		},
		Report: func(about string, err error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			delete(b.mu.problems, about)
			if err != nil {
				b.mu.problems[about] = err.Error()
			}
		},
		Logger: slog.New(slog.NewTextHandler(b, nil)),
	})
	return b
}

// start runs the manager until the test ends. It must be called in a bubble.
func (b *bench) start() {
	b.t.Helper()
	ctx, stop := context.WithCancel(b.t.Context())
	ended := make(chan error)
	go func() { ended <- b.Run(ctx) }()
	b.t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			b.t.Error(err)
		}
		if n := b.running(); n != 0 {
			b.t.Errorf("%d fetches are under way after the end", n)
		}
	})
	synctest.Wait()
}

func (b *bench) change(deployments ...catalog.DeploymentSpec) {
	c := catalogOf(b.t, deployments...)
	b.mu.Lock()
	b.mu.catalog = c
	close(b.mu.changed)
	b.mu.changed = make(chan struct{})
	b.mu.Unlock()
}

func (b *bench) running() int { b.mu.Lock(); defer b.mu.Unlock(); return b.mu.running }

func (b *bench) fetches(key string) int { b.mu.Lock(); defer b.mu.Unlock(); return b.mu.fetches[key] }

func (b *bench) problems() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []string
	for about, text := range b.mu.problems {
		all = append(all, about+": "+text)
	}
	slices.Sort(all)
	return all
}

// deployment returns a deployment of the catalogue.
func (b *bench) deployment(of string) *catalog.Deployment {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	d, ok := b.mu.catalog.Deployment(id.Deployment(of))
	if !ok {
		b.t.Fatalf("there is no deployment %s", of)
	}
	return d
}

// want checks which token a deployment has; empty for none.
func (b *bench) want(of, want string) {
	b.t.Helper()
	got, err := b.Token(b.deployment(of))
	switch {
	case want == "" && err == nil:
		b.t.Errorf("%s has the token %s", of, got.Bearer.Reveal())
	case want == "":
		if e := fault.From(err); e.Kind != fault.Unavailable || e.Code != "no_credential" || e.RetryAfter <= 0 {
			b.t.Errorf("the error of %s is %v", of, err)
		}
		if b.Reason(b.deployment(of)) == "" {
			b.t.Errorf("%s has no reason for having no token", of)
		}
	case err != nil || got.Bearer.Reveal() != want:
		b.t.Errorf("%s has the token %q and the error %v; want %q", of, got.Bearer.Reveal(), err, want)
	case b.Reason(b.deployment(of)) != "":
		b.t.Errorf("%s has a token, and the reason %q for having none", of, b.Reason(b.deployment(of)))
	}
}

type fetcher struct {
	b   *bench
	key string
}

func (f fetcher) Fetch(ctx context.Context) (cloud.Token, error) {
	f.b.mu.Lock()
	f.b.mu.fetches[f.key]++
	f.b.mu.running++
	serve := f.b.mu.fetch
	f.b.mu.Unlock()
	t, err := serve(ctx, f.key)
	f.b.mu.Lock()
	f.b.mu.running--
	f.b.mu.Unlock()
	return t, err
}

func catalogOf(t *testing.T, deployments ...catalog.DeploymentSpec) *catalog.Catalog {
	t.Helper()
	c, err := catalog.New(catalog.Spec{Deployments: deployments}, catalog.Providers{
		"clouded": {DefaultBase: "https://clouded.example.com", Cloud: cloud.AWS}, "plain": {DefaultBase: "https://plain.example.com"},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// clouded is a deployment with an access key.
func clouded(name, key string) catalog.DeploymentSpec {
	return catalog.DeploymentSpec{ID: name, ModelName: "model-" + name, Model: "clouded/m", Cloud: map[string]vault.Secret{
		cloud.AWSAccessKeyID: vault.NewSecret(key), cloud.AWSSecretAccessKey: vault.NewSecret("secret-of-" + key),
	}}
}

// lasting returns a token of a key.
func lasting(key string, life time.Duration) cloud.Token {
	return cloud.Token{Bearer: vault.NewSecret("token-of-" + key), Expires: time.Now().Add(life)}
}

func hourly(_ context.Context, key string) (cloud.Token, error) { return lasting(key, time.Hour), nil }

func TestDeploymentsShareTheSourceOfTheirCredential(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		plain := catalog.DeploymentSpec{ID: "plain", ModelName: "p", Model: "plain/m"}
		keyed := clouded("keyed", "K3")
		keyed.APIKey = vault.NewSecret("key")
		b := newBench(t, clouded("a", "K1"), clouded("b", "K1"), clouded("c", "K2"), plain, keyed)
		b.serve(hourly)
		b.start()
		b.want("a", "token-of-K1")
		b.want("b", "token-of-K1")
		b.want("c", "token-of-K2")
		for _, name := range []string{"plain", "keyed"} {
			if got, err := b.Token(b.deployment(name)); err != nil || !got.IsZero() {
				t.Errorf("%s needs no token, and has %v and the error %v", name, got, err)
			}
		}
		if b.fetches("K1") != 1 || b.fetches("K2") != 1 || b.fetches("K3") != 0 {
			t.Errorf("the fetches are %v", b.mu.fetches)
		}
	})
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, clouded("a", "K1"), clouded("b", "K1"), clouded("c", "K2"))
		b.serve(func(ctx context.Context, key string) (cloud.Token, error) {
			if key == "K2" {
				return cloud.Token{}, errors.New("no")
			}
			return hourly(ctx, key)
		})
		reader := sdkmetric.NewManualReader()
		if err := b.Measure(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("test")); err != nil {
			t.Fatal(err)
		}
		b.start()
		var got metricdata.ResourceMetrics
		if err := reader.Collect(t.Context(), &got); err != nil {
			t.Fatal(err)
		}
		points := map[string]int64{}
		for _, m := range got.ScopeMetrics[0].Metrics {
			var all []metricdata.DataPoint[int64]
			switch data := m.Data.(type) {
			case metricdata.Gauge[int64]:
				all = data.DataPoints
			case metricdata.Sum[int64]:
				all = data.DataPoints
			}
			for _, p := range all {
				if p.Value != 0 {
					points[m.Name+" "+p.Attributes.Encoded(attribute.DefaultEncoder())] = p.Value
				}
			}
		}
		want := map[string]int64{
			"gateway.cloud.deployments gateway.cloud=aws,gateway.cloud.token=valid":      2,
			"gateway.cloud.deployments gateway.cloud=aws,gateway.cloud.token=missing":    1,
			"gateway.cloud.token.fetches gateway.cloud=aws,gateway.cloud.result=success": 1,
			"gateway.cloud.token.fetches gateway.cloud=aws,gateway.cloud.result=failure": 1,
		}
		if !maps.Equal(points, want) {
			t.Errorf("the metrics are %v", points)
		}
	})
}
