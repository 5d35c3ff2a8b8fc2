package mgmt

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Sums above the range of one amount are exact to the pico-dollar. A JSON number is the nearest
// one, and never an overflowed one.
func TestSpendBeyondAPico(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	const most = 9_000_000_000_000_000_001 // 9 million dollars and a pico-dollar
	o.use(t, "mate", "2026-06-28", most, nil)
	o.use(t, "mate", "2026-06-29", most, nil)
	o.use(t, "mate", "2026-06-29", most, nil)
	o.use(t, "mate", "2026-06-29", 1, func(e *clusterv1.UsageEvent) { e.Model = "claude" })
	days := ask(t, o.Server, "GET /billing/daily-spend?start_date=2026-06-28&end_date=2026-06-29&group_by=model&organization_id=acme", "", nil).json(t)
	got := []string{fmt.Sprint(days["total_spend"], " ", days["total_spend_decimal"])}
	data, _ := days["data"].([]any)
	for _, day := range data {
		line := fmt.Sprint(down(t, day, "spend"), " ", down(t, day, "spend_decimal"))
		shares, _ := down(t, day, "breakdown").([]any)
		for _, share := range shares {
			line += fmt.Sprint(" ", down(t, share, "key"), "=", down(t, share, "spend_decimal"))
		}
		got = append(got, line)
	}
	if diff := cmp.Diff([]string{
		"2.7e+07 27000000.000000000004",
		"9e+06 9000000.000000000001 gpt-4o=9000000.000000000001",
		"1.8e+07 18000000.000000000003 gpt-4o=18000000.000000000002 claude=0.000000000001",
	}, got); diff != "" {
		t.Errorf("(- want):\n%s", diff)
	}
	for _, c := range []struct {
		target string
		names  []string
	}{
		{"/key/info?key=" + o.token("mate/red"), []string{"info"}},
		{"/team/info?team_id=red", []string{"team_info"}},
		{"/v2/user/info?user_id=mate", nil},
		{"/organization/info?organization_id=acme", nil},
	} {
		a := ask(t, o.Server, "GET "+c.target, "", nil)
		if v := down(t, a.json(t), c.names...); down(t, v, "spend") != 2.7e7 || down(t, v, "total_spend") != 2.7e7 {
			t.Errorf("%s: %s", c.target, a.body)
		}
	}
	for _, path := range []string{"/team/daily/activity?team_ids=red", "/user/daily/activity?user_id=mate", "/organization/daily/activity?organization_ids=acme", "/customer/daily/activity?end_user_ids=customer-17"} {
		a := ask(t, o.Server, "GET "+path+"&start_date=2026-06-28&end_date=2026-06-29", "", nil)
		if v := down(t, a.json(t), "metadata", "total_spend"); v != 2.7e7 {
			t.Errorf("%s: %v", path, v)
		}
	}
	path := "POST /key/" + o.token("mate/red") + "/reset_spend"
	play(t, o.Server, []step{{"", path, `{"reset_to":9000000.5}`, "422 invalid_value reset_to"}})
	a := ask(t, o.Server, path, `{"reset_to":9000000}`, nil)
	if v := a.json(t); a.status != http.StatusOK || v["spend"] != 9e6 || v["previous_spend"] != 2.7e7 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if info := keyInfo(t, o.Server, o.token("mate/red")); info["spend"] != 9e6 || info["total_spend"] != 2.7e7 {
		t.Errorf("%v", some(info, "spend", "total_spend"))
	}
}
