package cli

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/e2e/porttest"
)

const cliKey = "sk-the-operators-key-0123456789"

// runCluster runs `modelgateway cluster` with arguments, and returns what it prints.
func runCluster(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c := clusterCommand()
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs(args)
	c.SetOut(&out)
	c.SetErr(&out)
	err := c.ExecuteContext(t.Context())
	return out.String(), err
}

// answering starts a server in the place of a gateway, and points the commands at it.
func answering(t *testing.T, h http.HandlerFunc) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	t.Setenv(envURL, s.URL)
	t.Setenv(envKey, cliKey)
}

const statusAnswer = `{"node":"n1","address":"10.0.0.1:7000","version":"v1","state":"leader","leader":{"node":"n1","address":"10.0.0.1:7000"},
"term":3,"commit_index":12,"applied_index":12,"revision":13,"members":[
{"node":"n1","address":"10.0.0.1:7000","voter":true,"alive":true,"state":"leader","applied_index":12,"lag":0,"contact_age":0,"journal_backlog":2,"version":"v1","config_matches":true,"state_hash":""},
{"node":"n2","address":"10.0.0.2:7000","voter":true,"alive":false,"state":"","applied_index":7,"lag":5,"contact_age":-1,"journal_backlog":0,"version":"","config_matches":false,"state_hash":""},
{"node":"n3","address":"10.0.0.3:7000","voter":true,"alive":true,"state":"follower","applied_index":12,"lag":0,"contact_age":0,"journal_backlog":0,"version":"v1","config_matches":false,"state_hash":""}],
"problems":["n2 does not answer"]}`

func TestClusterStatus(t *testing.T) {
	answering(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != "/cluster/status" || r.Header.Get("Authorization") != "Bearer "+cliKey {
			t.Errorf("%s %s %s", r.Method, r.URL, r.Header)
		}
		_, _ = io.WriteString(w, statusAnswer)
	})
	out, err := runCluster(t, "status")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"n1 at 10.0.0.1:7000", "revision", "13", "n2", "differs", "problem: n2 does not answer"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	out, err = runCluster(t, "status", "-o", "json")
	if err != nil || !strings.Contains(out, `"commit_index": 12`) || !strings.HasPrefix(out, "{") {
		t.Errorf("%v\n%s", err, out)
	}
	if strings.Contains(out, cliKey) {
		t.Error("the key is shown")
	}
}

func TestClusterMembersAndRemove(t *testing.T) {
	var asked []string
	answering(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.EscapedPath())
		if r.Method == http.MethodDelete {
			_, _ = io.WriteString(w, `{"node_id":"n2","removed":true}`)
			return
		}
		_, _ = io.WriteString(w, `{"members":[{"node":"n2","address":"h:1","voter":false,"alive":true,"state":"follower","config_matches":true}]}`)
	})
	out, err := runCluster(t, "members")
	if err != nil || !strings.Contains(out, "NODE") || !strings.Contains(out, "follower") {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = runCluster(t, "remove", "n2/../x")
	if err != nil || !strings.Contains(out, "removed") {
		t.Errorf("%v\n%s", err, out)
	}
	if want := "GET /cluster/members,DELETE /cluster/members/n2%2F..%2Fx"; strings.Join(asked, ",") != want {
		t.Errorf("asked %s", asked)
	}
}

// A snapshot is there as a whole or not at all.
func TestClusterSnapshotIsWholeOrNotThere(t *testing.T) {
	whole := true
	answering(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("state", 100_000))
		if !whole {
			panic(http.ErrAbortHandler)
		}
	})
	dir := t.TempDir()
	file := filepath.Join(dir, "backup")
	if out, err := runCluster(t, "snapshot", file); err != nil || !strings.Contains(out, "500000 bytes") {
		t.Fatalf("%v %s", err, out)
	}
	whole = false
	if _, err := runCluster(t, "snapshot", file); err == nil || !strings.Contains(err.Error(), "nothing was saved") {
		t.Errorf("a snapshot that broke off: %v", err)
	}
	if b, err := os.ReadFile(file); err != nil || len(b) != 500_000 {
		t.Errorf("the file that was there: %d bytes, %v", len(b), err)
	}
	if _, err := runCluster(t, "snapshot", filepath.Join(dir, "other")); err == nil {
		t.Error("a snapshot that broke off is no error")
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Errorf("left behind: %v %v", names, err)
	}
	if _, err := runCluster(t, "snapshot", filepath.Join(dir, "no", "such", "folder")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

func TestClusterRestoreAsks(t *testing.T) {
	var got string
	answering(t, func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Query().Get("confirm") != "yes" || r.Header.Get("Content-Type") != "application/octet-stream" || r.ContentLength != 5 {
			t.Errorf("%v %s %s %d", err, r.URL, r.Header, r.ContentLength)
		}
		got = string(b)
		_, _ = io.WriteString(w, `{"restored":true}`)
	})
	file := filepath.Join(t.TempDir(), "backup")
	if err := os.WriteFile(file, []byte("state"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := runCluster(t, "restore", file); err == nil || !strings.Contains(err.Error(), "--yes") || got != "" {
		t.Errorf("without --yes: %v, sent %q", err, got)
	}
	if _, err := runCluster(t, "restore", file, "--yes"); err != nil || got != "state" {
		t.Errorf("%v, sent %q", err, got)
	}
	if _, err := runCluster(t, "restore", filepath.Dir(file), "--yes"); err == nil {
		t.Error("a folder was sent")
	}
}

// Every error says what to do, and none shows the key.
func TestClusterErrorsHaveARemedy(t *testing.T) {
	nobody := "http://" + porttest.Free(t).String()
	refusing := func(status int, body string, headers ...string) *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i+1 < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}))
		t.Cleanup(s.Close)
		return s
	}
	const refusal = `{"error":{"message":"No majority.","type":"x","param":null,"code":"service_unavailable"},"detail":"No majority."}`
	for name, c := range map[string]struct {
		url, key string
		want     string
	}{
		"nobody listens":  {nobody, cliKey, "modelgateway serve"},
		"no key":          {nobody, "", envKey},
		"no address":      {"localhost:8080", cliKey, "--url"},
		"key in the url":  {"http://" + cliKey + "@127.0.0.1", cliKey, "user name"},
		"no majority":     {refusing(503, refusal, "Retry-After", "2").URL, cliKey, "No majority. (503 Service Unavailable, service_unavailable); try again in 2 s"},
		"wrong key":       {refusing(401, refusal).URL, cliKey, envKey},
		"somebody else":   {refusing(200, `<html>`).URL, cliKey, "is it a gateway"},
		"somebody's 404":  {refusing(404, `<html>`).URL, cliKey, "check --url"},
		"a redirect":      {refusing(302, ``, "Location", nobody).URL, cliKey, "check --url"},
		"an odd language": {"http://127.0.0.1:1\n", cliKey, "--url"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(envURL, c.url)
			t.Setenv(envKey, c.key)
			out, err := runCluster(t, "status")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if strings.Contains(out, cliKey) || err != nil && strings.Contains(err.Error(), cliKey) {
				t.Errorf("the key is shown: %s %v", out, err)
			}
		})
	}
	t.Setenv(envKey, cliKey)
	if _, err := runCluster(t, "status", "-o", "yaml"); err == nil || !strings.Contains(err.Error(), "table or json") {
		t.Errorf("-o yaml: %v", err)
	}
	if help, err := runCluster(t, "status", "--help"); err != nil || strings.Contains(help, cliKey) {
		t.Errorf("the help shows the key: %v", err)
	}
}
