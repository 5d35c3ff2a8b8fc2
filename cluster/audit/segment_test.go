package audit_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/bits"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// walked is the result of reading a chain from its first record.
type walked struct {
	records     []string // their lines in an export
	hashes      [][]byte
	checkpoints map[int]string // their lines, by size
}

// walkOf reads an export of the whole chain.
func walkOf(t *testing.T, s *store.Store) walked {
	t.Helper()
	var out strings.Builder
	if err := audit.WriteExport(t.Context(), &out, s, audit.Export{Workspace: workspace}); err != nil {
		t.Fatal(err)
	}
	w := walked{checkpoints: map[int]string{}}
	lines := strings.SplitAfter(out.String(), "\n")
	for _, line := range lines[1 : len(lines)-2] {
		if strings.HasPrefix(line, `{"checkpoint"`) {
			w.checkpoints[len(w.records)] = line
			continue
		}
		hash, err := hex.DecodeString(line[len(line)-len("\"}\n")-64 : len(line)-len("\"}\n")])
		if err != nil {
			t.Fatal(err)
		}
		w.records, w.hashes = append(w.records, line), append(w.hashes, hash)
	}
	return w
}

// subtree returns the root of some leaves, by the definition in RFC 6962.
func subtree(leaves [][]byte) []byte {
	h := sha256.New()
	switch len(leaves) {
	case 0:
	case 1:
		h.Write(append([]byte{0}, leaves[0]...))
	default:
		k := 1 << (bits.Len(uint(len(leaves)-1)) - 1)
		h.Write(append(append([]byte{1}, subtree(leaves[:k])...), subtree(leaves[k:])...))
	}
	return h.Sum(nil)
}

// export returns the expected export of a range of records.
func (w walked) export(from, to int) string {
	previous := func(n int) []byte {
		if n == 0 {
			h := sha256.Sum256([]byte("gwaudit1" + workspace))
			return h[:]
		}
		return w.hashes[n-1]
	}
	var complete []string
	for at, left := 0, from-1; left > 0; {
		n := 1 << (bits.Len(uint(left)) - 1)
		complete = append(complete, fmt.Sprintf(`"%x"`, subtree(w.hashes[at:at+n])))
		at, left = at+n, left-n
	}
	var out strings.Builder
	fmt.Fprintf(&out, `{"format":"modelgateway-audit/1","workspace":"default","first":%d,"previous_hash":"%x","frontier":[%s]}`+"\n",
		from, previous(from-1), strings.Join(complete, ","))
	for n := from - 1; n <= to; n++ {
		if n >= from {
			out.WriteString(w.records[n-1])
		}
		out.WriteString(w.checkpoints[n])
	}
	fmt.Fprintf(&out, `{"workspace":"default","last":%d,"head":"%x","root":"%x"}`+"\n", to, previous(to), subtree(w.hashes[:to]))
	return out.String()
}

// TestExportsFromAnywhere: an export of any part of a chain, trimmed or not, equals that part of
// an export of everything, and can be verified alone.
func TestExportsFromAnywhere(t *testing.T) {
	const size = 3*1024 + 17
	signer := newSigner(t)
	var states []*store.Store
	var whole walked
	for _, first := range []uint64{1, 1025, 2049} {
		s := open(t)
		for _, n := range []int{700, 323, 1, 1, 1023, 600, size - 2648} { // on both sides of where segments meet
			fill(t, s, n)
			sign(t, s, signer, base())
		}
		if first == 1 {
			whole = walkOf(t, s)
		}
		trim(t, s, first)
		states = append(states, s)
	}
	c := audit.Check{Verifiers: []audit.Verifier{signer.Verifier()}}
	edges := []int{1, 2, 1023, 1024, 1025, 1026, 2047, 2048, 2049, 2050, size, size + 1}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, len(states)-1).Draw(t, "state")
		from := rapid.OneOf(rapid.SampledFrom(edges), rapid.IntRange(1, size+1)).Draw(t, "from")
		to := max(1, min(from-1+rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(0, 400)).Draw(t, "how many"), size))
		first := max(from, 1024*n+1)
		last := max(to, first-1)
		var out bytes.Buffer
		x := audit.Export{Workspace: workspace, From: uint64(from), To: uint64(to)}
		if err := audit.WriteExport(context.Background(), &out, states[n], x); err != nil {
			t.Fatal(err)
		}
		if want := whole.export(first, last); want != out.String() {
			t.Fatalf("%d to %d (-want +got):\n%s", first, last, gocmp.Diff(firstAndLast(want), firstAndLast(out.String())))
		}
		r, err := audit.VerifyExport(context.Background(), &out, c)
		if err != nil || !r.Valid || r.Checked != uint64(last-first+1) || r.Before != uint64(first-1) {
			t.Fatalf("%+v %v", r, err)
		}
		r, err = audit.Verify(context.Background(), states[n], workspace, audit.Check{From: x.From, To: x.To, Verifiers: c.Verifiers})
		if err != nil || !r.Valid || r.Checked != uint64(last-first+1) {
			t.Fatalf("%+v %v", r, err)
		}
		if root := subtree(whole.hashes[:last]); r.Root != [32]byte{} && r.Root != [32]byte(root) {
			t.Fatalf("the root up to %d is %x, want %x", last, r.Root, root)
		}
	})
}

