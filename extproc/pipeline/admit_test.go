package pipeline

import (
	"context"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/credential"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/lease"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/rate"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// noBudgets are the budgets of a test that must not reach any.
type noBudgets struct{ t *testing.T }

func (b noBudgets) Reserve(context.Context, []lease.Bound, ...money.Pico) (*lease.Hold, error) {
	b.t.Error("a budget is reserved")
	return nil, nil
}

func (b noBudgets) Check(context.Context, []lease.Bound) error {
	b.t.Error("a budget is checked")
	return nil
}

func (b noBudgets) Spent(id.Account) (lease.State, money.Pico, bool) {
	b.t.Error("spend is read")
	return lease.State{}, 0, false
}

// For a key without limits, other keys' limits cost nothing.
func TestKeysWithoutLimitsCostNothing(t *testing.T) {
	const key = "sk-app-0123456789abcdef"
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	set, err := tenancy.New([]tenancy.Key{{Alias: "app", Hash: id.HashKey(key)}}, vault.Secret{})
	if err != nil {
		t.Fatal(err)
	}
	models, err := catalog.New(catalog.Spec{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	view := &cluster.View{Revision: 1, Catalog: models, Keys: set}
	p := NewPipeline(Deps{
		View: func() *cluster.View { return view },
		Identify: func(v *cluster.View, p credential.Presented, now time.Time) (tenancy.Principal, error) {
			return v.Keys.Authenticate(p, now)
		},
		Budgets: noBudgets{t}, Rates: rate.New(now), ThrottleFactor: func() float64 { return 0.5 },
		Now: func() time.Time { return now },
	})
	x := &Exchange{View: view, Start: now, Model: "fast"}
	x.Inbound.Credentials.Add(credential.HeaderAnthropic, key)
	if err := p.identify(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() {
		p.bind(x)
		if err := p.admit(t.Context(), x); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
