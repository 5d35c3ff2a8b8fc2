package mgmt

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/credential"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// madeKey makes a key and returns it with its record.
func madeKey(t *testing.T, s *Server, who, body string) (key string, record map[string]any) {
	t.Helper()
	a := asking(t, s, who, "POST /key/generate", body)
	record = a.json(t)
	key, _ = record["key"].(string)
	if a.status != http.StatusOK || !strings.HasPrefix(key, "sk-") {
		t.Fatalf("no key for %s: %d %s", body, a.status, a.body)
	}
	return key, record
}

// keyInfo returns the record of a key in /key/info.
func keyInfo(t *testing.T, s *Server, key string) map[string]any {
	t.Helper()
	a := ask(t, s, "GET /key/info?key="+key, "", nil)
	record, _ := a.json(t)["info"].(map[string]any)
	if a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	return record
}

// atPresent is newFake with the time of the server, for expiry.
func atPresent(t *testing.T) (*Server, *fakeNode) {
	t.Helper()
	s, n := newFake(t)
	n.pass(time.Since(n.mu.now))
	return s, n
}

func TestKeyLife(t *testing.T) {
	t.Parallel()
	s, n := newFake(t)
	secret, v := madeKey(t, s, "", `{"models":["fast"],"key_alias":"ci","metadata":{"team":"a","n":[1,2.5,null]},"blocked":false,"max_budget":0.1,"tags":["x"],
		"aliases":{"best":"fast"},"allowed_routes":["/key/*","llm_api_routes"],"key_type":"default","model_rpm_limit":{"fast":3}}`)
	hash := id.HashKey(secret)
	token := hex.EncodeToString(hash[:])
	want := map[string]any{
		"key": secret, "key_name": "sk-..." + secret[21:], "token": token, "token_id": token, "account_id": token, "parent_account_id": nil, "bounded_by_user_id": nil, "key_alias": "ci", "models": []any{"fast"}, "expires": nil,
		"blocked": false, "metadata": map[string]any{"team": "a", "n": []any{1.0, 2.5, nil}}, "team_id": nil, "user_id": nil, "organization_id": nil,
		"tags": []any{"x"}, "aliases": map[string]any{"best": "fast"}, "allowed_routes": []any{"/key/*", "llm_api_routes"}, "key_type": "default",
		"allowed_prompts": []any{}, "guardrails": []any{}, "default_prompt_id": nil, "require_prompt": false,
		"rotation_count": 0.0, "last_rotation_at": nil, "grace_until": nil, "status": "active",
		"max_budget": 0.1, "soft_budget": nil, "budget_duration": nil, "max_parallel_requests": nil, "tpm_limit": nil, "rpm_limit": nil, "tpd_limit": nil,
		"spend": 0.0, "total_spend": 0.0, "model_spend": map[string]any{}, "budget_reset_at": nil,
		"model_max_budget": map[string]any{}, "budget_id": nil, "model_rpm_limit": map[string]any{"fast": 3.0}, "model_tpm_limit": map[string]any{},
		"created_at": "2026-06-29T10:00:00.123456Z", "created_by": "master", "updated_at": "2026-06-29T10:00:00.123456Z", "updated_by": "master", "revision": 42.0,
	}
	if diff := cmp.Diff(want, v); diff != "" || len(secret) != 25 {
		t.Fatalf("the key that was made (- want):\n%s", diff)
	}
	want["key"] = token
	for _, name := range []string{secret, token, "sha256:" + token} {
		for _, param := range []string{"key", "key_hash"} {
			info := ask(t, s, "GET /key/info?"+param+"="+name, "", nil)
			if diff := cmp.Diff(map[string]any{"key": token, "info": want}, info.json(t)); diff != "" || strings.Contains(info.body, secret) {
				t.Errorf("by %s (- want):\n%s", param, diff)
			}
			if info.header.Get("ETag") != `"42"` {
				t.Errorf("ETag %s", info.header.Get("ETag"))
			}
		}
	}
	own := ask(t, s, "GET /key/info", "", as(secret))
	health := ask(t, s, "POST /key/health", "", as(secret))
	if own.json(t)["key"] != token || health.json(t)["key"] != "healthy" || cmp.Diff(own.json(t)["info"], health.json(t)["info"]) != "" {
		t.Errorf("its own: %s\n%s", own.body, health.body)
	}
	play(t, s, []step{
		{"", "POST /key/generate", `{"key_alias":"ci"}`, "409 already_exists key_alias"},
		{"", "POST /key/generate", `{"key":"` + secret + `"}`, "409 already_exists key"},
		{"", "POST /key/generate", `{"key":"` + masterKey + `"}`, "409 already_exists key"},
		{"", "POST /key/generate", `{"key":"` + plainKey + `"}`, "409 already_exists key"},
		{"", "GET /key/info?key=" + token + "&key_hash=sk-nobody-has-this-0", "", "422 invalid_value key_hash"},
		{"", "POST /key/block", `{"key":"` + token + `"}`, "200"},
		{secret, "GET /key/info", "", "401 key_blocked"},
		{secret, "POST /key/health", "", "401 key_blocked"},
		{"", "POST /key/unblock", `{"key":"` + secret + `"}`, "200"},
		{secret, "GET /key/info", "", "200"},
		{"", "POST /key/block", `{"key":"` + plainKey + `"}`, "409 defined_in_file key"},
		{"", "POST /key/block", `{"key":"sk-nobody-has-this-0"}`, "404 key_not_found key"},
		{"", "POST /key/health", "", "200"},
	})
	gone := ask(t, s, "DELETE /key/delete", `{"keys":["`+secret+`","sha256:`+token+`"]}`, nil)
	if gone.status != http.StatusOK || fmt.Sprint(gone.json(t)["deleted_keys"]) != "["+token+"]" {
		t.Errorf("%d %s", gone.status, gone.body)
	}
	play(t, s, []step{
		{secret, "GET /key/info", "", "401 invalid_api_key"},
		{"", "GET /key/info?key=" + token, "", "404 key_not_found key"},
		{"", "POST /key/generate", `{"key_alias":"ci"}`, "200"},
	})
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.mu.actors) != 5 || slices.ContainsFunc(n.mu.actors, func(who string) bool { return who != "master" }) {
		t.Errorf("changed by %v", n.mu.actors)
	}
}

