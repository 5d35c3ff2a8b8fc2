package e2e

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSnapshotOfAnOlderVersion restores a snapshot that another version of the gateway
// made, in both ways, and uses what comes back. e2e/testdata/snapshots/README.md says what is
// in the snapshot.
func TestSnapshotOfAnOlderVersion(t *testing.T) {
	files, err := filepath.Glob("e2e/testdata/snapshots/*.snapshot.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no snapshots: %v", err)
	}
	for _, file := range files {
		for _, way := range []struct {
			name, query, spend string
		}{
			{"settings", "", "0"},
			{"full", "&full=yes", "0.00000405"},
		} {
			t.Run(filepath.Base(file)+"/"+way.name, func(t *testing.T) {
				g := startGateway(t, models(newUpstream(t), "fast=openai/fake-gpt"))
				g.restores(unpacked(t, file), way.query)
				g.hasOlderSettings(way.spend)
			})
		}
	}
}

func unpacked(t *testing.T, file string) []byte {
	t.Helper()
	packed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// restores has the gateway restore a snapshot.
func (g *gatewayProcess) restores(snapshot []byte, query string) {
	g.t.Helper()
	a := g.do(http.MethodPost, "/cluster/restore?confirm=yes"+query, bytes.NewReader(snapshot), with("Content-Type", "application/octet-stream"))
	if a.status != http.StatusOK {
		g.t.Fatalf("the restore is answered with %d %s", a.status, a.body)
	}
	g.awaitReady()
}

// hasOlderSettings looks for what make.sh of e2e/testdata/snapshots created. The customer has
// spent that many dollars.
func (g *gatewayProcess) hasOlderSettings(spend string) {
	g.t.Helper()
	for _, want := range []struct{ path, part string }{
		{"/organization/info?organization_id=acme", `"organization_alias":"Acme"`},
		{"/team/info?team_id=red", `"team_alias":"Red"`},
		{"/team/info?team_id=red", `"max_budget":50`},
		{"/team/info?team_id=red", `"user_id":"ada"`},
		{"/user/info?user_id=ada", `"user_email":"ada@example.com"`},
		{"/customer/info?end_user_id=alice", `"alias":"Alice"`},
		{"/customer/info?end_user_id=alice", `"budget_id":"monthly"`},
		{"/customer/info?end_user_id=alice", `"total_spend":` + spend + `,`},
		{"/budget/list", `"max_budget":25,`},
		{"/prompts", `"content":"Hello {{name}}"`},
		{"/key/info?key=" + olderTeamKey, `"key_alias":"of-team"`},
		{"/key/info?key=" + olderTeamKey, `"max_budget":10,`},
		{"/key/info?key=" + olderUserKey, `"user_id":"ada"`},
		{"/model/info", `"id":"stored-id"`},
	} {
		if a := g.get(want.path); a.status != http.StatusOK || !strings.Contains(a.body, want.part) {
			g.t.Errorf("%s has no %s: %d %s", want.path, want.part, a.status, a.body)
		}
	}
	for _, use := range []struct {
		key, model string
		status     int
	}{
		{olderTeamKey, "fast", http.StatusOK},
		{olderUserKey, "fast", http.StatusOK},
		{olderUserKey, "stored", http.StatusForbidden},
		{"sk-older-none-0123456789abcdef", "fast", http.StatusUnauthorized},
	} {
		if a := g.chat(request(use.model, `,"user":"alice"`), with("Authorization", "Bearer "+use.key)); a.status != use.status {
			g.t.Errorf("%s is answered with %d for %s, want %d: %s", use.key, a.status, use.model, use.status, a.body)
		}
	}
}

// The keys that make.sh of e2e/testdata/snapshots chose.
const (
	olderTeamKey = "sk-older-team-0123456789abcdef"
	olderUserKey = "sk-older-user-0123456789abcdef"
)