// firstAndLast returns the first and last lines of an export, for short diffs.
func firstAndLast(export string) []string {
	lines := strings.Split(export, "\n")
	return []string{lines[0], lines[len(lines)-2], fmt.Sprint(len(lines), " lines")}
}

// counting is a state that counts reads.
type counting struct {
	*store.Store
	reads int
}

func (c *counting) Get(space store.Space, key []byte) ([]byte, bool, error) {
	c.reads++
	return c.Store.Get(space, key)
}

func (c *counting) Scan(ctx context.Context, r store.Range, fn func(key, value []byte) bool) error {
	return c.Store.Scan(ctx, r, func(key, value []byte) bool {
		c.reads++
		return fn(key, value)
	})
}

// TestWorkDoesNotGrowWithTheChain: an operation on a part of the log makes as many reads in a
// long chain as in a short one.
func TestWorkDoesNotGrowWithTheChain(t *testing.T) {
	const last = 300
	key, rare := id.HashKey("sk-1"), id.HashKey("sk-rare")
	newest := func(f audit.Filter) func(*counting, uint64) (int, error) {
		return func(c *counting, size uint64) (n int, err error) {
			f.Limit, f.After = 20, size-100
			f.OldestFirst = !f.OldestFirst
			for range 2 { // either way from the same record
				f.OldestFirst = !f.OldestFirst
				err = audit.Query(t.Context(), c, workspace, f, func(audit.Record) bool { n++; return true })
				if err != nil {
					break
				}
			}
			return n, err
		}
	}
	early := func(f audit.Filter) func(*counting, uint64) (int, error) {
		return func(c *counting, _ uint64) (n int, err error) {
			return n, audit.Query(t.Context(), c, workspace, f, func(audit.Record) bool { n++; return true })
		}
	}
	work := map[string]func(c *counting, size uint64) (int, error){
		"export": func(c *counting, size uint64) (int, error) {
			var out bytes.Buffer
			err := audit.WriteExport(t.Context(), &out, c, audit.Export{Workspace: workspace, From: size - last + 1})
			return bytes.Count(out.Bytes(), []byte("\n")) - 2, err
		},
		"verify": func(c *counting, size uint64) (int, error) {
			r, err := audit.Verify(t.Context(), c, workspace, audit.Check{From: size - last + 1})
			return int(r.Checked), err
		},
		"verify with indexes": func(c *counting, size uint64) (int, error) {
			r, err := audit.Verify(t.Context(), c, workspace, audit.Check{From: size - last + 1, Indexes: true})
			return int(r.Checked), err
		},
		"from": func(c *counting, size uint64) (n int, err error) {
			return n, audit.From(t.Context(), c, workspace, size-last+1, func(audit.Record) bool { n++; return true })
		},
		"csv": func(c *counting, size uint64) (int, error) {
			var out bytes.Buffer
			err := audit.WriteCSV(&out, audit.Records(t.Context(), c, workspace, audit.Filter{After: size - last, OldestFirst: true}))
			return bytes.Count(out.Bytes(), []byte("\n")) - 1, err
		},
		"early of a key":      early(audit.Filter{KeyHash: &rare}),
		"early of a type":     early(audit.Filter{Type: "mfa.challenged"}),
		"early of an org":     early(audit.Filter{Org: "rare"}),
		"early of a request":  early(audit.Filter{Request: "req_rare", Org: "acme"}),
		"page":                newest(audit.Filter{}),
		"page of a key":       newest(audit.Filter{KeyHash: &key}),
		"page of a type":      newest(audit.Filter{Type: "key.created"}),
		"page of an org":      newest(audit.Filter{Org: "acme"}),
		"page of an org type": newest(audit.Filter{Org: "acme", Type: "request.routed"}),
	}
	reads := map[string][2]int{}
	// The mix of events repeats after 60, so both chains end alike.
	for i, size := range []uint64{1024 + 700, 16*1024 + 700} {
		s := open(t)
		for _, org := range []string{"rare", "acme"} {
			write(t, s, base(), &clusterv1.AuditEvent{Type: "mfa.challenged", OrgId: org, KeyHash: rare[:], RequestId: "req_rare"})
		}
		fill(t, s, int(size)-2)
		sign(t, s, newSigner(t), base())
		for name, of := range work {
			c := &counting{Store: s}
			n, err := of(c, size)
			if err != nil || n == 0 {
				t.Errorf("%s: %d records, %v", name, n, err)
			}
			both := reads[name]
			both[i] = c.reads
			reads[name] = both
		}
	}
	for name, n := range reads {
		more := 16 // a search for the first block takes a few steps more
		if name == "early of a request" {
			more += 2 * 15 * 1024 / 256 // each block's filter is asked
		}
		if n[1] > n[0]+more {
			t.Errorf("%s: %d reads of a short chain, %d of a long one", name, n[0], n[1])
		}
	}
	if n := reads["export"][1]; n > 1024+last+5 {
		t.Errorf("an export of %d records makes %d reads", last, n)
	}
}
