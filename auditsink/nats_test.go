package auditsink_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/modelgateway/modelgateway/cluster/delivery"
	"github.com/modelgateway/modelgateway/e2e/porttest"
)

const queuePassword = "canary-queue-password"

// natsAt starts a NATS server with JetStream on a port.
func natsAt(t *testing.T, dir string, port int) *server.Server {
	t.Helper()
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: dir, NoLog: true, NoSigs: true, Username: "gateway", Password: queuePassword,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(eventuallyIn) {
		t.Fatal("NATS does not start")
	}
	return s
}

// natsClient is somebody who reads the queue.
func natsClient(t *testing.T, s *server.Server) jetstream.JetStream {
	t.Helper()
	conn, err := nats.Connect(s.ClientURL(), nats.UserInfo("gateway", queuePassword), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// eventuallyIn is how long something may take that another program does.
const eventuallyIn = 2 * time.Minute

// eventually waits until ok is so.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.NewTimer(eventuallyIn)
	defer deadline.Stop()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for !ok() {
		select {
		case <-deadline.C:
			t.Fatal("not in time: " + what)
		case <-again.C:
		}
	}
}

// TestNATS publishes to a real server: one that has no stream at first, and that is
// restarted in the middle.
func TestNATS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	port := int(porttest.Free(t).Port())
	s := natsAt(t, dir, port)
	b := newBench(t)
	b.change(func(s *delivery.Settings) { s.Webhook = false })
	c := b.config()
	c.QueueURL = "nats://gateway:" + queuePassword + "@127.0.0.1:" + strconv.Itoa(port) + "/audit.events"
	d, stop := b.start(c)
	defer stop()
	b.log.add(1200)
	eventually(t, "it says that there is no stream", func() bool { return strings.Contains(d.Status()[1].Problem, "create one") })

	js := natsClient(t, s)
	stream, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "AUDIT", Subjects: []string{"audit.>"}})
	if err != nil {
		t.Fatal(err)
	}
	count := func() uint64 {
		info, err := stream.Info(t.Context())
		if err != nil {
			return 0
		}
		return info.State.Msgs
	}
	eventually(t, "1200 messages", func() bool { return count() == 1200 })

	s.Shutdown()
	s.WaitForShutdown()
	b.log.add(700)
	eventually(t, "it says that the queue is away", func() bool { return d.Status()[1].Problem != "" })
	natsAt(t, dir, port)
	eventually(t, "1900 messages", func() bool { return count() == 1900 })

	var got []string
	for n := uint64(1); n <= 1900; n++ {
		m, err := stream.GetMsg(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, m.Header.Get("event_id"))
		if m.Header.Get("sequence") != strconv.FormatUint(n, 10) || !strings.Contains(string(m.Data), m.Header.Get("event_id")) || len(m.Header.Get("internal_hash")) != len("sha256:")+64 || m.Subject != "audit.events" {
			t.Fatalf("message %d is %v %s", n, m.Header, m.Data)
		}
	}
	if diff := cmp.Diff(ids(1, 1900), got); diff != "" {
		t.Error(diff)
	}
	eventually(t, "the cursor is saved", func() bool { return b.cursors.read(delivery.Queue) == 1901 })
	if strings.Contains(b.logged.String(), "canary") {
		t.Errorf("the password is in the log: %s", b.logged)
	}
}

// TestNATSKeepsOrder has a stream that refuses the first message that it sees, as one
// does that begins to lead, and takes all others: none may be taken before it.
func TestNATSKeepsOrder(t *testing.T) {
	t.Parallel()
	s := natsAt(t, t.TempDir(), server.RANDOM_PORT)
	conn, err := nats.Connect(s.ClientURL(), nats.UserInfo("gateway", queuePassword))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	taken := make(chan string, 2000)
	refuse := true
	_, err = conn.Subscribe("audit.events", func(m *nats.Msg) { // calls come one after the other
		answer := `{"type":"io.nats.jetstream.api.v1.pub_ack_response","error":{"code":503,"err_code":10008,"description":"JetStream system temporarily unavailable"}}`
		if !refuse {
			taken <- m.Header.Get("event_id")
			answer = `{"stream":"AUDIT","seq":1}`
		}
		refuse = false
		if err := m.Respond([]byte(answer)); err != nil {
			t.Error(err)
		}
	})
	if err == nil {
		err = conn.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}

	b := newBench(t)
	b.change(func(s *delivery.Settings) { s.Webhook = false })
	b.log.add(700)
	c := b.config()
	c.QueueURL = strings.Replace(s.ClientURL(), "nats://", "nats://gateway:"+queuePassword+"@", 1) + "/audit.events"
	_, stop := b.start(c)
	defer stop()
	var got []string
	late := time.NewTimer(eventuallyIn)
	defer late.Stop()
	for len(got) < 700 {
		select {
		case one := <-taken:
			got = append(got, one)
		case <-late.C:
			t.Fatalf("%d of 700 records in time", len(got))
		}
	}
	if diff := cmp.Diff(ids(1, 700), got); diff != "" {
		t.Error(diff)
	}
}
