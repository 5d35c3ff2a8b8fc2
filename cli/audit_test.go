package cli

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// runAudit runs `modelgateway audit` with arguments, and returns what it prints.
func runAudit(t *testing.T, stdin io.Reader, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c := auditCommand()
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs(args)
	c.SetIn(stdin)
	c.SetOut(&out)
	c.SetErr(&out)
	err := c.ExecuteContext(t.Context())
	return out.String(), err
}

// logged is a data directory as a gateway leaves it, with an audit log.
type logged struct {
	data, key, note string // key is that of the checkpoint, note a file with it
}

// change opens the state and changes it.
func (l logged) change(t *testing.T, fn func(tx *store.Tx) error) {
	t.Helper()
	s, err := store.Open(store.Config{Dir: filepath.Join(l.data, "state", "7"), Kind: store.StateStore})
	if err != nil {
		t.Fatal(err)
	}
	tx := s.NewTx()
	defer tx.Close()
	if err := fn(tx); err != nil {
		t.Fatal(err)
	}
	if err := tx.CommitReplayable(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// txReader reads what a transaction sees.
type txReader struct {
	audit.Reader
	tx *store.Tx
}

// Get reads.
func (r txReader) Get(space store.Space, key []byte) ([]byte, bool, error) {
	return r.tx.Get(space, key)
}

func newLogged(t *testing.T) logged {
	t.Helper()
	l := logged{data: t.TempDir(), note: filepath.Join(t.TempDir(), "checkpoint")}
	s, err := store.Open(store.Config{Dir: filepath.Join(l.data, "store"), BallastBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	private, key := audit.NewSigner()
	l.key = key
	signer, err := audit.ParseSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 6, 29, 10, 0, 0, 0, time.UTC)
	l.change(t, func(tx *store.Tx) error {
		for i := range 5 {
			e := &clusterv1.AuditEvent{Type: "key.created", Actor: fmt.Sprint("admin-", i), TimeUnixNano: now.UnixNano()}
			if f := audit.Append(tx, audit.DefaultWorkspace, e, now); f != nil {
				return f
			}
		}
		head, err := audit.Head(txReader{tx: tx}, audit.DefaultWorkspace)
		if err != nil {
			return err
		}
		c, err := audit.Sign(head, audit.DefaultWorkspace, now, signer)
		if err != nil {
			return err
		}
		value, err := proto.Marshal(c)
		if err != nil {
			return err
		}
		tx.Set(store.SpaceCheckpoint, audit.CheckpointKey(audit.DefaultWorkspace, c.GetSize()), value)
		own, err := proto.Marshal(&clusterv1.AuditSigner{Verifier: key})
		if err != nil {
			return err
		}
		tx.Set(store.SpaceAuditSigner, []byte("signer"), own)
		return os.WriteFile(l.note, []byte(c.GetNote()), 0o600)
	})
	if err := os.WriteFile(filepath.Join(l.data, "state", "current"), []byte("7"), 0o600); err != nil {
		t.Fatal(err)
	}
	return l
}

// files are the names and contents of a directory.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range must(filepath.Glob(filepath.Join(dir, "*"))) {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(b)
	}
	return out
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestAuditVerify(t *testing.T) {
	l := newLogged(t)
	before := files(t, filepath.Join(l.data, "state", "7"))
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	if out, err := runAudit(t, nil, "export", "--data", l.data, "-o", file); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := runAudit(t, nil, "export", "--data", l.data, "-o", file); err == nil {
		t.Errorf("a file is overwritten: %s", out)
	}
	outer, err := runAudit(t, nil, "export", "--data", l.data, "-o", "-", "--external-only", "--from", audit.EventID(2), "--to", audit.EventID(4))
	if err != nil || strings.Contains(outer, "admin-") {
		t.Fatalf("%v\n%s", err, outer)
	}
	for _, x := range []struct {
		stdin string
		args  []string
		want  string
	}{
		{"", []string{"--data", l.data}, "1, of which 1 are signed"},
		{"", []string{"--data", l.data}, "which who can write there can replace"},
		{"", []string{"--data", l.data, "--checkpoint-key", l.key}, "cut off behind " + audit.EventID(5) + " only a later checkpoint"},
		{"", []string{"--export", file}, "No checkpoint vouches for these records"},
		{outer, []string{"--export", "-", "--checkpoint-key", l.key, "--json"}, `"covered_event_id": null`},
		{outer, []string{"--export", "-"}, "1 records come before these, which are not in the export"},
		{"", []string{"--data", l.data, "--checkpoint-key", l.key, "--checkpoint", l.note}, "2, of which 2 are signed"},
		{"", []string{"--data", l.data, "--json"}, `"valid": true`},
		{"", []string{"--export", file}, "1, of which 0 are signed"},
		{"", []string{"--export", file, "--checkpoint-key", l.key, "--checkpoint", l.note, "--json"}, `"checkpoints_signed": 2`},
		{outer, []string{"--export", "-"}, audit.EventID(4)},
		{compressed(t, outer), []string{"--export", "-"}, audit.EventID(4)},
	} {
		out, err := runAudit(t, strings.NewReader(x.stdin), append([]string{"verify"}, x.args...)...)
		if err != nil || !strings.Contains(out, x.want) {
			t.Errorf("%v: %v\n%s", x.args, err, out)
		}
	}
	if after := files(t, filepath.Join(l.data, "state", "7")); len(after) != len(before) {
		t.Errorf("the state has %d files, had %d", len(after), len(before))
	} else {
		for name, content := range before {
			if after[name] != content {
				t.Errorf("%s has changed", name)
			}
		}
	}
	if names := must(filepath.Glob(filepath.Join(l.data, "state", "*"))); len(names) != 2 {
		t.Errorf("left behind: %v", names)
	}
}

func TestAuditVerifyFindsIt(t *testing.T) {
	l := newLogged(t)
	l.change(t, func(tx *store.Tx) error {
		key := append([]byte(audit.DefaultWorkspace), 0, 0, 0, 0, 0, 0, 0, 0, 3)
		value, _, err := tx.Get(store.SpaceAudit, key)
		tx.Set(store.SpaceAudit, key, bytes.Replace(value, []byte("admin-2"), []byte("admin-9"), 1))
		return err
	})
	out, err := runAudit(t, nil, "verify", "--data", l.data, "--json")
	if err == nil || !strings.Contains(err.Error(), audit.EventID(3)) || !strings.Contains(out, `"broken_at": "`+audit.EventID(3)+`"`) {
		t.Errorf("%v\n%s", err, out)
	}
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	if out, err := runAudit(t, nil, "export", "--data", l.data, "-o", file); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err = runAudit(t, nil, "verify", "--export", file)
	if err == nil || !strings.Contains(err.Error(), audit.EventID(3)) || !strings.Contains(out, audit.EventID(2)) {
		t.Errorf("%v\n%s", err, out)
	}
	for _, bad := range []string{"{}\n", compressed(t, "{}\n"), compressed(t, string(must(os.ReadFile(file))))[:40], "\x1f\x8bx"} {
		if out, err = runAudit(t, strings.NewReader(bad), "verify", "--export", "-"); err == nil {
			t.Errorf("%q: %s", bad, out)
		}
	}
}

// compressed is what a bucket has of a file.
func compressed(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestAuditRefuses(t *testing.T) {
	l := newLogged(t)
	empty := t.TempDir()
	for _, x := range []struct {
		args []string
		want string
	}{
		{[]string{"verify"}, "export data"},
		{[]string{"verify", "--data", l.data, "--export", "x"}, "export data"},
		{[]string{"verify", "--data", empty}, "not the data directory"},
		{[]string{"verify", "--export", filepath.Join(empty, "none")}, "no such file"},
		{[]string{"verify", "--data", l.data, "--checkpoint-key", "x"}, "--checkpoint-key"},
		{[]string{"verify", "--data", l.data, "--checkpoint", filepath.Join(empty, "none")}, "--checkpoint"},
		{[]string{"export", "--data", l.data}, "output"},
		{[]string{"export", "--data", l.data, "-o", "-", "--from", "3"}, "--from 3"},
		{[]string{"export", "-o", "-", "--key", "sk-none", "--external-only"}, "go with --data"},
		{[]string{"export", "--data", l.data, "-o", "-", "--key", "sk-none"}, "data key"},
	} {
		out, err := runAudit(t, nil, x.args...)
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v: %v\n%s", x.args, err, out)
		}
	}
}

// auditHolder tells a process that is started by a test to open a data directory.
const auditHolder = "MODELGATEWAY_TEST_AUDIT_HOLDER"

// TestAuditHolder is what another process does: it has a data directory open until
// its standard input ends.
func TestAuditHolder(t *testing.T) {
	dir := os.Getenv(auditHolder)
	if dir == "" {
		dir = t.TempDir() // as a test of its own it only opens one
	}
	s, err := store.Open(store.Config{Dir: filepath.Join(dir, "store"), BallastBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv(auditHolder) != "" {
		fmt.Println("open")
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAuditOfARunningGateway(t *testing.T) {
	l := newLogged(t)
	holder := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAuditHolder$")
	holder.Env = append(os.Environ(), auditHolder+"="+l.data)
	stdin, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	for lines.Scan() && lines.Text() != "open" {
	}
	out, err := runAudit(t, nil, "verify", "--data", l.data)
	if err == nil || !strings.Contains(err.Error(), "a gateway runs on") || !strings.Contains(err.Error(), "/audit-log/verify") {
		t.Errorf("%v\n%s", err, out)
	}
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
	}
	if err := holder.Wait(); err != nil {
		t.Fatal(err)
	}
	if out, err := runAudit(t, nil, "verify", "--data", l.data); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
