package mgmt

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/keys"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

func TestKeyLife(t *testing.T) {
	s, n := newFake(t)
	a := ask(t, s, "POST /key/generate", `{"models":["fast"],"duration":"30d","key_alias":"ci","metadata":{"team":"a","n":[1,2.5,null]},"blocked":false}`, nil)
	v := a.json(t)
	secret, _ := v["key"].(string)
	hash := id.HashKey(secret)
	token := hex.EncodeToString(hash[:])
	if a.status != http.StatusOK || len(secret) != 25 || v["token"] != token || v["token_id"] != token || v["key_alias"] != "ci" ||
		v["key_name"] != "sk-..."+secret[21:] || v["created_at"] != "2026-06-29T10:00:00.123456Z" || v["created_by"] != "master" {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if a.header.Get(HeaderRevision) != "42" {
		t.Errorf("revision %s", a.header.Get(HeaderRevision))
	}
	for _, name := range []string{secret, token, "sha256:" + token} {
		info := ask(t, s, "GET /key/info?key="+name, "", nil)
		if info.status != http.StatusOK || strings.Contains(info.body, secret) || info.json(t)["key"] != token {
			t.Errorf("%d %s", info.status, info.body)
		}
		record, _ := info.json(t)["info"].(map[string]any)
		if fmt.Sprint(record["metadata"]) != "map[n:[1 2.5 <nil>] team:a]" || record["expires"] == nil || record["updated_at"] != nil {
			t.Errorf("%s", info.body)
		}
	}
	if own := ask(t, s, "GET /key/info", "", as(secret)); own.json(t)["key"] != token || own.header.Get(HeaderRevision) != "42" {
		t.Errorf("its own: %s", own.body)
	}
	if a := ask(t, s, "POST /key/generate", `{"key_alias":"ci"}`, nil); a.status != http.StatusConflict || a.refusal(t) != "already_exists key_alias" {
		t.Errorf("the alias again: %d %s", a.status, a.body)
	}
	gone := ask(t, s, "DELETE /key/delete", `{"keys":["`+secret+`","sha256:`+token+`"]}`, nil)
	if gone.status != http.StatusOK || fmt.Sprint(gone.json(t)["deleted_keys"]) != "["+token+"]" || gone.header.Get(HeaderRevision) != "43" {
		t.Errorf("%d %s", gone.status, gone.body)
	}
	if a := ask(t, s, "GET /key/info", "", as(secret)); a.status != http.StatusUnauthorized {
		t.Errorf("after its deletion: %d %s", a.status, a.body)
	}
	if a := ask(t, s, "GET /key/info?key="+token, "", nil); a.status != http.StatusNotFound || a.refusal(t) != "key_not_found key" {
		t.Errorf("after its deletion: %d %s", a.status, a.body)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if fmt.Sprint(n.mu.actors) != "[master master]" {
		t.Errorf("changed by %v", n.mu.actors)
	}
}

func TestKeysThatAreRefused(t *testing.T) {
	s, _ := newFake(t)
	for body, want := range map[string]string{
		`{"duration":"-1d"}`:              "invalid_value duration",
		`{"duration":"1e9d"}`:             "invalid_value duration",
		`{"duration":"30"}`:               "invalid_value duration",
		`{"duration":""}`:                 "invalid_value duration",
		`{"duration":30}`:                 "invalid_type duration",
		`{"key":""}`:                      "invalid_value key",
		`{"key":"sk-short"}`:              "invalid_value key",
		`{"key":"pk-0123456789abcdef"}`:   "invalid_value key",
		`{"key":"sk-0123456789\nabcdef"}`: "invalid_value key",
		`{"key_alias":"a\u0000b"}`:        "invalid_value key_alias",
		`{"key_alias":" a"}`:              "invalid_value key_alias",
		`{"key_alias":7}`:                 "invalid_type key_alias",
		`{"models":"fast"}`:               "invalid_type models",
		`{"models":["a",1]}`:              "invalid_type models[1]",
		`{"models":[null]}`:               "invalid_type models[0]",
		`{"models":["a","*b*"]}`:          "invalid_value models[1]",
		`{"models":[""]}`:                 "invalid_value models[0]",
		`{"metadata":[]}`:                 "invalid_type metadata",
		`{"metadata":{"a":1,"a":2}}`:      "invalid_json a",
		`{"metadata":"` + "x" + `"}`:      "invalid_type metadata",
		`{"blocked":"yes"}`:               "invalid_type blocked",
		`{"team_id":"t"}`:                 "unknown_field team_id",
		`{"max_budget":1}`:                "unknown_field max_budget",
		`{"spend":0}`:                     "unknown_field spend",
		`{"user_role":"proxy_admin"}`:     "unknown_field user_role",
		`{"metadata":{"x":"` + strings.Repeat("x", maxMetadata) + `"}}`: "too_long metadata",
		`{"models":["a"` + strings.Repeat(`,"a"`, maxKeyModels) + `]}`:  "too_long models",
	} {
		if a := ask(t, s, "POST /key/generate", body, nil); a.status != http.StatusBadRequest || a.refusal(t) != want {
			t.Errorf("%.80s: %d %s, want %s", body, a.status, a.body, want)
		}
	}
	for body, want := range map[string]string{
		`{}`:                                "400 missing_required_parameter keys",
		`{"keys":[],"key_aliases":null}`:    "400 missing_required_parameter keys",
		`{"keys":["nonsense"]}`:             "400 invalid_value keys[0]",
		`{"keys":["sk-nobody-has-this-0"]}`: "404 key_not_found",
		`{"key_aliases":["nope"]}`:          "404 key_not_found key_aliases[0]",
		`{"key_aliases":[""]}`:              "404 key_not_found key_aliases[0]",
		`{"keys":["sk-nobody-has-this-0"],"key_aliases":["a"]}`:           "400 invalid_value key_aliases",
		`{"key_aliases":["a"` + strings.Repeat(`,"a"`, maxDeleted) + `]}`: "400 too_long keys",
	} {
		if a := ask(t, s, "POST /key/delete", body, nil); fmt.Sprint(a.status, " ", a.refusal(t)) != want {
			t.Errorf("%.80s: %d %s, want %s", body, a.status, a.body, want)
		}
	}
}

// What a request says of a key it may not see does not depend on whether there is one.
func TestKeysOfOthers(t *testing.T) {
	s, _ := newFake(t)
	made, _ := ask(t, s, "POST /key/generate", `{}`, nil).json(t)["key"].(string)
	there, nowhere := ask(t, s, "GET /key/info?key="+made, "", as(plainKey)), ask(t, s, "GET /key/info?key=sk-nobody-has-this-0", "", as(plainKey))
	if there.status != http.StatusForbidden || there.body != nowhere.body || there.status != nowhere.status {
		t.Errorf("%d %s\n%d %s", there.status, there.body, nowhere.status, nowhere.body)
	}
	own := ask(t, s, "GET /key/info", "", as(plainKey))
	record, _ := own.json(t)["info"].(map[string]any)
	if own.status != http.StatusOK || record["key_alias"] != "app" || record["created_at"] != nil {
		t.Errorf("a key of the file: %d %s", own.status, own.body)
	}
	if a := ask(t, s, "GET /key/info", "", nil); a.status != http.StatusNotFound {
		t.Errorf("the master key: %d %s", a.status, a.body)
	}
}

func TestKeyList(t *testing.T) {
	s, _ := newFake(t)
	for i := range 25 {
		if a := ask(t, s, "POST /key/generate", fmt.Sprintf(`{"key_alias":"k%d","models":["fast"]}`, i), nil); a.status != http.StatusOK {
			t.Fatal(a.body)
		}
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
	v := ask(t, s, "GET /key/list?page=2147483647&size=100", "", nil).json(t)
	if list, _ := v["keys"].([]any); len(list) != 0 {
		t.Errorf("the last page: %v", v)
	}
	v = ask(t, s, "GET /key/list?key_alias=k7&return_full_object=true", "", nil).json(t)
	list, _ := v["keys"].([]any)
	if record, _ := list[0].(map[string]any); len(list) != 1 || record["key_alias"] != "k7" || record["token"] == nil || v["total_count"] != 1.0 {
		t.Errorf("%v", v)
	}
	v = ask(t, s, "GET /key/list?key_alias=nope", "", nil).json(t)
	if list, ok := v["keys"].([]any); !ok || len(list) != 0 || v["total_count"] != 0.0 {
		t.Errorf("%v", v)
	}
}

// Months end on the day they begin on, which is the one thing of a duration that
// the arithmetic of hours gets wrong.
func TestKeyExpires(t *testing.T) {
	now := time.Date(2028, 1, 31, 9, 30, 0, 0, time.UTC)
	k, _, err := newKey(&gatewayv1.GenerateKeyRequest{Duration: new("1mo")}, now)
	if want := time.Date(2028, 2, 29, 9, 30, 0, 0, time.UTC); err != nil || !k.Expires.Equal(want) {
		t.Errorf("%v %v", k.Expires, err)
	}
}

// A key that is chosen is the key that is made, and nothing of it is in its
// record but the hash and the last four characters.
func TestChosenKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := "sk-" + rapid.StringMatching(`[A-Za-z0-9_-]{13,60}`).Draw(t, "key")
		k, shown, err := newKey(&gatewayv1.GenerateKeyRequest{Key: &secret, KeyAlias: "a"}, time.Time{})
		if err != nil || shown != secret || k.Hash != id.HashKey(secret) || k.Name != keys.DisplayName(secret) || !k.Expires.IsZero() {
			t.Fatalf("%v %v %v", k, shown, err)
		}
	})
}