func TestKeysThatAreRefused(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	steps := []step{
		{"", "POST /organization/new", `{"organization_id":"acme","organization_alias":"Acme"}`, "200"},
		{"", "POST /team/new", `{"team_id":"research","organization_id":"acme","models":["fast"]}`, "200"},
		{"", "POST /team/new", `{"team_id":"free"}`, "200"},
		{"", "POST /user/new", `{"user_id":"ada","auto_create_key":false}`, "200"},
		{"", "POST /key/service-account/generate", `{}`, "422 missing_required_parameter team_id"},
		{"", "POST /key/service-account/generate", `{"team_id":"free","user_id":"ada"}`, "422 invalid_value user_id"},
	}
	for body, want := range map[string]string{
		`{"duration":"-1d"}`:                              "422 invalid_value duration",
		`{"duration":"1e9d"}`:                             "422 invalid_value duration",
		`{"duration":"30"}`:                               "422 invalid_value duration",
		`{"duration":""}`:                                 "422 invalid_value duration",
		`{"duration":30}`:                                 "422 invalid_type duration",
		`{"duration":"101w"}`:                             "200",
		`{"duration":"999999999d"}`:                       "422 invalid_value duration",
		`{"key":""}`:                                      "422 invalid_value key",
		`{"key":"sk-short"}`:                              "422 invalid_value key",
		`{"key":"sk-with-a-comma,0123456"}`:               "422 invalid_value key",
		`{"key":"sk-0123456789\nabcdef"}`:                 "422 invalid_value key",
		`{"key_alias":"a\u0000b"}`:                        "422 invalid_value key_alias",
		`{"key_alias":" a"}`:                              "422 invalid_value key_alias",
		`{"key_alias":7}`:                                 "422 invalid_type key_alias",
		`{"models":"fast"}`:                               "422 invalid_type models",
		`{"models":["a","*b*"]}`:                          "422 invalid_value models[1]",
		`{"models":[""]}`:                                 "422 invalid_value models[0]",
		`{"metadata":[]}`:                                 "422 invalid_type metadata",
		`{"blocked":"yes"}`:                               "422 invalid_type blocked",
		`{"key_type":"root"}`:                             "422 invalid_value key_type",
		`{"allowed_routes":["v1"]}`:                       "422 invalid_value allowed_routes[0]",
		`{"max_budget":-1}`:                               "422 invalid_value max_budget",
		`{"max_budget":1e-13}`:                            "422 invalid_value max_budget",
		`{"max_budget":1,"soft_budget":2}`:                "422 invalid_value soft_budget",
		`{"max_budget":"10"}`:                             "422 invalid_type max_budget",
		`{"spend":0}`:                                     "422 unknown_field spend",
		`{"user_role":"proxy_admin"}`:                     "422 unknown_field user_role",
		`{"team_id":"none"}`:                              "404 team_not_found team_id",
		`{"user_id":"none"}`:                              "404 user_not_found user_id",
		`{"organization_id":"none"}`:                      "404 organization_not_found organization_id",
		`{"budget_id":"none"}`:                            "404 budget_not_found budget_id",
		`{"team_id":"research","user_id":"ada"}`:          "422 invalid_value user_id",
		`{"team_id":"free","organization_id":"acme"}`:     "422 invalid_value organization_id",
		`{"team_id":"research","models":["fast","slow"]}`: "403 model_access_denied models",
		`{"metadata":{"x":"` + strings.Repeat("x", maxMetadata) + `"}}`: "422 too_long metadata",
		`{"models":["a"` + strings.Repeat(`,"a"`, 1000) + `]}`:          "422 too_long models",
	} {
		steps = append(steps, step{"", "POST /key/generate", body, want})
	}
	for body, want := range map[string]string{
		`{}`:                                "422 missing_required_parameter keys",
		`{"keys":[],"key_aliases":null}`:    "422 missing_required_parameter keys",
		`{"keys":["nonsense"]}`:             "422 invalid_value keys[0]",
		`{"keys":["sk-nobody-has-this-0"]}`: "404 key_not_found keys[0]",
		`{"keys":["` + plainKey + `"]}`:     "409 defined_in_file keys[0]",
		`{"key_aliases":["nope"]}`:          "404 key_not_found key_aliases[0]",
		`{"keys":["sk-nobody-has-this-0"],"key_aliases":["a"]}`: "422 invalid_value key_aliases",
	} {
		steps = append(steps, step{"", "POST /key/delete", body, want})
	}
	play(t, s, steps)
}

