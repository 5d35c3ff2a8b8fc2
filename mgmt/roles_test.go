package mgmt

import (
	"context"
	"crypto/rand"
	"net/http"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/access"
	"github.com/modelgateway/modelgateway/cluster/credential"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
)

// give makes a key, and the user that it names with a role.
func give(t *testing.T, n *fakeNode, k tenancy.Key, role tenancy.Role) string {
	t.Helper()
	secret, _, err := credential.Generate(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	k.Hash = id.HashKey(secret.Reveal())
	if k.User != "" {
		n.do(t, func(v *cluster.View, tx *record.Txn) error {
			_, err := v.Keys.UserBatch(tx).Create(tenancy.User{ID: k.User, Role: role})
			return err
		})
	}
	n.do(t, func(v *cluster.View, tx *record.Txn) error {
		_, err := v.Keys.CreateKey(tx, k)
		return err
	})
	return secret.Reveal()
}

// answering returns a server whose operations all respond with an empty message.
func answering(t *testing.T) (*Server, *fakeNode) {
	t.Helper()
	s, n := newFake(t)
	s.operations.Rules = lax{}
	for name, op := range s.operations.All {
		replace(t, s, name, func(context.Context, proto.Message) (proto.Message, error) { return op.Output.New().Interface(), nil })
	}
	return s, n
}

// The access class of an operation decides which roles may use it, and roles that only read
// change nothing.
func TestRolesHaveTheirClasses(t *testing.T) {
	s, n := answering(t)
	for role, most := range map[tenancy.Role]surface.Access{
		tenancy.RoleProxyAdmin: surface.Admin, tenancy.RoleProxyAdminViewer: surface.Viewer,
		tenancy.RoleInternalUser: surface.Scoped, tenancy.RoleInternalUserViewer: surface.Scoped, tenancy.RoleNone: surface.AnyKey,
	} {
		k := tenancy.Key{}
		if role != tenancy.RoleNone {
			k.User = id.User(role)
		}
		key := give(t, n, k, role)
		still := role == tenancy.RoleProxyAdminViewer || role == tenancy.RoleInternalUserViewer
		walk(s, func(target string, a surface.Access, e surface.Effect) {
			may := a <= most && (!still || !e.Changes() || a <= surface.AnyKey)
			got := ask(t, s, target, "", as(key))
			if refused := got.status == http.StatusForbidden; refused == may {
				t.Errorf("%s as %q: %d %s", target, role, got.status, got.body)
			}
		})
	}
}

// A key's type and its routes limit its operations, whatever its role.
func TestKeysHaveTheirRoutes(t *testing.T) {
	s, n := answering(t)
	own := []string{"GET /key/info", "POST /key/health", "GET /v1/models", "GET /model/info"}
	for name, c := range map[string]struct {
		key tenancy.Key
		may []string
		not []string
	}{
		"inference": {tenancy.Key{Type: access.TypeInference}, own, []string{"GET /key/list", "POST /key/generate", "GET /cluster/status", "GET /cluster/snapshot", "GET /metrics"}},
		"reading":   {tenancy.Key{Type: access.TypeReadOnly}, append([]string{"GET /key/list", "POST /v2/key/info", "POST /budget/info"}, own...), []string{"POST /key/generate", "DELETE /key/delete", "POST /cluster/restore"}},
		"a list":    {tenancy.Key{AllowedRoutes: []string{"/team/*", "/key/info"}}, []string{"GET /key/info", "POST /team/new", "PATCH /team/x"}, []string{"GET /key/list", "GET /v1/models", "POST /user/new"}},
	} {
		c.key.User = id.User(strings.ReplaceAll(name, " ", "-"))
		key := give(t, n, c.key, tenancy.RoleProxyAdmin)
		for _, target := range slices.Concat(c.may, c.not) {
			a := ask(t, s, target, "", as(key))
			refused := a.status == http.StatusForbidden && a.refusal(t) == "route_not_allowed"
			if may := slices.Contains(c.may, target); refused == may || may && a.status != http.StatusOK {
				t.Errorf("%s with a key for %s: %d %s", target, name, a.status, a.body)
			}
		}
	}
}
