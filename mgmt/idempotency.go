package mgmt

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
)

// HeaderReplayed says of an answer that an earlier request had it: it was given
// again, and nothing was changed.
const HeaderReplayed = "idempotency-replayed"

// maxIdempotencyKey bounds the header Idempotency-Key.
const maxIdempotencyKey = 255

// Sealer seals what the nodes keep: the credentials of providers, and answers, for
// one may show a key.
type Sealer interface {
	Seal(plain vault.Secret, context string) ([]byte, error)
	Open(sealed []byte, context string) (vault.Secret, error)
	// Reseal seals anew what another key than the one in use has sealed.
	Reseal(sealed []byte, context string) (again []byte, changed bool, err error)
	// PromoteKey has the key in use be the one that the nodes are configured with.
	// It is a Conflict as long as a node of the cluster cannot open what that key seals.
	PromoteKey(ctx context.Context, actor string) error
}

// once is a request with an Idempotency-Key. Its answer is kept with the change
// that it makes, in one entry of the log, and is the answer of every further
// request of the same caller, operation and key.
type once struct {
	scope, fingerprint [32]byte
	output             protoreflect.MessageType
	state              Changes
	sealer             Sealer
}

// onlyOnce reads the header. in is the request as it was checked, so that two ways
// to write one request are one request.
func (o *operations) onlyOnce(c *call, op *operation, in proto.Message) (*once, error) {
	one, err := o.onceOf(c, op.name, op.output)
	if err != nil {
		return nil, err
	}
	request, err := proto.MarshalOptions{Deterministic: true}.Marshal(in)
	one.fingerprint = digest("idempotency request v1", request)
	return one, err
}

// onceOf reads the header for an operation whose request is not known yet.
func (o *operations) onceOf(c *call, operation string, output protoreflect.MessageType) (*once, error) {
	if len(c.idempotency) > 1 {
		return nil, fault.Field(HeaderIdempotency, "invalid_value", "The header Idempotency-Key is given more than once.")
	}
	key := c.idempotency[0]
	if key == "" || len(key) > maxIdempotencyKey || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fault.Field(HeaderIdempotency, "invalid_value", "The header Idempotency-Key must have 1 to %d visible ASCII characters.", maxIdempotencyKey)
	}
	return &once{
		scope:  digest("idempotency scope v1", c.principal.Hash[:], []byte(operation), []byte(key)),
		output: output, state: o.state, sealer: o.sealer,
	}, nil
}

// digest is a hash of parts, of which no two lists are hashed alike.
func digest(of string, parts ...[]byte) (out [32]byte) {
	h := sha256.New()
	for _, p := range append([][]byte{[]byte(of)}, parts...) {
		_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(p)))) // never fails
		_, _ = h.Write(p)
	}
	return [32]byte(h.Sum(nil))
}

// find returns the answer that was kept, or nil, and then the revision of one that
// is too old to count. It is Conflict if another request was made under the key.
func (o *once) find(ctx context.Context) (kept proto.Message, stale uint64, err error) {
	found, err := o.state.Replayed(ctx, o.scope)
	switch {
	case err != nil || found == nil:
		return nil, 0, err
	case found.Stale:
		return nil, found.Revision, nil
	}
	if found.Fingerprint != o.fingerprint {
		return nil, 0, &fault.Error{
			Kind: fault.Conflict, Code: "idempotency_conflict", Param: HeaderIdempotency,
			Detail: "Another request was made with this Idempotency-Key. Choose a new key for each request, and the same one only to repeat it.",
		}
	}
	plain, err := o.sealer.Open(found.Answer, o.context())
	if err != nil { // the key that it was sealed with is gone
		return nil, 0, &fault.Error{
			Kind: fault.Conflict, Code: "idempotency_conflict", Param: HeaderIdempotency, Err: err,
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

// keep has a transaction keep the answer.
func (o *once) keep(tx *record.Txn, answer proto.Message, stale uint64) error {
	plain, err := proto.Marshal(answer)
	if err != nil {
		return err
	}
	sealed, err := o.sealer.Seal(vault.NewSecret(string(plain)), o.context())
	if err != nil {
		return err
	}
	tx.Remember(record.Replay{Scope: o.scope, Fingerprint: o.fingerprint, Answer: sealed}, stale)
	return nil
}

// keepDone keeps the answer of an operation that has changed something by other means
// than a transaction. It is done by now, so nobody is told if that cannot be kept: who
// asks again before it is has it done again.
func (o *once) keepDone(ctx context.Context, actor string, answer proto.Message) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTime)
	defer cancel()
	_, _ = o.state.Change(ctx, actor, func(_ *cluster.View, tx *record.Txn) error {
		kept, stale, err := o.find(ctx)
		if err != nil || kept != nil {
			return err
		}
		return o.keep(tx, answer, stale)
	})
}

// keepTime bounds how long an answer waits for being kept.
const keepTime = 2 * time.Second

// context binds what is sealed to its place.
func (o *once) context() string { return "replay/" + hex.EncodeToString(o.scope[:]) }
