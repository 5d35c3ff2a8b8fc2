package mgmt

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/audit"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const auditGolden = "testdata/audit.txt"

// Audit records of changes are the same in all versions, byte for byte: these are of cascades,
// rotations and several changes at once.
func TestAuditRecordsStayTheSame(t *testing.T) {
	t.Parallel()
	s, n := newFake(t)
	key := func(i int) string { return fmt.Sprintf("sk-a-key-that-is-secret-%02d", i) }
	var out strings.Builder
	last := uint64(0)
	uuid := regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	for _, c := range []step{
		{"", "POST /organization/new", `{"organization_id":"acme","organization_alias":"Acme","max_budget":5}`, ""},
		{"", "POST /organization/new", `{"organization_id":"beta","organization_alias":"Beta"}`, ""},
		{"", "POST /team/new", `{"team_id":"a","organization_id":"acme","team_member_budget":2}`, ""},
		{"", "POST /team/new", `{"team_id":"a-b","organization_id":"acme"}`, ""},
		{"", "POST /team/new", `{"team_id":"free"}`, ""},
		{"", "POST /user/new", `{"user_id":"u1","auto_create_key":false,"organizations":["acme"],"teams":[{"team_id":"a-b","max_budget_in_team":2}],"max_budget":7,"model_max_budget":{"m":{"max_budget":1}}}`, ""},
		{"", "POST /user/new", `{"user_id":"u2","auto_create_key":false,"organizations":["acme","beta"]}`, ""},
		{"", "POST /organization/member_update", `{"organization_id":"acme","user_id":"u2","role":"org_admin"}`, ""},
		{"", "POST /key/generate", `{"key":"` + key(1) + `","user_id":"u2","organization_id":"acme"}`, ""},
		{key(1), "POST /organization/member_add", `{"organization_id":"acme","member":[{"role":"internal_user","user_email":"x@y.z"}],"max_budget_in_organization":1}`, ""},
		{"", "POST /team/member_add", `{"team_id":"a","member":[{"user_id":"u3","role":"user"},{"user_id":"u4","role":"user"}],"max_budget_in_team":1}`, ""},
		{"", "POST /key/generate", `{"key":"` + key(2) + `","team_id":"a","user_id":"u3","max_budget":4}`, ""},
		{"", "POST /key/regenerate", `{"key":"` + key(2) + `","new_key":"` + key(3) + `","grace_period":"1h","max_budget":3}`, ""},
		{"", "POST /key/update", `{"key":"` + key(3) + `","max_budget":0.000000000001}`, ""},
		{"", "POST /key/bulk_update", `{"keys":[{"key":"` + key(3) + `","max_budget":1},{"key":"` + key(1) + `","rpm_limit":9}]}`, ""},
		{"", "POST /key/generate", `{"key":"` + key(4) + `","team_id":"a-b","user_id":"u1"}`, ""},
		{"", "POST /team/member_delete", `{"team_id":"a-b","user_id":"u1"}`, ""},
		{"", "POST /customer/new", `{"user_id":"c1","organization_id":"acme","max_budget":1}`, ""},
		{"", "POST /customer/block", `{"user_ids":["c1","c9"]}`, ""},
		{"", "POST /user/bulk_update", `{"users":[{"user_id":"u3","blocked":true,"max_budget":3},{"user_id":"u1","blocked":true,"rpm_limit":3}]}`, ""},
		{"", "POST /prompts", `{"prompt_name":"hi","organization_id":"acme","messages":[{"role":"user","content":"hello"}]}`, ""},
		{"", "POST /guardrail", `{"guardrail_name":"pii","organization_id":"acme","engines":[{"engine_name":"presidio","event_hooks":["pre_call"],"config":{"entities":["PERSON"],"action":"anonymize"}}]}`, ""},
		{"", "POST /key/" + key(3) + "/reset_spend", `{"reset_to":0}`, ""},
		{"", "POST /user/delete", `{"user_ids":["u4","u1"]}`, ""},
		{"", "POST /key/delete", `{"keys":["` + key(2) + `"]}`, ""},
		{"", "DELETE /organization/delete", `{"organization_ids":["acme"]}`, ""},
	} {
		if a := asking(t, s, c.who, c.target, c.body); a.status != 200 {
			t.Fatalf("%s %s: %d %s", c.target, c.body, a.status, a.body)
		}
		fmt.Fprintln(&out, c.target)
		for _, r := range (auditOf{n}).records(t, last+1) {
			last = r.Number
			fmt.Fprintf(&out, "\t%s\n", uuid.ReplaceAllString(recordText(r), "UUID"))
		}
	}
	if *update {
		if err := os.WriteFile(auditGolden, []byte(out.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(auditGolden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Errorf("(- want):\n%s", diff)
	}
}

// recordText returns a record without its link to the one before, which contains random ids.
func recordText(r audit.Record) string {
	return regexp.MustCompile(`"previous_event_hash":"[^"]*",?`).ReplaceAllString(string(r.Full()), "")
}
