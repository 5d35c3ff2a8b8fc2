package operation

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/mgmt/field"
)

// HeaderReplayed marks a response that an earlier request got. The request that gets it
// again changed nothing.
const HeaderReplayed = "idempotency-replayed"

// maxIdempotencyKey bounds the header Idempotency-Key.
const maxIdempotencyKey = 255

// Sealer encrypts what the nodes keep: credentials of providers, and responses, which may
// show a key.
type Sealer interface {
	Seal(plain vault.Secret, context string) ([]byte, error)
	Open(sealed []byte, context string) (vault.Secret, error)
	// Reseal encrypts again what another key than the one in use encrypted.
	Reseal(sealed []byte, context string) (again []byte, changed bool, err error)
	// PromoteKey makes the key that the nodes are configured with the one in use. It is a
	// Conflict while a node of the cluster cannot decrypt with that key.
	PromoteKey(ctx context.Context, actor string) error
}

// Once is a request with an Idempotency-Key. Its response is kept in the entry of the log
// that has its change. Further requests of the same caller, operation and key get it, too.
type Once struct {
	Scope, Fingerprint [32]byte
	output             protoreflect.MessageType
	State              Changes
	sealer             Sealer
}

// onlyOnce reads the header. It compares requests after they were read, so the same
// request in two spellings is one request.
func (o *Table) onlyOnce(c *Call, op *Operation, in proto.Message) (*Once, error) {
	one, err := o.OnceFor(c, op.RPC, op.Output)
	if err != nil {
		return nil, err
	}
	request, err := proto.MarshalOptions{Deterministic: true}.Marshal(in)
	one.Fingerprint = digest("idempotency request v1", request)
	return one, err
}

// OnceFor reads the header for an operation whose request is not known yet.
func (o *Table) OnceFor(c *Call, operation string, output protoreflect.MessageType) (*Once, error) {
	if len(c.Idempotency) > 1 {
		return nil, fault.Field(field.HeaderIdempotency, "invalid_value", "The header Idempotency-Key is given more than once.")
	}
	key := c.Idempotency[0]
	if key == "" || len(key) > maxIdempotencyKey || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fault.Field(field.HeaderIdempotency, "invalid_value", "The header Idempotency-Key must have 1 to %d visible ASCII characters.", maxIdempotencyKey)
	}
	return &Once{
		Scope:  digest("idempotency scope v1", c.Principal.Hash[:], []byte(operation), []byte(key)),
		output: output, State: o.State, sealer: o.Sealer,
	}, nil
}

// digest hashes a list of parts. The lengths are hashed, too, so the parts cannot shift.
func digest(of string, parts ...[]byte) (out [32]byte) {
	h := sha256.New()
	for _, p := range append([][]byte{[]byte(of)}, parts...) {
		_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(p)))) // never fails
		_, _ = h.Write(p)
	}
	return [32]byte(h.Sum(nil))
}

// Find returns the response that was kept; if there is none, nil and the revision of one
// that has expired. It is a Conflict if another request used the key.
func (o *Once) Find(ctx context.Context) (kept proto.Message, stale uint64, err error) {
	found, err := o.State.Replayed(ctx, o.Scope)
	switch {
	case err != nil || found == nil:
		return nil, 0, err
	case found.Stale:
		return nil, found.Revision, nil
	}
	if found.Fingerprint != o.Fingerprint {
		return nil, 0, &fault.Error{
			Kind: fault.Conflict, Code: "idempotency_conflict", Param: field.HeaderIdempotency,
			Detail: "Another request was made with this Idempotency-Key. Choose a new key for each request, and the same one only to repeat it.",
		}
	}
	plain, err := o.sealer.Open(found.Answer, o.context())
	if err != nil { // the key that encrypted it is gone
		return nil, 0, &fault.Error{
			Kind: fault.Conflict, Code: "idempotency_conflict", Param: field.HeaderIdempotency, Err: err,
			Detail: "This request was answered before, and the answer cannot be read any more. Look what it has changed, and choose a new Idempotency-Key.",
		}
	}
	kept = o.output.New().Interface()
	if err := proto.Unmarshal([]byte(plain.Reveal()), kept); err != nil {
		return nil, 0, err
	}
	setRevision(kept.ProtoReflect(), found.Revision)
	return kept, 0, nil
}

// Keep adds the response to a transaction.
func (o *Once) Keep(tx *record.Txn, answer proto.Message, stale uint64) error {
	plain, err := proto.Marshal(answer)
	if err != nil {
		return err
	}
	sealed, err := o.sealer.Seal(vault.NewSecret(string(plain)), o.context())
	if err != nil {
		return err
	}
	tx.Remember(record.Replay{Scope: o.Scope, Fingerprint: o.Fingerprint, Answer: sealed}, stale)
	return nil
}

// KeepDone keeps the response of an operation that made its change without a transaction.
// The change is done, so a failure to keep the response is not reported. A repeated
// request then makes the change again.
func (o *Once) KeepDone(ctx context.Context, actor string, answer proto.Message) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTime)
	defer cancel()
	_, _ = o.State.Change(ctx, actor, func(_ *cluster.View, tx *record.Txn) error {
		kept, stale, err := o.Find(ctx)
		if err != nil || kept != nil {
			return err
		}
		return o.Keep(tx, answer, stale)
	})
}

// keepTime bounds how long a response waits until it is kept.
const keepTime = 2 * time.Second

// context binds the encrypted response to its scope.
func (o *Once) context() string { return "replay/" + hex.EncodeToString(o.Scope[:]) }
