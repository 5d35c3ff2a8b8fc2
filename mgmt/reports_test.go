package mgmt

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// TestBreakdownsArePaged checks that a breakdown shows the models and keys with the highest
// spend and the sum of the others, and that each page adds up to the day.
func TestBreakdownsArePaged(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	const models = 250
	for n := range models {
		o.use(t, "lead", "2026-06-29", int64(n+1)*1_000_000_000_000, func(e *clusterv1.UsageEvent) {
			e.Model = fmt.Sprintf("model-%03d", n)
			e.KeyHash[0], e.KeyHash[1] = byte(n), byte(n>>8) // another key for each
		})
	}
	const whole = models * (models + 1) / 2
	for page, want := range map[int][2]int{1: {150, 249}, 2: {50, 149}, 3: {0, 49}} {
		a := ask(t, o.Server, "GET /team/daily/activity?team_id=red&start_date=2026-06-01&end_date=2026-06-30&breakdown_page="+strconv.Itoa(page), "", nil)
		results, _ := a.json(t)["results"].([]any)
		if a.status != http.StatusOK || len(results) != 1 {
			t.Fatalf("%d %s", a.status, a.body)
		}
		for _, part := range []string{"models", "api_keys"} {
			entries, _ := down(t, results[0], "breakdown", part).(map[string]any)
			sum, shown := 0.0, 0
			for name, entry := range entries {
				spend, _ := down(t, entry, "metrics", "spend").(float64)
				sum += spend
				if name == otherName {
					if left := down(t, entry, "metadata", "entries"); left != float64(models-len(entries)+1) {
						t.Errorf("page %d of %s: other says that it has %v entries", page, part, left)
					}
					continue
				}
				shown++
				if spend < float64(want[0]+1) || spend > float64(want[1]+1) {
					t.Errorf("page %d of %s has %s with a spend of %v", page, part, name, spend)
				}
			}
			if shown != want[1]-want[0]+1 || sum != whole {
				t.Errorf("page %d of %s: %d entries, and a sum of %v; want %d, %d", page, part, shown, sum, want[1]-want[0]+1, whole)
			}
		}
		if page > 1 {
			continue
		}
		of, _ := down(t, results[0], "breakdown", "entities", "red", "api_key_breakdown").(map[string]any)
		if rest := 150 * 151 / 2; len(of) != topEntries+1 || down(t, of, otherName, "metrics", "spend") != float64(rest) {
			t.Errorf("the team's keys: %d of them, and other is %v", len(of), of[otherName])
		}
	}
	a := ask(t, o.Server, "GET /billing/daily-spend?team_id=red&start_date=2026-06-29&end_date=2026-06-29&group_by=model", "", nil)
	data, _ := a.json(t)["data"].([]any)
	if len(data) != 1 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	shares, _ := down(t, data[0], "breakdown").([]any)
	if len(shares) != topEntries+1 || down(t, shares[topEntries], "key") != otherName || down(t, shares[topEntries], "spend") != float64(150*151/2) {
		t.Errorf("%d shares of the spend: %s", len(shares), a.body)
	}
}

// TestReportsAreShared checks that equal requests at the same time get the result of one
// computation, that callers with other rights get their own, and that the number of
// simultaneous computations is bounded.
func TestReportsAreShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, sharedReports)
}

func sharedReports(t *testing.T) {
	o := newOffice(t)
	o.use(t, "lead", "2026-06-29", 1_000_000_000_000, nil)
	o.use(t, "mate", "2026-06-29", 2_000_000_000_000, nil)
	const path = "GET /team/daily/activity?team_id=red&start_date=2026-06-01&end_date=2026-06-30"
	for _, key := range []string{masterKey, o.keys["mate"]} {
		ask(t, o.Server, path, "", as(key))
	}
	reads := o.node.dailies.Swap(0) // of one computation for each of the two
	for range reportsAtOnce {       // as if so many reports were computed
		o.reports.turns <- struct{}{}
	}
	type one struct{ target, key, body string }
	var all sync.WaitGroup
	var mu sync.Mutex
	var got []one
	for n := range 9 {
		key := []string{masterKey, masterKey, o.keys["mate"]}[n%3]
		all.Go(func() {
			a := ask(t, o.Server, path, "", as(key))
			mu.Lock()
			defer mu.Unlock()
			got = append(got, one{path, key, a.body})
		})
	}
	synctest.Wait() // all nine wait: for a turn, or for the report of an equal request
	for range reportsAtOnce {
		<-o.reports.turns
	}
	all.Wait()
	if got := o.node.dailies.Load(); reads == 0 || got != reads {
		t.Errorf("nine requests of two callers read the ledger %d times, and one of each reads it %d times", got, reads)
	}
	bodies := map[string]string{}
	for _, g := range got {
		if before, ok := bodies[g.key]; ok && before != g.body {
			t.Errorf("two answers to the same request: %s and %s", before, g.body)
		}
		bodies[g.key] = g.body
	}
	if len(got) != 9 || len(bodies) != 2 || bodies[masterKey] == bodies[o.keys["mate"]] {
		t.Errorf("%d answers, %d different: %v", len(got), len(bodies), bodies)
	}
	o.reports.mu.Lock()
	o.reports.mu.waiting = reportsAtOnce + reportsWaiting
	o.reports.mu.Unlock()
	if a := ask(t, o.Server, path, "", nil); a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" {
		t.Errorf("one too many: %d %s", a.status, a.body)
	}
}
