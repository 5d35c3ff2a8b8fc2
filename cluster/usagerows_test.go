package cluster_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelgateway/modelgateway/cluster/ledger"
)

// TestUsageRows reads the usage records in the order of recording: on each node they have the same numbers, and
// they are the records of a query. A record that was posted before all nodes knew the log of records has a number
// before the others, with a gap.
func TestUsageRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := startedLab(t, 7, 3)
		defer l.close()
		if err := l.ready(l.hosts, settleTime); err != nil {
			t.Fatal(err)
		}
		s := newSpender(l, "s", 0)
		s.work(time.Now().Add(20*time.Second), l.hosts)
		l.balance([]*spender{s})
		var first []string
		for i, h := range l.hosts {
			rows, count := rowsOf(t, h)
			if i == 0 {
				first = rows
			}
			if len(rows) == 0 || !slices.Equal(rows, first) || count != uint64(len(rows)) {
				t.Errorf("%s has %d rows and counts %d, and the first node has %d", h.name, len(rows), count, len(first))
			}
			queried := 0
			if err := h.node().Logs(t.Context(), ledger.LogFilter{}, func(ledger.Record) bool { queried++; return true }); err != nil || queried != len(rows) {
				t.Errorf("%s: a query finds %d records of %d: %v", h.name, queried, len(rows), err)
			}
		}
	})
}

// rowsOf returns the names and numbers of a node's rows, and their count.
func rowsOf(t *testing.T, h *host) (rows []string, count uint64) {
	t.Helper()
	from, last := h.node().UsageRows(), uint64(0)
	if err := from.From(t.Context(), 1, func(number uint64, r ledger.Record) bool {
		rows = append(rows, fmt.Sprintf("%d %s/%d/%d", number, r.Node, r.Epoch, r.Seq))
		if number <= last {
			t.Errorf("row %d comes after row %d", number, last)
		}
		last = number
		return true
	}); err != nil {
		t.Fatal(err)
	}
	count, err := from.Count(t.Context(), 1, math.MaxInt64)
	if err != nil {
		t.Fatal(err)
	}
	return rows, count
}
