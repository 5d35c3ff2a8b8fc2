package cluster_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/modelgateway/modelgateway/cluster"
)

// TestRestoreAnnouncesItsMemory: every node is notified before it stores a piece of a
// restore and before it commits the restore, and again afterwards. With that, the process
// collects its heap early. The node that reads the file is notified for that, too.
func TestRestoreAnnouncesItsMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 41)
		defer l.close()
		begun, active := make([]atomic.Int64, 3), make([]atomic.Int64, 3)
		for i := range 3 {
			h := l.add(3)
			h.configure = func(c *cluster.Config) {
				c.BeginRestore = func() func() {
					begun[i].Add(1)
					active[i].Add(1)
					return func() { active[i].Add(-1) }
				}
			}
			h.start()
		}
		if err := l.ready(l.hosts, settleTime); err != nil {
			t.Fatal(err)
		}
		ctx, through := t.Context(), l.hosts[0].node()
		const pieces = 3 // of a megabyte, which the keys' metadata fill
		for i := range pieces * 5 {
			k := newKey(fmt.Sprint("large", i))
			k.Metadata = `{"note":"` + strings.Repeat("x", 200<<10) + `"}`
			if err := createKey(ctx, through, k); err != nil {
				t.Fatal(err)
			}
		}
		var backup bytes.Buffer
		if err := through.Backup(ctx, &backup); err != nil {
			t.Fatal(err)
		}
		if err := restore(ctx, through, backup.Bytes()); err != nil {
			t.Fatal(err)
		}
		if err := l.same(); err != nil {
			t.Fatal(err)
		}
		const commit = 1
		for i, h := range l.hosts {
			least := int64(pieces + commit)
			if i == 0 {
				least++ // it reads the file
			}
			if got := begun[i].Load(); got < least {
				t.Errorf("%s was notified %d times of %d pieces and the commit", h.name, got, pieces)
			}
			if left := active[i].Load(); left != 0 {
				t.Errorf("%s was not notified of the end of %d steps", h.name, left)
			}
		}
	})
}
