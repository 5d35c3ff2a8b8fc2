package mgmt

import (
	"encoding/binary"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// TestReportsOfManyKeys requests eight reports over many keys at once, each of other days so
// that none is shared. The heap must stay below twice the bound in proportion: 150 MiB for
// 100,000 keys. The fake ledger copies its keys for each read. The test sets the garbage
// collector as the gateway does.
func TestReportsOfManyKeys(t *testing.T) {
	o := newOffice(t)
	keys, batch := 10_000, 1000
	defer debug.SetGCPercent(debug.SetGCPercent(25))
	for first := 0; first < keys; first += batch {
		var events []*clusterv1.UsageEvent
		for n := first; n < first+batch; n++ {
			e := used(time.Date(2026, 6, 29, 10, 0, 0, 0, time.UTC), int64(n+1))
			var h id.KeyHash
			binary.BigEndian.PutUint64(h[:], uint64(n)*0x9e3779b97f4a7c15)
			e.KeyHash, e.KeyAlias, e.Team, e.Organization = h[:], "key "+strconv.Itoa(n), "red", "acme"
			events = append(events, e)
		}
		o.node.post(t, events...)
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	runtime.GC()
	idle, most := heap(), uint64(0)
	done := make(chan struct{})
	var watch, all sync.WaitGroup
	watch.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
				most = max(most, heap())
			}
		}
	})
	for n := range 8 {
		all.Go(func() {
			path := "/team/daily/activity?team_id=red&start_date=2026-06-0" + strconv.Itoa(n+1) + "&end_date=2026-06-30"
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
			r.Header.Set("Authorization", "Bearer "+masterKey)
			w := &sizeOnly{header: http.Header{}}
			o.mux.ServeHTTP(w, r)
			if w.status > http.StatusOK || w.size < 10_000 || w.size > 2<<20 {
				t.Errorf("status %d, %d bytes", w.status, w.size)
			}
		})
	}
	all.Wait()
	close(done)
	watch.Wait()
	above := int64(most) - int64(idle)
	t.Logf("%d keys: %d KiB above idle", keys, above>>10)
	if above > 30<<20 {
		t.Errorf("eight reports took %d MiB", above>>20)
	}
}

// sizeOnly takes an answer and keeps its size.
type sizeOnly struct {
	header http.Header
	status int
	size   int
}

func (w *sizeOnly) Header() http.Header    { return w.header }
func (w *sizeOnly) WriteHeader(status int) { w.status = status }
func (w *sizeOnly) Write(b []byte) (int, error) {
	n, err := io.Discard.Write(b)
	w.size += n
	return n, err
}
