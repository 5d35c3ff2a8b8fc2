//go:build linux

package e2e

import (
	"bytes"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A backup that was made through any node brings back, on all nodes, what there
// was, and a file that is not whole changes nothing.
func TestClusterBackup(t *testing.T) {
	if !inLab(t) {
		return
	}
	c := startCluster(t, 3, clusterOptions{})
	leader := c.awaitLeader()
	a, b := c.others(leader)[0], c.others(leader)[1]
	before := c.createKey(a, "before")
	c.createModel(b, "stored", "openai/fake-gpt", "stored-id")
	file := filepath.Join(t.TempDir(), "backup")
	c.manages(a, "snapshot", file)
	after := c.createKey(b, "after")
	c.deleteKey(a, before)
	c.deleteModel(leader, "stored-id")
	c.createModel(a, "newer", "openai/fake-gpt", "newer-id")
	c.awaitAgreement()
	changed := func() {
		t.Helper()
		for _, n := range c.nodes {
			for _, want := range []struct {
				key, model string
				status     int
			}{{before, "fast", http.StatusUnauthorized}, {after, "newer", http.StatusOK}, {after, "stored", http.StatusNotFound}} {
				if s := c.chat(n.i, want.key, want.model); s != want.status {
					t.Errorf("node %d answers %d for %s, want %d", n.i, s, want.model, want.status)
				}
			}
		}
	}
	changed()

	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 1
	for name, content := range map[string][]byte{
		"flipped": flipped, "short": whole[:len(whole)-1], "long": append(bytes.Clone(whole), 0), "another": bytes.Repeat([]byte("x"), 4096),
	} {
		damaged := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(damaged, content, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, through := range []int{leader, b} {
			if out, err := c.cli(through, "restore", "--yes", damaged); err == nil {
				t.Fatalf("a %s file is restored through node %d: %s", name, through, out)
			}
		}
	}
	if _, err := c.cli(a, "restore", file); err == nil {
		t.Error("a backup is restored without --yes")
	}
	changed()
	c.sameState()

	c.manages(b, "restore", "--yes", file)
	for _, n := range c.nodes {
		c.until("all nodes have what was restored", func() bool {
			return c.chat(n.i, before, "stored") == http.StatusOK &&
				c.chat(n.i, after, "fast") == http.StatusUnauthorized && c.chat(n.i, before, "newer") == http.StatusNotFound
		})
	}
	c.sameState()
	c.kill9(leader) // what was restored is on the disks, as everything else
	c.restart(leader)
	c.awaitLeader()
	if s := c.chat(leader, before, "stored"); s != http.StatusOK {
		t.Errorf("after a restart node %d answers %d", leader, s)
	}
	c.awaitWrite(leader, "goes-on")
	c.sameState()
}

// What is secret is nowhere: not in what nodes say, not on their disks, not in a
// backup, and not after a node has got its state from another.
func TestClusterKeepsSecrets(t *testing.T) {
	if !inLab(t) {
		return
	}
	c := startCluster(t, 3, clusterOptions{})
	const credential = "provider-key-mark-of-the-stored-credential-8d21"
	key := c.createKey(1, "app")
	own := chosen("mark-of-a-key-that-the-caller-chose-44f0")
	if v, a, _ := c.makeKey(2, "chosen", "mark-of-a-key-that-the-caller-chose-44f0"); v != done {
		t.Fatalf("%+v", a)
	}
	c.createModel(3, "stored", "openai/fake-gpt", strings.TrimPrefix(credential, "provider-key-"))
	c.createModel(2, "wrong", "openai/fail-401", "another")
	var seen strings.Builder
	look := func(i int, path string) {
		a, err := c.try(i, http.MethodGet, path, "", adminKey)
		if err != nil || a.status != http.StatusOK {
			t.Errorf("%s on node %d: %v %+v", path, i, err, a)
			return
		}
		seen.WriteString(a.body)
	}
	for _, n := range c.nodes {
		for _, k := range []string{key, own} {
			c.until("all nodes have everything", func() bool { return c.chat(n.i, k, "stored") == http.StatusOK })
			if a, err := c.try(n.i, http.MethodPost, "/v1/chat/completions", request("wrong", ""), k); err == nil {
				seen.WriteString(a.body)
			}
		}
		for _, path := range []string{
			"/cluster/status?checksum=true", "/cluster/members", "/metrics", "/model/info", "/key/list?return_full_object=true", "/router/settings", "/spend/logs",
		} {
			look(n.i, path)
		}
		look(n.i, "/key/info?key="+key)
		if a, err := c.try(n.i, http.MethodPost, "/key/generate", `{"key_alias":"again","key":"`+own+`"}`, adminKey); err == nil {
			seen.WriteString(a.body) // refused, for there is one
		}
	}
	if !strings.Contains(c.provider.Requests()[0].Headers.Get("Authorization"), credential) {
		t.Error("the provider does not get the credential, so it was not looked for")
	}
	file := filepath.Join(t.TempDir(), "backup")
	c.manages(2, "snapshot", file)
	sealed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	seen.Write(sealed)
	lost := c.id(3)
	c.kill9(3)
	c.wipe(3)
	c.awaitLeader(1, 2) // it may have been that one
	c.manages(1, "remove", lost)
	c.restart(3) // it gets the state from the others
	if s := c.chat(3, own, "stored"); s != http.StatusOK {
		t.Errorf("a new node answers %d", s)
	}
	for _, n := range c.nodes {
		c.stop(n.i)
		seen.WriteString(n.log.String())
		seen.WriteString(disk(t, n.data))
	}
	for _, mark := range []string{adminKey, clusterSecret, key, own, credential} {
		if i := strings.Index(seen.String(), mark); i >= 0 {
			t.Errorf("%s is to be seen: …%q…", mark, seen.String()[max(0, i-200):min(seen.Len(), i+100)])
		}
	}
	for _, plain := range []string{tokenOf(own), "10.77.0.2:7400"} { // what is no secret, to be sure that it was looked
		if !strings.Contains(seen.String(), plain) {
			t.Errorf("%s is not to be seen, so nothing was looked at", plain)
		}
	}
}

// disk returns all that is in the files of a directory.
func disk(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		all.Write(b)
		return err
	})
	if err != nil || all.Len() == 0 {
		t.Fatalf("%d bytes in %s, %v", all.Len(), dir, err)
	}
	return all.String()
}
