package auditsink

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/delivery"
)

// kafkaQueue publishes to a topic. All records have the same key and so are in one
// partition, which keeps their order; the producer is idempotent. It is for one
// goroutine.
type kafkaQueue struct {
	options []kgo.Opt
	topic   string
	secret  string
	client  *kgo.Client // nil: there was none yet
}

func newKafka(a address) (publisher, error) {
	if a.path == "" {
		return nil, queueError("has no topic; write it like kafka://host:9092/topic")
	}
	if err := a.only("sasl"); err != nil {
		return nil, err
	}
	q := &kafkaQueue{topic: a.path, secret: a.password}
	q.options = []kgo.Opt{
		kgo.SeedBrokers(a.hosts...), kgo.ClientID("modelgateway"), kgo.DefaultProduceTopic(a.path),
		kgo.RequiredAcks(kgo.AllISRAcks()), kgo.RecordDeliveryTimeout(publishTimeout), kgo.ProducerLinger(0),
	}
	if a.scheme == "kafkas" {
		q.options = append(q.options, kgo.DialTLSConfig(&tls.Config{MinVersion: tls.VersionTLS12}))
	}
	if a.user == "" {
		return q, nil
	}
	mechanism, err := saslOf(a)
	if err != nil {
		return nil, err
	}
	q.options = append(q.options, kgo.SASL(mechanism))
	return q, nil
}

func saslOf(a address) (sasl.Mechanism, error) {
	switch a.query.Get("sasl") {
	case "", "plain":
		return plain.Auth{User: a.user, Pass: a.password}.AsMechanism(), nil
	case "scram-sha-256":
		return scram.Auth{User: a.user, Pass: a.password}.AsSha256Mechanism(), nil
	case "scram-sha-512":
		return scram.Auth{User: a.user, Pass: a.password}.AsSha512Mechanism(), nil
	}
	return nil, queueError("has another sasl than plain, scram-sha-256 or scram-sha-512")
}

// Publish sends the records and waits until all replicas in sync have them.
func (q *kafkaQueue) Publish(ctx context.Context, records []audit.Record) (int, error) {
	if q.client == nil {
		client, err := kgo.NewClient(q.options...)
		if err != nil {
			return 0, fmt.Errorf("setting Kafka up: %w", clean(err, q.secret))
		}
		q.client = client
	}
	out := make([]*kgo.Record, len(records))
	for i := range records {
		out[i] = &kgo.Record{Key: []byte(delivery.Queue), Value: records[i].External, Timestamp: records[i].Time}
		for _, a := range attributes(records[i]) {
			out[i].Headers = append(out[i].Headers, kgo.RecordHeader{Key: a.name, Value: []byte(a.value)})
		}
	}
	// Results come in the order of when they were known.
	failed := map[*kgo.Record]error{}
	for _, r := range q.client.ProduceSync(ctx, out...) {
		if r.Err != nil {
			failed[r.Record] = r.Err
		}
	}
	for n, r := range out {
		if err := failed[r]; err != nil {
			if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, kgo.ErrRecordTimeout) {
				return n, fmt.Errorf("kafka acknowledged nothing in time: %w", err)
			}
			return n, fmt.Errorf("publishing to Kafka: %w", clean(err, q.secret))
		}
	}
	return len(out), nil
}

// Close closes the connections.
func (q *kafkaQueue) Close() error {
	if q.client != nil {
		q.client.Close()
	}
	return nil
}
