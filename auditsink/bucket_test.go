package auditsink_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/auditsink"
	"github.com/modelgateway/modelgateway/cluster/delivery"
	"github.com/modelgateway/modelgateway/cluster/fault"
)

// objectsIn returns the lines of JSON below a directory, by name, unpacked.
func objectsIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".parquet") {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		out[name] = unpack(t, f)
		return errors.Join(err, f.Close())
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func unpack(t *testing.T, r io.Reader) string {
	t.Helper()
	z, err := gzip.NewReader(r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// exported is what an object of the records from first to last holds.
func exported(t *testing.T, log *chain, first, last uint64) string {
	t.Helper()
	var out strings.Builder
	if err := log.Export(t.Context(), &out, first, last); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestAnObjectAnHour: hours without records have none.
func TestAnObjectAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // begins at 2000-01-01 00:00 UTC
		b := newBench(t)
		dir := t.TempDir()
		c := b.config()
		c.BucketURL = "file://" + dir + "/a"
		_, stop := b.start(c)
		b.log.add(3)
		time.Sleep(time.Hour - time.Second)
		b.log.add(2)
		time.Sleep(10 * time.Second)
		if got := objectsIn(t, dir); len(got) != 0 {
			t.Errorf("objects before the hour was over: %v", got)
		}
		time.Sleep(time.Minute)
		b.log.add(1)
		time.Sleep(6 * time.Hour)
		b.log.add(1)
		time.Sleep(2 * time.Hour)
		want := map[string]string{
			"a/audit/default/2000/01/01/00-1-5.jsonl.gz": exported(t, b.log, 1, 5),
			"a/audit/default/2000/01/01/01-6-6.jsonl.gz": exported(t, b.log, 6, 6),
			"a/audit/default/2000/01/01/07-7-7.jsonl.gz": exported(t, b.log, 7, 7),
		}
		if diff := cmp.Diff(want, objectsIn(t, dir)); diff != "" {
			t.Error(diff)
		}
		stop()
		if at := b.cursors.read(delivery.Bucket); at != 8 {
			t.Errorf("the cursor is at %d", at)
		}
	})
}

// crashing is a log whose process ends, so to say, when an object is written.
type crashing struct {
	*chain
	after int // lines
}

func (c crashing) Export(ctx context.Context, w io.Writer, first, last uint64) error {
	if err := c.chain.Export(ctx, w, first, min(last, first+uint64(c.after))); err != nil {
		return err
	}
	return errors.New("no more")
}

// failing is a log that cannot be exported at some calls, and notes when it was asked.
type failing struct {
	*chain
	fails func(call int) bool
	calls *[]time.Time
}

func (f failing) Export(ctx context.Context, w io.Writer, first, last uint64) error {
	*f.calls = append(*f.calls, time.Now())
	if f.fails(len(*f.calls)) {
		return errors.New("not now")
	}
	return f.chain.Export(ctx, w, first, last)
}

// TestFirstRetryOfAnObjectDoesNotWait: an object that fails once is put again at once,
// one that fails again after a wait.
func TestFirstRetryOfAnObjectDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		dir := t.TempDir()
		c := b.config()
		c.BucketURL = "file://" + dir
		var calls []time.Time
		c.Source = failing{b.log, func(call int) bool { return call == 1 || call == 3 || call == 4 }, &calls}
		_, stop := b.start(c)
		for range 2 {
			b.log.add(3)
			time.Sleep(2 * time.Hour)
		}
		stop()
		if n := len(objectsIn(t, dir)); n != 2 || len(calls) != 5 {
			t.Fatalf("%d objects after %d attempts", n, len(calls))
		}
		if !calls[1].Equal(calls[0]) || !calls[3].Equal(calls[2]) || !calls[4].After(calls[3]) {
			t.Errorf("attempts at %v", calls)
		}
	})
}

// leaderless is a log that is read when an object is written, and no cursor is saved
// from then on.
type leaderless struct {
	*chain
	cursors *cursors
}

func (l leaderless) Export(ctx context.Context, w io.Writer, first, last uint64) error {
	l.cursors.set(true)
	return l.chain.Export(ctx, w, first, last)
}

// TestCrashesAroundAnObject: half an object is not seen, and one that was put before
// its cursor was saved is put again as it was.
func TestCrashesAroundAnObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		dir := t.TempDir()
		c := b.config()
		c.BucketURL = "file://" + dir
		b.log.add(5000)
		half := c
		half.Source = crashing{b.log, 3000}
		d, stop := b.start(half)
		time.Sleep(2 * time.Hour)
		if s := d.Status()[1]; !strings.Contains(s.Problem, "no more") {
			t.Errorf("status %+v", s)
		}
		stop()
		if got := objectsIn(t, dir); len(got) != 0 {
			t.Errorf("half an object is there: %v", got)
		}
		unsaved := c
		unsaved.Source = leaderless{b.log, b.cursors}
		d, stop = b.start(unsaved)
		time.Sleep(time.Minute)
		if s := d.Status()[1]; !strings.Contains(s.Problem, "saving") {
			t.Errorf("status %+v", s)
		}
		stop()
		if at := b.cursors.read(delivery.Bucket); at > 1 {
			t.Fatalf("the cursor is at %d: nothing is shown", at)
		}
		before := objectsIn(t, dir)
		b.cursors.set(false)
		_, stop = b.start(c)
		time.Sleep(time.Minute)
		stop()
		if diff := cmp.Diff(before, objectsIn(t, dir)); diff != "" || len(before) != 1 {
			t.Error(diff)
		}
		if at := b.cursors.read(delivery.Bucket); at != 5001 {
			t.Errorf("the cursor is at %d", at)
		}
	})
}