// The response to a request for a key that the caller may not see does not reveal whether the
// key exists.
func TestKeysOfOthers(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	made, _ := madeKey(t, s, "", `{"key_alias":"theirs"}`)
	user := account(t, s, `{"user_id":"ada"}`)
	for _, request := range []string{
		"GET /key/info?key=%s ", `POST /key/update {"key":"%s","tags":["x"]}`, `POST /key/delete {"keys":["%s"]}`, `POST /key/block {"key":"%s"}`,
		`POST /key/unblock {"key":"%s"}`, `POST /key/regenerate {"key":"%s"}`,
	} {
		method, rest, _ := strings.Cut(request, " ")
		path, body, _ := strings.Cut(rest, " ")
		var answers []answer
		for _, key := range []string{made, "sk-nobody-has-this-0"} {
			target := method + " " + strings.ReplaceAll(path, "%s", key)
			answers = append(answers, ask(t, s, target, strings.ReplaceAll(body, "%s", key), as(user)))
		}
		if a, b := answers[0], answers[1]; a.status != http.StatusForbidden || a.body != b.body || a.status != b.status {
			t.Errorf("%s: %d %s\n%d %s", request, a.status, a.body, b.status, b.body)
		}
	}
	play(t, s, []step{
		{user, "POST /key/delete", `{"key_aliases":["theirs"]}`, "403 insufficient_permissions key_aliases[0]"},
		{user, "POST /key/delete", `{"key_aliases":["nobody's"]}`, "403 insufficient_permissions key_aliases[0]"},
		{plainKey, "GET /key/info?key=" + made, "", "403 insufficient_permissions key"},
		{plainKey, "GET /key/list", "", "403 insufficient_permissions"},
		{"", "GET /key/info", "", "404 key_not_found key"},
		{"", "POST /key/regenerate", `{}`, "404 key_not_found key"},
	})
	own := ask(t, s, "GET /key/info", "", as(plainKey))
	record, _ := own.json(t)["info"].(map[string]any)
	if own.status != http.StatusOK || record["key_alias"] != "app" || record["created_at"] != nil || record["revision"] != 0.0 {
		t.Errorf("a key of the file: %d %s", own.status, own.body)
	}
	several := ask(t, s, "POST /v2/key/info", `{"keys":["`+made+`","sk-nobody-has-this-0","`+user+`"]}`, as(user)).json(t)
	if list, _ := several["info"].([]any); len(list) != 1 || fmt.Sprint(several["key"]) != "["+tokenOf(id.HashKey(user))+"]" {
		t.Errorf("several: %v", several)
	}
}

