package unread_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/inbound"
	"github.com/modelgateway/modelgateway/extproc/unread"
)

// at is a deployment: its name is its id without what follows a dash.
func at(deployment, key string) *catalog.Deployment {
	name, _, _ := strings.Cut(deployment, "-")
	return &catalog.Deployment{ID: id.Deployment(deployment), Name: id.ModelName(name), APIKey: vault.NewSecret(key)}
}

func TestAccount(t *testing.T) {
	t.Parallel()
	one, same, other := at("a-1", "x"), at("b-1", "x"), at("c-1", "y")
	for _, c := range []struct {
		name   string
		all    []*catalog.Deployment
		chosen string
		paths  map[string]string // by id; others get /v1/files
		want   string            // the id, or the code of the error
	}{
		{"one account", []*catalog.Deployment{one, same}, "", nil, "a-1"},
		{"several accounts", []*catalog.Deployment{one, same, other}, "", nil, "deployment_ambiguous"},
		{"chosen by its model", []*catalog.Deployment{one, same, other}, "c", nil, "c-1"},
		{"chosen by its id", []*catalog.Deployment{one, same, other}, "b-1", nil, "b-1"},
		{"others do not take it", []*catalog.Deployment{one, other}, "", map[string]string{"a-1": ""}, "c-1"},
		{"the same account behind another address", []*catalog.Deployment{one, same}, "", map[string]string{"b-1": "/proxy/v1/files"}, "deployment_ambiguous"},
		{"none", nil, "", nil, "deployment_not_found"},
		{"no such model", []*catalog.Deployment{one}, "z", nil, "deployment_not_found"},
		{"why it is not taken", []*catalog.Deployment{one}, "", map[string]string{"a-1": "!"}, "no_such_project"},
	} {
		d, err := unread.Account(c.all, c.chosen, func(d *catalog.Deployment) (string, error) {
			path, ok := c.paths[string(d.ID)]
			switch {
			case !ok:
				return "/v1/files", nil
			case path == "!":
				return "", fault.New(fault.NotFound, "no_such_project", "no")
			}
			return path, nil
		})
		got := ""
		if e, ok := errors.AsType[*fault.Error](err); ok {
			got = e.Code
		} else if d != nil {
			got = string(d.ID)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestWithQuery(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, query, want string }{
		{"/v1/files", "", "/v1/files"},
		{"/v1/files", "limit=1&key=s", "/v1/files?limit=1"},
		{"/openai/files?api-version=1", "", "/openai/files?api-version=1"},
		{"/openai/files?api-version=1", "limit=1", "/openai/files?api-version=1&limit=1"},
		{"/openai/files?api-version=1", "api-version=2&limit=1", "/openai/files?api-version=2&limit=1"},
		{"/openai/files?api-version=1", "key=s", "/openai/files?api-version=1"},
	} {
		if got := unread.WithQuery(c.path, &inbound.Headers{Query: c.query}); got != c.want {
			t.Errorf("%s and %s: %s, want %s", c.path, c.query, got, c.want)
		}
	}
}

func TestIsGateways(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]bool{
		http.StatusOK: false, http.StatusNoContent: false, http.StatusFound: true, http.StatusNotModified: true, http.StatusBadRequest: false, http.StatusUnauthorized: true,
		http.StatusForbidden: true, http.StatusNotFound: false, http.StatusProxyAuthRequired: true, http.StatusTooManyRequests: false, http.StatusInternalServerError: false,
	} {
		if got := unread.IsGateways(status); got != want {
			t.Errorf("%d: %v", status, got)
		}
	}
}
