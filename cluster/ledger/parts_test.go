package ledger_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/ledger"
)

// TestParts reads one owner's spend per model, in order and as far as requested, and nothing of
// owners whose name has that one's as a prefix.
func TestParts(t *testing.T) {
	t.Parallel()
	s := open(t)
	n := uint64(0)
	for _, of := range [][2]string{{"red", "b"}, {"red", "a"}, {"redder", "c"}, {"re", "d"}, {"red", "a"}} {
		n++
		e := attempt(1, int64(n))
		e.Team, e.Group = of[0], of[1]
		if _, f := post(t, s, run(t, "n1", n, e), day0()); f != nil {
			t.Fatal(f)
		}
	}
	parts := func(most int) (out []string) {
		if err := ledger.Parts(t.Context(), s, id.AccountTeamModel, "red", func(part string, s ledger.State) bool {
			out = append(out, fmt.Sprint(part, " ", s.Window.Pico()))
			return len(out) < most
		}); err != nil {
			t.Fatal(err)
		}
		return out
	}
	for most, want := range map[int][]string{1: {"a 0.000000000007"}, 9: {"a 0.000000000007", "b 0.000000000001"}} {
		if diff := cmp.Diff(want, parts(most)); diff != "" {
			t.Errorf("%d (- want):\n%s", most, diff)
		}
	}
}
