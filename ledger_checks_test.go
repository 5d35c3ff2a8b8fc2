package main

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/money"
)

// check compares what the gateway says with what its callers, the provider and the
// receiver know.
func (k *killed) check() {
	k.t.Helper()
	rows := k.spend("")
	of := map[string][]spendLog{}
	var sum money.Pico
	for _, e := range rows {
		of[e.EndUser] = append(of[e.EndUser], e)
		sum += inPico(k.t, e.Spend)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	crashed := 0
	for n := 1; n <= int(k.asked.Load()); n++ {
		crashed += k.checkRequest(n, of[fmt.Sprint("r", n)])
	}
	for _, n := range k.left {
		r := of[fmt.Sprint("r", n)]
		died := k.checkRequest(n, r)
		if len(r) != 1 || died != 1 {
			k.t.Errorf("request %d was under way and has the records %+v", n, r)
		}
		crashed += died
	}
	if len(rows) == 0 || len(k.seen) == 0 {
		k.t.Errorf("%d records of %d answers", len(rows), len(k.seen))
	}
	k.checkSums(sum)
	k.checkAudit(sum)
	k.t.Logf("%d requests, %d answers, %d records, %d of them crashed, %s spent", k.asked.Load(), len(k.seen), len(rows), crashed, sum)
}

// checkRequest checks the records of one request, and returns how many crashed.
func (k *killed) checkRequest(n int, rows []spendLog) (crashed int) {
	k.t.Helper()
	cost, answered := k.provider.cost(n)
	if seen, ok := k.seen[n]; ok && (len(rows) != 1 || rows[0].Status != "success" || seen != cost) {
		k.t.Errorf("request %d was answered and has the records %+v", n, rows)
	}
	if len(rows) > 1 {
		k.t.Errorf("request %d has %d records: %+v", n, len(rows), rows)
	}
	for _, e := range rows {
		spent := inPico(k.t, e.Spend)
		switch {
		case e.Status == "success" && answered && spent == cost:
		case e.Status == "crashed" && e.Source == "estimated" && e.PromptTokens > 0 && spent >= bookCost(e.PromptTokens, 0):
			crashed++
		default:
			k.t.Errorf("request %d cost %s by the provider's books (%t), and has the record %+v", n, cost, answered, e)
		}
	}
	return crashed
}

// checkSums checks that all that shows sums shows the same, and that the budget is
// spent and not exceeded.
func (k *killed) checkSums(want money.Pico) {
	k.t.Helper()
	var key struct {
		Info struct {
			Spend jsontext.Value `json:"spend"`
		} `json:"info"`
	}
	k.read("/key/info?key="+killedKey, &key)
	var days struct {
		Total jsontext.Value `json:"total_spend"`
	}
	k.read("/billing/daily-spend", &days)
	if s, d := inPico(k.t, key.Info.Spend), inPico(k.t, days.Total); s != want || d != want {
		k.t.Errorf("the records sum up to %s, the key has spent %s, the days %s", want, s, d)
	}
	// What was refused last would have cost so much, and its prompt was taken for
	// fewer tokens than it has bytes.
	if last := bookCost(150, burnTokens); want > killedBudget || killedBudget-want > last {
		k.t.Errorf("%s of the budget %s are spent, and %s are refused", want, killedBudget, last)
	}
}

// checkAudit checks the chain, what it says was spent, and that the receiver has it.
func (k *killed) checkAudit(want money.Pico) {
	k.t.Helper()
	var sum money.Pico
	for after := ""; ; {
		var page struct {
			Data []struct {
				ID   string         `json:"event_id"`
				Cost jsontext.Value `json:"cost_usd"`
			} `json:"data"`
			HasMore bool `json:"has_more"`
		}
		k.read("/audit-log?event_type=spend.debited&limit=1000"+after, &page)
		for _, r := range page.Data {
			sum += inPico(k.t, r.Cost)
			after = "&starting_after=" + r.ID
		}
		if !page.HasMore {
			break
		}
	}
	if sum != want {
		k.t.Errorf("the records sum up to %s, the audit log to %s", want, sum)
	}
	var chain struct {
		Valid   bool    `json:"valid"`
		Checked float64 `json:"checked"`
		Last    string  `json:"last_event_id"`
		Reason  string  `json:"reason"`
	}
	k.read("/audit-log/verify", &chain)
	last, err := eventNumber(chain.Last)
	if err != nil || !chain.Valid || uint64(chain.Checked) != last {
		k.t.Fatalf("the audit log: %v %+v", err, chain)
	}
	k.until("the receiver has the audit log", func() bool {
		has, wrong := k.hook.has()
		if wrong != nil {
			k.t.Fatal(wrong)
		}
		return has >= last
	})
}
