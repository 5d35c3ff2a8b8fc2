package mgmt

import (
	"fmt"
	"slices"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/id"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// generations is a key that is regenerated, and what is spent under its hashes.
type generations struct {
	*office
	tokens []string
}

// regenerate gives the key another hash.
func (g *generations) regenerate(t *testing.T, more string) {
	t.Helper()
	v := ask(t, g.Server, "POST /key/regenerate", `{"key":"`+g.tokens[len(g.tokens)-1]+`"`+more+`}`, nil).json(t)
	token, ok := v["token"].(string)
	if !ok {
		t.Fatalf("%v", v)
	}
	g.tokens = append(g.tokens, token)
}

// spend posts an event as one of the hashes makes it.
func (g *generations) spend(t *testing.T, generation int, day string, dollars int64) {
	t.Helper()
	g.use(t, "mate", day, dollars*1e12, func(e *clusterv1.UsageEvent) {
		used, _ := id.ParseKeyHash(g.tokens[generation])
		e.KeyHash = used[:]
		if first, _ := id.ParseKeyHash(g.tokens[0]); generation > 0 {
			e.OriginHash = first[:]
		}
	})
}

// newGenerations is a key with three hashes, of which the last one is in use, and with a spend
// of 15 USD.
func newGenerations(t *testing.T) *generations {
	t.Helper()
	o := newOffice(t)
	g := &generations{o, []string{o.token("mate/red")}}
	play(t, g.Server, []step{{"", "POST /key/update", `{"key":"` + g.tokens[0] + `","max_budget":20,"model_max_budget":{"fast":{"max_budget":19}}}`, "200"}})
	g.spend(t, 0, "2026-06-26", 2)
	g.regenerate(t, `,"grace_period":"1h","max_budget":30`)
	g.spend(t, 0, "2026-06-27", 1)
	g.spend(t, 1, "2026-06-28", 4)
	for _, token := range g.tokens {
		g.has(t, token, 7, 7)
	}
	g.regenerate(t, "")
	g.spend(t, 1, "2026-06-28", 3) // one that was under way
	g.spend(t, 2, "2026-06-29", 5)
	return g
}

// has checks what a key's record says that it has spent.
func (g *generations) has(t *testing.T, token string, spend, total float64) {
	t.Helper()
	info := keyInfo(t, g.Server, token)
	if info["spend"] != spend || info["total_spend"] != total || info["account_id"] != g.tokens[0] {
		t.Errorf("%s: %v", token, some(info, "spend", "total_spend", "model_spend", "account_id"))
	}
}

// A regenerated key continues its spend, under every hash, and nothing is copied for it.
func TestRegeneratedKeyKeepsItsAccount(t *testing.T) {
	t.Parallel()
	g := newGenerations(t)
	last := g.tokens[2]
	g.has(t, last, 15, 15)
	if info := keyInfo(t, g.Server, last); fmt.Sprint(info["model_spend"]) != "map[fast:15]" || info["max_budget"] != 30.0 {
		t.Errorf("%v", some(info, "model_spend", "max_budget"))
	}
	list, _ := ask(t, g.Server, "GET /key/list?return_full_object=true&user_id=mate&team_id=red", "", nil).json(t)["keys"].([]any)
	if len(list) != 1 || down(t, list[0], "spend") != 15.0 {
		t.Errorf("the list: %v", list)
	}
	if v := asking(t, g.Server, g.keys["lead"], "POST /key/"+last+"/reset_spend", `{"reset_to":0.5}`).json(t); v["previous_spend"] != 15.0 || v["key_hash"] != last {
		t.Errorf("%v", v)
	}
	g.regenerate(t, `,"grace_period":"1h"`)
	for _, token := range g.tokens[2:] {
		g.has(t, token, 0.5, 15)
	}
	play(t, g.Server, []step{
		{"", "POST /key/generate", `{"key":"` + g.keys["mate/red"] + `"}`, "409 already_exists key"},
		{"", "POST /key/delete", `{"keys":["` + g.tokens[3] + `"]}`, "200"},
		{"", "POST /key/generate", `{"key":"` + g.keys["mate/red"] + `"}`, "200"},
	})
	g.has(t, g.tokens[0], 0.5, 15) // the hash is that of the account, as after any deletion
}

// Every hash of a key finds the usage under all of them, also after the key was deleted. Logs
// show the hash that was used, sums the present one.
func TestReportsOfARegeneratedKey(t *testing.T) {
	t.Parallel()
	g := newGenerations(t)
	logs := func(token string) string {
		out := ""
		for _, one := range listOf(t, ask(t, g.Server, "GET /spend/logs?api_key="+token, "", nil)) {
			used, _ := down(t, one, "api_key").(string)
			out += fmt.Sprintf("%v by %d, ", down(t, one, "spend"), slices.Index(g.tokens, used))
		}
		return out
	}
	const days = "start_date=2026-06-01&end_date=2026-06-30"
	sums := func(who, token string) string {
		v := asking(t, g.Server, g.keys[who], "GET /team/daily/activity?team_ids=red&"+days+"&api_key="+token, "").json(t)
		out := fmt.Sprint(down(t, v, "metadata", "total_spend"))
		results, _ := v["results"].([]any)
		for _, day := range results {
			byKey, _ := down(t, day, "breakdown", "api_keys").(map[string]any)
			for used, of := range byKey {
				out += fmt.Sprintf(", %v of %d", down(t, of, "metrics", "spend"), slices.Index(g.tokens, used))
			}
		}
		return out
	}
	billed := func() string {
		out := ""
		data, _ := ask(t, g.Server, "GET /billing/daily-spend?start_date=2026-06-28&end_date=2026-06-29&group_by=key", "", nil).json(t)["data"].([]any)
		for _, day := range data {
			shares, _ := down(t, day, "breakdown").([]any)
			for _, one := range shares {
				of, _ := down(t, one, "key").(string)
				out += fmt.Sprintf("%v of %d, ", down(t, one, "spend"), slices.Index(g.tokens, of))
			}
		}
		return out
	}
	check := func(when string, shown int) {
		for i, token := range g.tokens {
			if got, want := logs(token), "5 by 2, 3 by 1, 4 by 1, 1 by 0, 2 by 0, "; got != want {
				t.Errorf("%s: logs by hash %d: %s, want %s", when, i, got, want)
			}
			if got, want := sums("lead", token), fmt.Sprintf("15, 5 of %d, 7 of %[1]d, 1 of %[1]d, 2 of %[1]d", shown); got != want {
				t.Errorf("%s: sums by hash %d: %s, want %s", when, i, got, want)
			}
		}
		if got, want := billed(), fmt.Sprintf("7 of %d, 5 of %[1]d, ", shown); got != want {
			t.Errorf("%s: billed are %s, want %s", when, got, want)
		}
	}
	check("in use", 2)
	if got := sums("mate", g.tokens[0]); got != "15, 5 of 2, 7 of 2, 1 of 2, 2 of 2" {
		t.Errorf("what its own user sees: %s", got)
	}
	play(t, g.Server, []step{{"", "POST /key/delete", `{"keys":["` + g.tokens[2] + `"]}`, "200"}})
	check("gone", 0)
}
