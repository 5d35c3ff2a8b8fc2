package catalog_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/price"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// mapOf is a price map of these rows and so many more that nobody uses.
func mapOf(rows ...price.MapRow) []price.MapRow {
	for i := range 100 {
		rows = append(rows, price.MapRow{Model: fmt.Sprintf("filler-%03d", i), Prices: tokenPrice("0.5")})
	}
	return rows
}

func tokenPrice(value string) []price.Entry {
	return []price.Entry{{Key: "input_cost_per_token", Value: value}}
}

// million is what a million tokens of input cost at a deployment.
func million(tb testing.TB, c *catalog.Catalog, d id.Deployment) string {
	tb.Helper()
	found, ok := c.Deployment(d)
	if !ok {
		tb.Fatalf("no deployment %s", d)
	}
	return found.Prices.Cost(usage.Tokens{Input: 1_000_000}, price.Standard).String()
}

func set(w *world, rows []price.MapRow) error {
	return w.do(func(tx *record.Txn) error {
		_, err := w.now.SetPrices(tx, rows)
		return err
	})
}

// TestPriceMapTakesThePlaceOfTheBuiltIn: at deployments of the file and of the state,
// at those behind wildcards, and at those that come later; but not over own prices.
func TestPriceMapTakesThePlaceOfTheBuiltIn(t *testing.T) {
	t.Parallel()
	own := deploy("own", "m", "openai/gpt-4o")
	own.Prices = map[string]string{"input_cost_per_token": "0.000009"}
	base := build(t, catalog.RouterSpec{}, deploy("file", "fixed", "openai/gpt-4o"), deploy("wild", "w/*", "openai/*"), deploy("new", "n", "openai/newcomer"))
	w := &world{base: base, now: base}
	create := func(s catalog.DeploymentSpec) {
		t.Helper()
		if err := w.do(func(tx *record.Txn) error { _, err := w.now.Create(tx, s, seal); return err }); err != nil {
			t.Fatal(err)
		}
	}
	create(own)
	create(deploy("state", "m", "openai/gpt-4o"))
	check := func(want map[id.Deployment]string, wild string) {
		t.Helper()
		loaded, broken, err := w.base.Load(t.Context(), &w.state, open)
		if err != nil || broken != nil {
			t.Fatal(broken, err)
		}
		for name, c := range map[string]*catalog.Catalog{"applied": w.now, "loaded": loaded} {
			got := map[id.Deployment]string{}
			for d := range want {
				got[d] = million(t, c, d)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
			g, ok := c.Group("w/gpt-4o")
			if !ok {
				t.Fatal("the wildcard has nobody")
			}
			if got := g.Deployments[0].Prices.Cost(usage.Tokens{Input: 1_000_000}, price.Standard).String(); got != wild {
				t.Errorf("%s: behind the wildcard it costs %s, want %s", name, got, wild)
			}
			for _, d := range c.Deployments() {
				if g, ok := c.Group(d.Name); ok && d.Name != "w/*" && !slices.Contains(g.Deployments, d) {
					t.Errorf("%s: the group of %s has another one", name, d.ID)
				}
			}
		}
		a, revision := w.now.PriceMap()
		b, again := loaded.PriceMap()
		if diff := cmp.Diff(a, b); diff != "" || revision != again {
			t.Errorf("revision %d applied, %d loaded; %s", revision, again, diff)
		}
	}
	builtin := map[id.Deployment]string{"file": "2.5", "state": "2.5", "own": "9", "new": "0"}
	check(builtin, "2.5")

	if err := set(w, mapOf(
		price.MapRow{Model: "gpt-4o", Provider: "openai", MaxInputTokens: 77, Prices: tokenPrice("0.000003")},
		price.MapRow{Model: "openai/newcomer", Prices: tokenPrice("1e-06")},
	)); err != nil {
		t.Fatal(err)
	}
	check(map[id.Deployment]string{"file": "3", "state": "3", "own": "9", "new": "1"}, "3")
	if d, _ := w.now.Deployment("file"); d.MaxInputTokens != 77 {
		t.Errorf("the longest prompt is %d", d.MaxInputTokens)
	}
	if rows, revision := w.now.PriceMap(); len(rows) != 102 || revision == 0 {
		t.Errorf("%d rows of revision %d", len(rows), revision)
	}
	create(deploy("later", "m", "openai/gpt-4o"))
	if err := set(w, mapOf(price.MapRow{Model: "gpt-4o", Prices: tokenPrice("0.000004")})); err != nil {
		t.Fatal(err)
	}
	check(map[id.Deployment]string{"file": "4", "state": "4", "later": "4", "own": "9", "new": "0"}, "4")

	// The same once more changes nothing.
	tx := record.NewTxn(at(9), "admin")
	if _, err := w.now.SetPrices(tx, mapOf(price.MapRow{Model: "gpt-4o", Prices: tokenPrice("0.000004")})); err != nil || !tx.Empty() {
		t.Errorf("%v, and writes something: %v", err, !tx.Empty())
	}
	if err := w.do(func(tx *record.Txn) error { return w.now.ResetPrices(tx) }); err != nil {
		t.Fatal(err)
	}
	builtin["later"] = "2.5"
	check(builtin, "2.5")
	if got := told(w.do(func(tx *record.Txn) error { return w.now.ResetPrices(tx) })); got != "not_found price_map_not_found " {
		t.Error(got)
	}
}

// TestTwoPriceMapsDoNotMix: of two that were decided at once one is decided again.
func TestTwoPriceMapsDoNotMix(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, other := record.NewTxn(at(1), "a"), record.NewTxn(at(1), "b")
	for i, tx := range []*record.Txn{one, other} {
		_, err := w.now.SetPrices(tx, mapOf(price.MapRow{Model: fmt.Sprint("only-", i)}, price.MapRow{Model: "gpt-4o", Prices: tokenPrice("1")}))
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.commit(one); err != nil {
		t.Fatal(err)
	}
	if got := told(w.commit(other)); got != "conflict stale " {
		t.Errorf("the second is %q", got)
	}
}

func TestPriceMapsThatAreMistakes(t *testing.T) {
	t.Parallel()
	gpt := price.MapRow{Model: "gpt-4o", Prices: tokenPrice("1")}
	with := func(r price.MapRow) []price.MapRow { return mapOf(gpt, r) }
	priced := func(key, value string) []price.MapRow {
		return with(price.MapRow{Model: "bad", Prices: []price.Entry{{Key: key, Value: value}}})
	}
	for _, test := range []struct {
		name string
		rows []price.MapRow
		want string // in the message
	}{
		{"empty", nil, "too small"},
		{"small", mapOf(gpt)[:99], "too small"},
		{"without what is used", mapOf(), `1 of the 1 models that deployments use, such as "gpt-4o"`},
		{"without prices of what is used", mapOf(price.MapRow{Model: "gpt-4o"}), "1 of the 1 models"},
		{"negative", priced("input_cost_per_token", "-1"), `"input_cost_per_token" of the model "bad"`},
		{"no number", priced("input_cost_per_token", "free"), `"free"`},
		{"too fine", priced("input_cost_per_token", "1e-25"), "24 decimals"},
		{"too dear", priced("input_cost_per_token", "1001"), "1000 dollars"},
		{"no price", priced("input_price", "1"), `"input_price" of the model "bad"`},
		{"a key that breaks the row", priced("input_cost_per_token=1;x_cost_per_token", "1"), "is not a price"},
		{"a key twice", with(price.MapRow{Model: "bad", Prices: append(tokenPrice("1"), tokenPrice("2")...)}), `"input_cost_per_token" of the model "bad" is there twice`},
		{"a model twice", with(gpt), `"gpt-4o" is there twice`},
		{"no name", with(price.MapRow{}), "is empty"},
		{"the name of the mark", with(price.MapRow{Model: "\x00"}), "control character"},
		{"no provider", with(price.MapRow{Model: "bad", Provider: "a\nb"}), "provider"},
		{"negative limit", with(price.MapRow{Model: "bad", MaxInputTokens: -1}), "negative"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			err := set(w, test.rows)
			if told(err) != "malformed invalid_value prices" || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if rows, _ := w.now.PriceMap(); rows != nil {
				t.Error("it is in force all the same")
			}
		})
	}
}

// TestTheBuiltInTableAsAPriceMap: the whole table is taken, and changes no price.
func TestTheBuiltInTableAsAPriceMap(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var file strings.Builder
	file.WriteString("{")
	for i, r := range builtInRows(t) {
		if i > 0 {
			file.WriteString(",\n")
		}
		fmt.Fprintf(&file, `%q:{"litellm_provider":%q,"max_input_tokens":%d,"max_output_tokens":%d`, r.Model, r.Provider, r.MaxInputTokens, r.MaxOutputTokens)
		for _, p := range r.Prices {
			fmt.Fprintf(&file, `,%q:%s`, p.Key, p.Value)
		}
		file.WriteString("}")
	}
	file.WriteString("}")
	rows, err := price.ParseMap([]byte(file.String()))
	if err != nil {
		t.Fatal(err)
	}
	before := map[id.Deployment]string{}
	for _, d := range w.now.Deployments() {
		before[d.ID] = million(t, w.now, d.ID)
	}
	if err := set(w, rows); err != nil {
		t.Fatal(err)
	}
	loaded, _ := w.now.PriceMap()
	if len(rows) < 3000 || len(loaded) != len(rows) {
		t.Errorf("%d rows read, %d in force", len(rows), len(loaded))
	}
	for d, cost := range before {
		if got := million(t, w.now, d); got != cost {
			t.Errorf("%s costs %s and cost %s", d, got, cost)
		}
	}
}

// builtInRows are the rows of prices.csv.
func builtInRows(tb testing.TB) []price.MapRow {
	tb.Helper()
	data, err := os.ReadFile("../price/prices.csv")
	if err != nil {
		tb.Fatal(err)
	}
	var rows []price.MapRow
	for line := range strings.Lines(string(data)) {
		f := strings.SplitN(strings.TrimSpace(line), ",", 6)
		if f[0] == "provider" {
			continue
		}
		r := price.MapRow{Provider: f[0], Model: f[1]}
		r.MaxInputTokens, _ = strconv.ParseInt(f[3], 10, 64)
		r.MaxOutputTokens, _ = strconv.ParseInt(f[4], 10, 64)
		for entry := range strings.SplitSeq(f[5], ";") {
			if key, value, ok := strings.Cut(entry, "="); ok {
				r.Prices = append(r.Prices, price.Entry{Key: key, Value: value})
			}
		}
		if r.MaxInputTokens != 0 || r.MaxOutputTokens != 0 || r.Prices != nil {
			rows = append(rows, r)
		}
	}
	return rows
}
