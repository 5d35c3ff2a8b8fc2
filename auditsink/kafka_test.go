//go:build servers

package auditsink_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/modelgateway/modelgateway/cluster/delivery"
	"github.com/modelgateway/modelgateway/e2e/porttest"
)

// installed returns what make has put below .tmp, or what a variable names instead.
func installed(t *testing.T, variable, name string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		path = filepath.Join("..", "..", ".tmp", name)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v: run make tools, or set %s", err, variable)
	}
	full, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return full
}

// background runs a program until the test ends.
func background(t *testing.T, env []string, program string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), env...)
	log := &lines{}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			t.Logf("%s: %s", filepath.Base(program), log)
		}
	})
}

// kafkaBroker starts a broker that is its own controller, and keeps no more than a
// test needs.
func kafkaBroker(t *testing.T) (address string) {
	t.Helper()
	jars := filepath.Join(installed(t, "MODELGATEWAY_KAFKA", "kafka"), "*")
	dir := t.TempDir()
	address, controller := porttest.Free(t).String(), porttest.Free(t).String()
	file := filepath.Join(dir, "server.properties")
	settings := strings.NewReplacer("ADDRESS", address, "CONTROLLER", controller, "DIR", filepath.Join(dir, "data")).Replace(`
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@CONTROLLER
controller.listener.names=INNER
listeners=OUTER://ADDRESS,INNER://CONTROLLER
advertised.listeners=OUTER://ADDRESS
inter.broker.listener.name=OUTER
listener.security.protocol.map=OUTER:PLAINTEXT,INNER:PLAINTEXT
log.dirs=DIR
num.partitions=4
auto.create.topics.enable=true
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
`)
	if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	java := []string{"-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", jars}
	format := exec.CommandContext(t.Context(), "java", append(java, "kafka.tools.StorageTool", "format", "-t", "bW9kZWxnYXRld2F5LXRlcw", "-c", file)...)
	if out, err := format.CombinedOutput(); err != nil {
		t.Fatalf("formatting the broker's directory: %v: %s", err, out)
	}
	background(t, nil, "java", append(java, "kafka.Kafka", file)...)
	return address
}

// TestServerKafka publishes to a real broker, which is not there at first.
func TestServerKafka(t *testing.T) {
	t.Parallel()
	address := kafkaBroker(t)
	b := newBench(t)
	b.change(func(s *delivery.Settings) { s.Webhook = false })
	client, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.ConsumeTopics("audit"), kgo.AllowAutoTopicCreation(), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	c := b.config()
	c.QueueURL = "kafka://" + address + "/audit"
	d, stop := b.start(c)
	defer stop()
	b.log.add(1200)
	var got []string
	seen := map[string]bool{} // one whose acknowledgement came too late comes again
	partitions := map[int32]bool{}
	for len(got) < 1200 {
		ctx, cancel := context.WithTimeout(t.Context(), eventuallyIn)
		fetches := client.PollFetches(ctx)
		cancel()
		if ctx.Err() != nil && fetches.NumRecords() == 0 {
			t.Fatalf("%d records; %+v; %v", len(got), d.Status(), fetches.Err())
		}
		fetches.EachRecord(func(r *kgo.Record) {
			partitions[r.Partition] = true
			headers := map[string]string{}
			for _, h := range r.Headers {
				headers[h.Key] = string(h.Value)
			}
			if !strings.Contains(string(r.Value), headers["event_id"]) || len(headers["internal_hash"]) != len("sha256:")+64 {
				t.Errorf("a message is %v %s", headers, r.Value)
			}
			if !seen[headers["event_id"]] {
				got = append(got, headers["event_id"])
			}
			seen[headers["event_id"]] = true
		})
	}
	if diff := cmp.Diff(ids(1, 1200), got); diff != "" || len(partitions) != 1 {
		t.Errorf("in %d partitions: %s", len(partitions), diff)
	}
	eventually(t, "the cursor is saved", func() bool { return b.cursors.read(delivery.Queue) == 1201 })
}
