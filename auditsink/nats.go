package auditsink

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/modelgateway/modelgateway/cluster/audit"
)

// natsConnect is how long one server may take to let us in.
const natsConnect = 5 * time.Second

// natsQueue publishes to a stream of JetStream. Core NATS would take messages that
// nobody keeps: it acknowledges nothing. It is for one goroutine.
type natsQueue struct {
	servers string
	options []nats.Option
	subject string
	secrets []string
	conn    *nats.Conn // nil: there was none yet
	stream  jetstream.JetStream
}

func newNATS(a address) (publisher, error) {
	if a.path == "" || strings.ContainsAny(a.path, " *>/\t\r\n") {
		return nil, queueError("has no subject, or one that cannot be published to; write it like nats://host:4222/audit.events")
	}
	if err := a.only("creds"); err != nil {
		return nil, err
	}
	q := &natsQueue{subject: a.path, secrets: []string{a.password}}
	var servers []string
	for _, host := range a.hosts {
		servers = append(servers, a.scheme+"://"+host)
	}
	q.servers = strings.Join(servers, ",")
	q.options = []nats.Option{
		nats.Name("modelgateway audit log"), nats.Timeout(natsConnect), nats.MaxReconnects(-1),
		nats.ReconnectBufSize(-1), // a message that waits in memory is no message
		nats.NoCallbacksAfterClientClose(),
	}
	switch {
	case a.query.Get("creds") != "":
		q.options = append(q.options, nats.UserCredentials(a.query.Get("creds")))
	case a.password != "":
		q.options = append(q.options, nats.UserInfo(a.user, a.password))
	case a.user != "":
		q.secrets = []string{a.user}
		q.options = append(q.options, nats.Token(a.user))
	}
	return q, nil
}

func (q *natsQueue) connect() error {
	if q.conn != nil {
		return nil
	}
	conn, err := nats.Connect(q.servers, q.options...)
	if err != nil {
		return fmt.Errorf("connecting to NATS: %w", clean(err, q.secrets...))
	}
	stream, err := jetstream.New(conn, jetstream.WithPublishAsyncMaxPending(batchSize), jetstream.WithPublishAsyncTimeout(publishTimeout))
	if err != nil {
		conn.Close()
		return fmt.Errorf("using JetStream: %w", err)
	}
	q.conn, q.stream = conn, stream
	return nil
}

// Publish sends the first record alone: where it is not kept, because there is no
// stream yet or no leader of it, one behind it could be kept before it. The others
// follow without waiting for each other, and then all acknowledgements are waited for.
// The stream drops those that it has (Nats-Msg-Id). That each names the one before it
// (Nats-Expected-Last-Msg-Id) would keep the order at all times, but a stream with
// replicas remembers the ids of messages that it refused for that, and would drop them
// when they come again.
func (q *natsQueue) Publish(ctx context.Context, records []audit.Record) (int, error) {
	if err := q.connect(); err != nil {
		return 0, err
	}
	n, err := q.publish(ctx, records[:min(1, len(records))])
	if err != nil || n == len(records) {
		return n, err
	}
	more, err := q.publish(ctx, records[n:])
	return n + more, err
}

func (q *natsQueue) publish(ctx context.Context, records []audit.Record) (int, error) {
	acks := make([]jetstream.PubAckFuture, 0, len(records))
	var failed error
	for i := range records {
		m := &nats.Msg{Subject: q.subject, Data: records[i].External, Header: nats.Header{}}
		m.Header.Set(jetstream.MsgIDHeader, records[i].EventID)
		m.Header.Set("Content-Type", "application/json")
		for _, a := range attributes(records[i]) {
			m.Header.Set(a.name, a.value)
		}
		ack, err := q.stream.PublishMsgAsync(m, jetstream.WithRetryAttempts(0))
		if err != nil {
			failed = err
			break
		}
		acks = append(acks, ack)
	}
	for n, ack := range acks {
		select {
		case <-ack.Ok():
		case err := <-ack.Err():
			return n, q.explain(err)
		case <-ctx.Done():
			return n, fmt.Errorf("NATS acknowledged nothing in time: %w", ctx.Err())
		}
	}
	return len(acks), q.explain(failed)
}

func (q *natsQueue) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jetstream.ErrNoStreamResponse), errors.Is(err, nats.ErrNoResponders):
		return fmt.Errorf("no stream of JetStream keeps the subject %s; create one: %w", q.subject, err)
	}
	return fmt.Errorf("publishing to NATS: %w", clean(err, q.secrets...))
}

// Close closes the connection.
func (q *natsQueue) Close() error {
	if q.conn != nil {
		q.conn.Close()
	}
	return nil
}
