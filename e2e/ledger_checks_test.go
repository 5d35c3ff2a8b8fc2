package e2e

import (
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/money"
)

// check compares what the gateway says with what its callers, the provider and the
// receiver know.
func (k *killed) check() {
	k.t.Helper()
	ends, sum := k.callers.check(k.t, k.spend(""))
	if ends["canceled"] > 0 || ends["crashed"] < len(k.left) {
		k.t.Errorf("%d requests were under way, and they ended %v", len(k.left), ends)
	}
	k.checkFigures(killedKey, sum)
	// What was refused last would have cost so much, and its prompt was taken for
	// fewer tokens than it has bytes.
	if last := bookCost(150, burnTokens); sum > killedBudget || killedBudget-sum > last {
		k.t.Errorf("%s of the budget %s are spent, and %s are refused", sum, killedBudget, last)
	}
	last := k.checkChain()
	k.until("the receiver has the audit log", func() bool { return k.hook.reaches(k.t, last) })
}

// checkFigures checks that all that shows sums shows the same as the records: what the
// key has spent, the days, and the audit log.
func (g *gatewayProcess) checkFigures(key string, want money.Pico) {
	g.t.Helper()
	var of struct {
		Info struct {
			Spend jsontext.Value `json:"spend"`
		} `json:"info"`
	}
	g.read("/key/info?key="+key, &of)
	var days struct {
		Total jsontext.Value `json:"total_spend"`
	}
	g.read("/billing/daily-spend", &days)
	if s, d := inPico(g.t, of.Info.Spend), inPico(g.t, days.Total); s != want || d != want {
		g.t.Errorf("the records sum up to %s, the key has spent %s, the days %s", want, s, d)
	}
	var sum money.Pico
	for after := ""; ; {
		var page struct {
			Data []struct {
				ID   string         `json:"event_id"`
				Cost jsontext.Value `json:"cost_usd"`
			} `json:"data"`
			HasMore bool `json:"has_more"`
		}
		g.read("/audit-log?event_type=spend.debited&limit=1000"+after, &page)
		for _, r := range page.Data {
			sum += inPico(g.t, r.Cost)
			after = "&starting_after=" + r.ID
		}
		if !page.HasMore {
			break
		}
	}
	if sum != want {
		g.t.Errorf("the records sum up to %s, the audit log to %s", want, sum)
	}
}

// checkChain checks that the audit log holds together from its first record to its
// last, and returns that one's number.
func (g *gatewayProcess) checkChain() uint64 {
	g.t.Helper()
	var chain struct {
		Valid   bool    `json:"valid"`
		Checked float64 `json:"checked"`
		Last    string  `json:"last_event_id"`
		Reason  string  `json:"reason"`
	}
	g.read("/audit-log/verify", &chain)
	last, err := eventNumber(chain.Last)
	if err != nil || !chain.Valid || uint64(chain.Checked) != last {
		g.t.Fatalf("the audit log: %v %+v", err, chain)
	}
	return last
}

// bookRow is a row of /spend/logs, and where the next page begins.
type bookRow struct {
	spendLog
	EventID string `json:"event_id"`
	Cursor  string `json:"cursor"`
}

// pages reads all rows that there are, the newest first.
func (g *gatewayProcess) pages() []bookRow {
	g.t.Helper()
	var all []bookRow
	for after := ""; ; {
		const page = 1000
		var rows []bookRow
		g.read(fmt.Sprintf("/spend/logs?limit=%d%s", page, after), &rows)
		all = append(all, rows...)
		if len(rows) < page {
			return all
		}
		after = "&starting_after=" + rows[page-1].Cursor
	}
}

// read gets a document of the API.
func (g *gatewayProcess) read(path string, into any) {
	g.t.Helper()
	a := g.get(path)
	if err := json.Unmarshal([]byte(a.body), into); err != nil || a.status != http.StatusOK {
		g.t.Fatalf("GET %s: %d %v: %s", path, a.status, err, a.body)
	}
}
