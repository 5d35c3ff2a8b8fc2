//go:build servers

package auditsink_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/delivery"
	"github.com/modelgateway/modelgateway/e2e/porttest"
)

// environment has the credentials of the bucket, which the client reads there.
func environment() map[string]string {
	return map[string]string{"AWS_ACCESS_KEY_ID": "gateway", "AWS_SECRET_ACCESS_KEY": "canary-s3-secret", "AWS_EC2_METADATA_DISABLED": "true"}
}

// TestServerS3 puts objects into a bucket of a real server for S3, whose own files are
// then looked at.
func TestServerS3(t *testing.T) {
	t.Parallel()
	program := installed(t, "MODELGATEWAY_VERSITYGW", filepath.Join("bin", "versitygw"))
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "archive"), 0o750); err != nil {
		t.Fatal(err)
	}
	address := porttest.Free(t).String()
	b := newBench(t)
	b.change(func(s *delivery.Settings) { s.Webhook = false })
	c := b.config()
	c.Period = 3 * time.Second // from its end on it takes the grace of a period
	c.BucketURL = "s3://archive/of/gateway?region=us-east-1&use_path_style=true&endpoint=http://" + address
	usage := newPosted(t, 3)
	defer func() { _ = usage.state.Close() }()
	usage.post(50)
	c.Usage = usage
	d, stop := b.start(c)
	defer stop()
	b.log.add(20000)
	eventually(t, "it says that the bucket is away", func() bool { return d.Status()[1].Problem != "" })
	background(t, []string{"ROOT_ACCESS_KEY=gateway", "ROOT_SECRET_KEY=canary-s3-secret"}, program, "--port", address, "posix", "--nometa", dir)

	eventually(t, "the cursor is saved", func() bool { return b.cursors.read(delivery.Bucket) == 20001 })
	eventually(t, "the Parquet files' cursors are saved", func() bool {
		return b.cursors.read(delivery.AuditTables) == 20001 && b.cursors.read(delivery.UsageTables) == 51
	})
	count := filepath.Join(t.TempDir(), "count.sql")
	if err := os.WriteFile(count, []byte(`SELECT count(*), min(number), max(number) FROM audit UNION ALL SELECT count(*), min("row"), max("row") FROM usage`), 0o600); err != nil {
		t.Fatal(err)
	}
	tables := query(t, filepath.Join(dir, "archive", "of", "gateway"), count)
	if diff := cmp.Diff([]string{"20000|1|20000", "50|1|50"}, tables["count"]); diff != "" {
		t.Errorf("DuckDB reads other rows: %s", diff)
	}
	got := objectsIn(t, filepath.Join(dir, "archive"))
	if len(got) != 1 {
		t.Fatalf("%d objects", len(got))
	}
	for name, text := range got {
		if !strings.HasPrefix(name, "of/gateway/audit/default/") || !strings.HasSuffix(name, "-1-20000.jsonl.gz") || text != exported(t, b.log, 1, 20000) {
			t.Errorf("the object is %s, of %d bytes", name, len(text))
		}
	}
	if strings.Contains(b.logged.String(), "canary") {
		t.Errorf("the secret is in the log: %s", b.logged)
	}
}