// TestAnObjectThatIsPutAgainStaysTheSame: a leader puts an object, and cannot save that it did. Then late
// records of the same hour arrive. The next leader puts the same object again, and the late records into
// another.
func TestAnObjectThatIsPutAgainStaysTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		dir := t.TempDir()
		c := b.config()
		c.BucketURL = "file://" + dir
		b.log.add(3)
		unsaved := c
		unsaved.Source = leaderless{b.log, b.cursors}
		_, stop := b.start(unsaved)
		time.Sleep(2 * time.Hour)
		stop()
		b.log.add(2)
		b.log.mu.Lock()
		for i := 3; i < 5; i++ {
			b.log.records[i].Recorded = b.log.records[0].Recorded
		}
		b.log.mu.Unlock()
		b.cursors.set(false)
		_, stop = b.start(c)
		time.Sleep(time.Minute)
		stop()
		want := map[string]string{
			"audit/default/2000/01/01/00-1-3.jsonl.gz": exported(t, b.log, 1, 3),
			"audit/default/2000/01/01/00-4-5.jsonl.gz": exported(t, b.log, 4, 5),
		}
		if diff := cmp.Diff(want, objectsIn(t, dir)); diff != "" {
			t.Error(diff)
		}
	})
}

// TestADirectoryThatIsAway: objects wait for it, and the webhook does not.
func TestADirectoryThatIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		dir := t.TempDir()
		file := filepath.Join(dir, "mounted")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		c := b.config()
		c.BucketURL = "file://" + file
		var reported sync.Map
		c.Report = func(about string, err error) { reported.Store(about, fmt.Sprint(err)) }
		_, stop := b.start(c)
		defer stop()
		b.log.add(3)
		time.Sleep(3 * time.Hour)
		if diff := cmp.Diff(ids(1, 3), b.to.taken()); diff != "" {
			t.Error(diff)
		}
		for _, about := range []string{"delivery bucket", "delivery audit_parquet"} {
			if said, _ := reported.Load(about); said == nil || !strings.Contains(said.(string), "not a directory") {
				t.Errorf("while it is away, %s is reported as %v", about, said)
			}
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		for _, about := range []string{"delivery bucket", "delivery audit_parquet"} {
			if said, _ := reported.Load(about); said != "<nil>" {
				t.Errorf("when it is back, %s is reported as %v", about, said)
			}
		}
		if got := objectsIn(t, file); len(got) != 1 {
			t.Errorf("%v", got)
		}
	})
}

func TestAddressesOfPlaces(t *testing.T) {
	for _, text := range []string{"file:///var/audit", "s3://bucket?region=eu-central-1", "azblob://container/prefix"} {
		d, err := auditsink.New(withBucket(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, text := range []string{"/var/audit", "file://host/a", "file:relative", "file:///a?b=c", "http://a/", "s3://", "gs://bucket", "mem://", "s3://canary:canary@bucket", "s3://a#b", "%zz"} {
		wantField(t, text, "audit.bucket_url", second(auditsink.New(withBucket(text))))
	}
	for _, text := range []string{
		"nats://a:4222/audit.events", "nats://user:pa%40ss@a:4222,b:4222/audit", "tls://token@a/audit", "nats://[::1]:4222/a?creds=/run/creds",
		"kafka://a:9092,b:9092/audit", "kafkas://user:pass@a:9092/audit?sasl=scram-sha-512",
	} {
		d, err := auditsink.New(withQueue(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, text := range []string{
		"a", "nats://a:4222", "nats://a:4222/", "nats://a/b.*", "nats:///a", "nats://a,,b/c", "nats://a/b?canary=1", "nats://us%zzer:canary@a/b", "kafka://a:9092", "kafka://user:canary@a/t?sasl=gssapi",
		"amqp://a/b", "awssqs://a", "kafka://a/b#c", "kafka://a/b?%zz",
	} {
		wantField(t, text, "audit.queue_url", second(auditsink.New(withQueue(text))))
	}
}

func withBucket(text string) (c auditsink.Config) { c.BucketURL = text; return c }
func withQueue(text string) (c auditsink.Config)  { c.QueueURL = text; return c }
func second(_ *auditsink.Deliverer, err error) error {
	return err
}

func wantField(t *testing.T, text, param string, err error) {
	t.Helper()
	f := fault.From(err)
	if f == nil || f.Kind != fault.Malformed || f.Param != param {
		t.Errorf("%s is answered with %v", text, err)
		return
	}
	if !slices.Contains([]string{"nats://a/b?canary=1"}, text) && strings.Contains(f.Error(), "canary") {
		t.Errorf("%s: the text shows a secret: %v", text, f)
	}
}
