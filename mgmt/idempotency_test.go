package mgmt

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/credential"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/mgmt/field"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// makesKeys replaces the operation that makes keys by a minimal one. It calls between, if it is
// not nil, between its decision and its commit.
func makesKeys(t *testing.T, s *Server, n *fakeNode, between func()) {
	t.Helper()
	replace(t, s, gatewayv1.KeyService_GenerateKey_FullMethodName, func(ctx context.Context, in proto.Message) (proto.Message, error) {
		alias := in.(*gatewayv1.GenerateKeyRequest).GetKeyAlias()
		secret, _, err := credential.Generate(rand.Reader)
		if err != nil {
			return nil, err
		}
		return operation.Change(ctx, n, func(v *cluster.View, tx *record.Txn) (*gatewayv1.KeyRecord, error) {
			k, err := v.Keys.CreateKey(tx, tenancy.Key{Alias: alias, Hash: id.HashKey(secret.Reveal())})
			if err != nil {
				return nil, err
			}
			if between != nil {
				between()
			}
			return &gatewayv1.KeyRecord{Key: secret.Reveal(), CreatedAt: timestamppb.New(k.CreatedAt)}, nil
		})
	})
}

func withKey(key string) func(r *http.Request) { return with(field.HeaderIdempotency, key) }

func TestAnswersAreGivenAgain(t *testing.T) {
	s, n := newFake(t)
	makesKeys(t, s, n, nil)
	first := ask(t, s, "POST /key/generate", `{"key_alias":"a","tags":["x"]}`, withKey("one"))
	if first.status != http.StatusOK || first.header.Get(operation.HeaderReplayed) != "" || first.json(t)["revision"] != 42.0 || first.header.Get("ETag") != `"42"` {
		t.Fatalf("%d %v %s", first.status, first.header, first.body)
	}
	n.do(t, func(v *cluster.View, tx *record.Txn) error { // others go on meanwhile
		_, err := v.Keys.CreateKey(tx, tenancy.Key{Hash: id.HashKey("sk-something-else-0123")})
		return err
	})
	again := ask(t, s, "POST /key/generate", ` {"tags":["x"], "key_alias":"a", "models":null}`, withKey("one"))
	if again.status != http.StatusOK || again.body != first.body || again.header.Get(operation.HeaderReplayed) != "true" || again.header.Get("ETag") != `"42"` || again.header.Get(operation.HeaderRevision) != "43" {
		t.Errorf("again: %d %v %s", again.status, again.header, again.body)
	}
	other := ask(t, s, "POST /key/generate", `{"key_alias":"b","tags":["x"]}`, withKey("one"))
	if other.status != http.StatusConflict || other.refusal(t) != "idempotency_conflict Idempotency-Key" {
		t.Errorf("another request: %d %s", other.status, other.body)
	}
	if a := ask(t, s, "POST /key/generate", `{"key_alias":"a"}`, nil); a.status != http.StatusConflict || a.refusal(t) != "already_exists key_alias" {
		t.Errorf("without the header: %d %s", a.status, a.body)
	}
	if a := ask(t, s, "POST /key/generate", `{}`, withKey("two")); a.status != http.StatusOK || a.body == first.body {
		t.Errorf("another key: %d %s", a.status, a.body)
	}
	n.pass(25 * time.Hour)
	late := ask(t, s, "POST /key/generate", `{"key_alias":"late"}`, withKey("one"))
	if late.status != http.StatusOK || late.header.Get(operation.HeaderReplayed) != "" {
		t.Errorf("a day later: %d %s", late.status, late.body)
	}
	if a := ask(t, s, "POST /key/generate", `{"key_alias":"late"}`, withKey("one")); a.body != late.body || a.header.Get(operation.HeaderReplayed) != "true" {
		t.Errorf("a day later, again: %d %s", a.status, a.body)
	}
}

// A kept response does not reveal the key in it.
func TestKeptAnswersAreSealed(t *testing.T) {
	s, n := newFake(t)
	makesKeys(t, s, n, nil)
	secret, _ := ask(t, s, "POST /key/generate", `{}`, withKey("one")).json(t)["key"].(string)
	n.mu.Lock()
	defer n.mu.Unlock()
	rows := 0
	err := n.mu.state.Scan(t.Context(), store.Range{Space: store.SpaceReplay}, func(_, value []byte) bool {
		rows++
		if secret == "" || bytes.Contains(value, []byte(secret)) || bytes.Contains(value, []byte("one")) {
			t.Error("the state has the key")
		}
		return true
	})
	if err != nil || rows != 1 {
		t.Errorf("%d answers are kept: %v", rows, err)
	}
}

