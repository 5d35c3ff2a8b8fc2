package operation

import (
	"testing"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// The idempotency keys of one caller and of one operation are separate from those of others.
func TestScopesAreApart(t *testing.T) {
	one := digest("x", []byte("ab"), []byte("c"))
	for _, other := range [][32]byte{digest("x", []byte("a"), []byte("bc")), digest("x", []byte("abc")), digest("xa", []byte("b"), []byte("c"))} {
		if one == other {
			t.Error("two scopes are one")
		}
	}
	o := &Table{}
	op, err := newOperation(gatewayv1.KeyService_GenerateKey_FullMethodName, "gateway.v1.KeyService")
	if err != nil {
		t.Fatal(err)
	}
	in := &gatewayv1.GenerateKeyRequest{}
	seen := map[[32]byte]bool{}
	for _, c := range []*Call{
		{Idempotency: []string{"one"}},
		{Idempotency: []string{"two"}},
		{Idempotency: []string{"one"}, Principal: tenancy.Principal{Hash: id.HashKey("sk-1")}},
	} {
		one, err := o.onlyOnce(c, op, in)
		if err != nil || seen[one.Scope] {
			t.Errorf("%v", err)
		}
		seen[one.Scope] = true
	}
	other := *op
	other.RPC = "/gateway.v1.KeyService/RegenerateKey"
	if one, err := o.onlyOnce(&Call{Idempotency: []string{"one"}}, &other, in); err != nil || seen[one.Scope] {
		t.Errorf("%v", err)
	}
}