func TestKeyList(t *testing.T) {
	t.Parallel()
	s, n := atPresent(t)
	for i := range 25 {
		n.pass(time.Millisecond)
		madeKey(t, s, "", fmt.Sprintf(`{"key_alias":"K%02d","models":["fast"],"blocked":%v}`, i, i%5 == 0))
	}
	seen := map[any]bool{}
	for page, want := range []int{10, 10, 5, 0} {
		v := ask(t, s, fmt.Sprintf("GET /key/list?page=%d", page+1), "", nil).json(t)
		list, _ := v["keys"].([]any)
		for _, k := range list {
			seen[k] = true
		}
		if len(list) != want || v["total_count"] != 25.0 || v["total_pages"] != 3.0 || v["current_page"] != float64(page+1) {
			t.Errorf("page %d: %v", page+1, v)
		}
	}
	if len(seen) != 25 {
		t.Errorf("%d keys on all pages", len(seen))
	}
	for query, want := range map[string]string{
		"size=3":                              "[K24 K23 K22] 25 9",
		"size=2&sort_order=asc":               "[K00 K01] 25 13",
		"size=2&sort_by=key_alias":            "[K24 K23] 25 13",
		"status=blocked":                      "[K20 K15 K10 K05 K00] 5 1",
		"status=expired":                      "[] 0 0",
		"search=k1&size=100&sort_order=asc":   "[K10 K11 K12 K13 K14 K15 K16 K17 K18 K19] 10 1",
		"key_alias=K07":                       "[K07] 1 1",
		"key_alias=nope":                      "[] 0 0",
		"team_id=none":                        "[] 0 0",
		"page=1000000&size=100":               "[] 25 1",
		"key_hash=sk-nobody-has-this-0":       "[] 0 0",
		"key_alias=K07&status=blocked":        "[] 0 0",
		"key_alias=K05&status=blocked&size=1": "[K05] 1 1",
	} {
		a := ask(t, s, "GET /key/list?return_full_object=true&"+query, "", nil)
		v := a.json(t)
		aliases := []any{}
		list, _ := v["keys"].([]any)
		for _, k := range list {
			record, _ := k.(map[string]any)
			aliases = append(aliases, record["key_alias"])
		}
		if got := fmt.Sprint(aliases, " ", v["total_count"], " ", v["total_pages"]); a.status != http.StatusOK || got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	one, _ := ask(t, s, "GET /key/list?key_alias=K07&return_full_object=true", "", nil).json(t)["keys"].([]any)
	token, _ := one[0].(map[string]any)["token"].(string)
	if diff := cmp.Diff(keyInfo(t, s, token), one[0]); diff != "" {
		t.Errorf("the entry of a list (- as /key/info has it):\n%s", diff)
	}
	v := ask(t, s, "GET /key/aliases?size=2&page=2&search=K1", "", nil).json(t)
	want := map[string]any{"aliases": []any{"K12", "K13"}, "total_count": 10.0, "current_page": 2.0, "total_pages": 5.0, "size": 2.0}
	if diff := cmp.Diff(want, v); diff != "" {
		t.Errorf("aliases (- want):\n%s", diff)
	}
	play(t, s, []step{
		{"", "GET /key/list?page=0", "", "422 invalid_value page"},
		{"", "GET /key/list?size=101", "", "422 invalid_value size"},
		{"", "GET /key/list?status=fine", "", "422 invalid_value status"},
		{"", "GET /key/list?sort_by=spend", "", "422 invalid_value sort_by"},
		{"", "GET /key/list?key_hash=nonsense", "", "422 invalid_value key_hash"},
	})
}

// A period of months ends on the same day of the month, which arithmetic of hours gets wrong.
func TestKeyExpires(t *testing.T) {
	t.Parallel()
	now := time.Date(2028, 1, 31, 9, 30, 0, 0, time.UTC)
	k, err := patchKey(tenancy.Key{}, &gatewayv1.GenerateKeyRequest{Duration: new("1mo")}, nil, now)
	if want := time.Date(2028, 2, 29, 9, 30, 0, 0, time.UTC); err != nil || !k.Expires.Equal(want) {
		t.Errorf("%v %v", k.Expires, err)
	}
}

// A key with a chosen text is that text, and its record has only the hash and the last four
// characters.
func TestChosenKeys(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	rapid.Check(t, func(rt *rapid.T) {
		secret := "sk-" + rapid.StringMatching(`[A-Za-z0-9_-]{13,60}`).Draw(rt, "key")
		a := ask(t, s, "POST /key/generate", `{"key":"`+secret+`"}`, nil)
		if a.status == http.StatusConflict {
			return // drawn before
		}
		hash := id.HashKey(secret)
		if v := a.json(t); v["key"] != secret || v["token"] != hex.EncodeToString(hash[:]) || v["key_name"] != credential.DisplayName(secret) {
			rt.Fatalf("%d %s", a.status, a.body)
		}
		if info := ask(t, s, "GET /key/info?key="+hex.EncodeToString(hash[:]), "", nil); info.status != http.StatusOK || strings.Contains(info.body, secret) {
			rt.Fatalf("%d %s", info.status, info.body)
		}
	})
}