// The response of a failed request is not kept.
func TestFailuresAreNotKept(t *testing.T) {
	s, n := newFake(t)
	makesKeys(t, s, n, nil)
	n.fail(&fault.Error{Kind: fault.Unavailable, Detail: "No majority."})
	if a := ask(t, s, "POST /key/generate", `{}`, withKey("one")); a.status != http.StatusServiceUnavailable {
		t.Errorf("%d %s", a.status, a.body)
	}
	n.fail(nil)
	if a := ask(t, s, "POST /key/generate", `{}`, withKey("one")); a.status != http.StatusOK || a.header.Get(operation.HeaderReplayed) != "" {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// Of many simultaneous requests with one Idempotency-Key one is done, and all get its response.
func TestOneOfManyAtOnceIsDone(t *testing.T) {
	s, n := newFake(t)
	const many = 8
	var decided atomic.Int32
	all := make(chan struct{})
	makesKeys(t, s, n, func() { // all have decided before the first commits
		if decided.Add(1) == many {
			close(all)
		}
		<-all
	})
	answers := make(chan answer, many)
	for range many {
		go func() { answers <- ask(t, s, "POST /key/generate", `{"key_alias":"a"}`, withKey("one")) }()
	}
	bodies, replayed := map[string]bool{}, 0
	for range many {
		a := <-answers
		if a.status != http.StatusOK {
			t.Errorf("%d %s", a.status, a.body)
		}
		bodies[a.body] = true
		if a.header.Get(operation.HeaderReplayed) == "true" {
			replayed++
		}
	}
	if len(bodies) != 1 || replayed != many-1 || n.View().Keys.Cluster() != 1 {
		t.Errorf("%d answers, %d of them given again, %d keys", len(bodies), replayed, n.View().Keys.Cluster())
	}
}

func TestIdempotencyKeys(t *testing.T) {
	s, n := newFake(t)
	makesKeys(t, s, n, nil)
	for key, ok := range map[string]bool{
		"a": true, "8e03978e-40d5-43e8-bc93-6894a57f9324": true, strings.Repeat("k", 255): true, "!~": true,
		strings.Repeat("k", 256): false, "a b": false, "é": false, "a\tb": false,
	} {
		a := ask(t, s, "POST /key/generate", `{}`, withKey(key))
		if ok && a.status != http.StatusOK || !ok && (a.status != http.StatusUnprocessableEntity || a.refusal(t) != "invalid_value Idempotency-Key") {
			t.Errorf("%.20q: %d %s", key, a.status, a.body)
		}
	}
	twice := ask(t, s, "POST /key/generate", `{}`, func(r *http.Request) { r.Header["Idempotency-Key"] = []string{"a", "a"} })
	if twice.refusal(t) != "invalid_value Idempotency-Key" {
		t.Errorf("given twice: %d %s", twice.status, twice.body)
	}
	empty := ask(t, s, "POST /key/generate", `{}`, func(r *http.Request) { r.Header["Idempotency-Key"] = []string{""} })
	if empty.refusal(t) != "invalid_value Idempotency-Key" {
		t.Errorf("empty: %d %s", empty.status, empty.body)
	}
	replace(t, s, gatewayv1.KeyService_GetKeys_FullMethodName, func(context.Context, proto.Message) (proto.Message, error) {
		return &gatewayv1.GetKeysResponse{}, nil
	})
	if a := ask(t, s, "POST /v2/key/info", `{"keys":["k"]}`, withKey("no key at all")); a.status != http.StatusOK {
		t.Errorf("a read: %d %s", a.status, a.body)
	}
}

// A response whose encryption key was replaced is not repeated, and nothing is done twice.
func TestAnswersThatCannotBeRead(t *testing.T) {
	s, n := newFake(t)
	makesKeys(t, s, n, nil)
	if a := ask(t, s, "POST /key/generate", `{}`, withKey("one")); a.status != http.StatusOK {
		t.Fatal(a.body)
	}
	s.operations.Sealer = blind{s.operations.Sealer}
	if a := ask(t, s, "POST /key/generate", `{}`, withKey("one")); a.status != http.StatusConflict || a.refusal(t) != "idempotency_conflict Idempotency-Key" || n.View().Keys.Cluster() != 1 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// blind has lost its key.
type blind struct{ operation.Sealer }

func (blind) Open([]byte, string) (vault.Secret, error) {
	return vault.Secret{}, errors.New("sealed with another key")
}
