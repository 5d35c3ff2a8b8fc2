package mgmt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	"github.com/modelgateway/modelgateway/mgmt/rest"
)

func TestClusterIsShown(t *testing.T) {
	s, n := newFake(t)
	a := ask(t, s, "GET /cluster/status", "", nil)
	v := a.json(t)
	if a.status != http.StatusOK || v["state"] != "follower" || v["commit_index"] != float64(1<<40) || fmt.Sprint(v["leader"]) != "map[address:10.0.0.2:7000 node:22222222222222222222222222222222]" || a.header.Get(operation.HeaderRevision) != "41" {
		t.Errorf("%s", a.body)
	}
	list, _ := ask(t, s, "GET /cluster/members", "", nil).json(t)["members"].([]any)
	first, _ := list[0].(map[string]any)
	second, _ := list[1].(map[string]any)
	if len(list) != 2 || first["contact_age"] != 1.5 || first["lag"] != 5.0 || first["voter"] != true || second["contact_age"] != -1.0 || second["alive"] != false {
		t.Errorf("%v", list)
	}
	for target, body := range map[string]string{
		"POST /cluster/remove": `{"node_id":"33333333333333333333333333333333"}`,
		"DELETE /cluster/members/33333333333333333333333333333333": "",
	} {
		if a := ask(t, s, target, body, nil); a.status != http.StatusOK || a.json(t)["removed"] != true {
			t.Errorf("%s: %d %s", target, a.status, a.body)
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.mu.removed) != 2 {
		t.Errorf("removed %v", n.mu.removed)
	}
}

// A snapshot is complete, or its connection is cut.
func TestSnapshotIsWholeOrCut(t *testing.T) {
	s, n := newFake(t)
	srv := httptest.NewServer(s.mux)
	defer srv.Close()
	fetch := func() (int, string, error) {
		r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, srv.URL+"/cluster/snapshot", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+masterKey)
		a, err := srv.Client().Do(r)
		if err != nil {
			return 0, "", err
		}
		defer func() { _ = a.Body.Close() }()
		b, err := io.ReadAll(a.Body)
		return a.StatusCode, a.Header.Get("Content-Type") + " " + string(b), err
	}
	n.mu.Lock()
	n.mu.backup = []byte("the state")
	n.mu.Unlock()
	if status, body, err := fetch(); status != http.StatusOK || body != rest.BinaryType+" the state" || err != nil {
		t.Errorf("%d %q %v", status, body, err)
	}
	n.fail(errors.New("the disk fails"))
	if _, body, err := fetch(); err == nil {
		t.Errorf("it broke off and nobody was told: %q", body)
	}
	n.mu.Lock()
	n.mu.backup = nil
	n.mu.Unlock()
	if status, _, err := fetch(); status != http.StatusInternalServerError || err != nil {
		t.Errorf("%d %v", status, err)
	}
}

func TestRestoreNeedsTheWord(t *testing.T) {
	s, n := newFake(t)
	binary := with("Content-Type", rest.BinaryType)
	for target, want := range map[string]string{
		"POST /cluster/restore":             "422 confirmation_required confirm",
		"POST /cluster/restore?confirm=no":  "422 confirmation_required confirm",
		"POST /cluster/restore?confirm=yes": "415 unsupported_media_type", // it says JSON
	} {
		change := binary
		if strings.HasPrefix(want, "415") {
			change = nil
		}
		if a := ask(t, s, target, "the state", change); fmt.Sprint(a.status, " ", a.refusal(t)) != want {
			t.Errorf("%s: %d %s", target, a.status, a.body)
		}
	}
	if a := ask(t, s, "POST /cluster/restore?confirm=yes", "", binary); a.refusal(t) != "invalid_snapshot" {
		t.Errorf("an empty file: %d %s", a.status, a.body)
	}
	n.mu.Lock()
	if n.mu.restore != nil {
		t.Error("something was restored")
	}
	n.mu.Unlock()
	large := strings.Repeat("state", rest.MaxBody) // larger than any JSON may be
	a := ask(t, s, "POST /cluster/restore", large, func(r *http.Request) {
		r.Header.Set("Content-Type", rest.BinaryType)
		r.Header.Set(headerConfirm, "yes")
	})
	n.mu.Lock()
	if a.status != http.StatusOK || string(n.mu.restore) != large {
		t.Errorf("%d %s, %d bytes", a.status, a.body, len(n.mu.restore))
	}
	n.mu.Unlock()
	n.fail(fault.New(fault.Malformed, "invalid_snapshot", "This is no snapshot."))
	if a := ask(t, s, "POST /cluster/restore?confirm=yes", "nonsense", binary); a.status != http.StatusBadRequest || a.refusal(t) != "invalid_snapshot" {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// The response lists restored and removed keys, and that of a full restore has another mode.
func TestRestoreSaysWhatItChanged(t *testing.T) {
	t.Parallel()
	s, n := newFake(t)
	binary := with("Content-Type", rest.BinaryType)
	a := ask(t, s, "POST /cluster/restore?confirm=yes", "the state", binary)
	const want = `{"restored":true,"mode":"settings","snapshot_time":"1970-01-01T00:00:01Z","revision":7,"changes":[` +
		`{"name":"keys","returned":2,"changed":3,"removed":1,"kept":4,"unblocked":1,"returned_keys":["0102"]},` +
		`{"name":"models","returned":0,"changed":0,"removed":0,"kept":2}],` +
		`"notes":["keys that were deleted or regenerated after the snapshot and are valid again: 2.",` +
		`"keys that were made after the snapshot and are not valid any more: 1.",` +
		`"keys that were blocked after the snapshot and are not blocked any more: 1."]}`
	if a.status != http.StatusOK || a.body != want {
		t.Errorf("%d %s", a.status, a.body)
	}
	if records := len(n.noticed()); records != 0 {
		t.Errorf("%d records besides the one in the change", records)
	}
	a = ask(t, s, "POST /cluster/restore?confirm=yes&full=yes", "all of it", binary)
	if a.status != http.StatusOK || a.body != `{"restored":true,"mode":"full"}` || len(n.noticed()) != 1 {
		t.Errorf("%d %s", a.status, a.body)
	}
	for query, want := range map[string]string{"full=no": "invalid_value full", "accept_unusable=": "invalid_value accept_unusable", "ful=yes": "unknown_field ful"} {
		if a := ask(t, s, "POST /cluster/restore?confirm=yes&"+query, "the state", binary); a.refusal(t) != want {
			t.Errorf("%s: %d %s", query, a.status, a.body)
		}
	}
}
