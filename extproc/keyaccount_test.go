package extproc

import (
	"testing"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/prompts"
	"github.com/modelgateway/modelgateway/cluster/rate"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
)

// A regenerated key and its replacement share one budget and one rate, and each event says
// which of them was used.
func TestRegeneratedKeySharesItsBounds(t *testing.T) {
	t.Parallel()
	const nextKey = "sk-next-0123456789abcdef"
	limits := budget(money.USD)
	limits.RPM = new(uint32(4))
	set, err := tenancy.New([]tenancy.Key{
		{Alias: "app", Hash: id.HashKey(appKey), Limits: limits},
		{Alias: "app", Hash: id.HashKey(nextKey), Origin: id.HashKey(appKey), Limits: limits},
	}, vault.Secret{})
	if err != nil {
		t.Fatal(err)
	}
	b := newBank(t, 0)
	k := newKit(t, one(), b.use, func(k *kit, d *pipeline.Deps) {
		view := &cluster.View{Revision: 1, Catalog: k.catalog, Keys: set, Prompts: prompts.New()}
		d.View, d.Rates = func() *cluster.View { return view }, rate.New(epoch())
	})
	ask := func(key string) (*envoy, outgoing) {
		e := k.open(t)
		return e, e.request(plainHeaders(e.uuid, "x-api-key", key), hello)
	}
	for _, key := range []string{appKey, nextKey, nextKey, appKey} {
		e, out := ask(key)
		if out.refused != nil {
			t.Fatal(out.refused.body)
		}
		e.answer(jsonAnswer(goodReply))
		if ev := k.event(e.uuid); ev.Key != id.HashKey(key) || ev.Account() != id.HashKey(appKey) {
			t.Errorf("the event is of the key %v and the account %v", ev.Key, ev.Account())
		}
	}
	b.free(t, money.USD-4*helloCost)
	for _, key := range []string{appKey, nextKey} {
		e, out := ask(key)
		rejectedWith(t, e, out.refused, 429, "rate_limit_exceeded")
		e.close()
	}
}
