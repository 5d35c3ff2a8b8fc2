package access_test

import (
	"testing"

	"github.com/modelgateway/modelgateway/cluster/access"
	"github.com/modelgateway/modelgateway/cluster/fault"
)

func TestCheckRoutes(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "key/info", "/key/*/x", "llm", "/a**", "passthrough", "passthrough:", "passthrough:/v1/files", "passthrough:/gemini/*/x", "passthrough:gemini/x"} {
		if f := fault.From(access.CheckRoutes("allowed_routes", []string{"/key/*", bad})); f == nil || f.Param != "allowed_routes[1]" {
			t.Errorf("the route %q is taken: %v", bad, f)
		}
	}
	if err := access.CheckRoutes("allowed_routes", []string{"*", "/*", "info_routes", "/v1/models", "passthrough_routes", "passthrough:/gemini/v1beta/files", "passthrough:/bedrock/*"}); err != nil {
		t.Error(err)
	}
}

// Paths that the gateway does not serve itself are among the routes only if the list says so by name.
func TestPassthroughRoutes(t *testing.T) {
	t.Parallel()
	const files, batches, chats = "/openai_passthrough/v1/files/1", "/openai_passthrough/v1/batches", "/openai_passthrough/v1/chat/completions"
	for _, c := range []struct {
		of                    string
		list                  []string
		files, batches, chats bool // passed on; and used at all
		any                   bool
	}{
		{access.TypeDefault, nil, false, false, true, false},
		{access.TypeDefault, []string{"*"}, false, false, true, false},
		{access.TypeDefault, []string{"llm_api_routes", "/openai_passthrough/*"}, false, false, true, false},
		{access.TypeDefault, []string{"passthrough_routes"}, true, true, true, true},
		{access.TypeInference, []string{"llm_api_routes", "passthrough_routes"}, true, true, true, true},
		{access.TypeInference, []string{"passthrough:/openai_passthrough/v1/files*"}, true, false, false, true},
		{access.TypeDefault, []string{"passthrough:/openai_passthrough/v1/batches", "llm_api_routes"}, false, true, true, true},
		{access.TypeManagement, []string{"passthrough_routes"}, false, false, false, false},
		{access.TypeReadOnly, []string{"passthrough_routes"}, false, false, false, false},
	} {
		r := access.Routes{Type: c.of, List: c.list}
		if r.Passes(files) != c.files || r.Passes(batches) != c.batches || r.Has("POST", chats) != c.chats || r.PassesAny() != c.any {
			t.Errorf("%q %v: files %v, batches %v, chats %v, any %v", c.of, c.list, r.Passes(files), r.Passes(batches), r.Has("POST", chats), r.PassesAny())
		}
		if r.Passes("/v1/files") || r.Passes("/key/info") || r.Passes("/openai/v1/files") || c.files && !r.Has("GET", files) {
			t.Errorf("%q %v: other paths", c.of, c.list)
		}
	}
}

// A key gives no permission for such paths that it does not have by name, whatever else it has.
func TestPassthroughRoutesWithin(t *testing.T) {
	t.Parallel()
	files := "passthrough:/openai_passthrough/v1/files*"
	for _, c := range []struct {
		inner, outer []string
		within       bool
	}{
		{[]string{"passthrough_routes"}, nil, false},
		{[]string{files}, []string{"*", "llm_api_routes"}, false},
		{[]string{files}, []string{"/openai_passthrough/*"}, false},
		{[]string{files}, []string{"passthrough_routes"}, true},
		{[]string{files}, []string{files}, true},
		{[]string{"passthrough:/openai_passthrough/v1/files/1"}, []string{files}, true},
		{[]string{"passthrough:/openai_passthrough/*"}, []string{files}, false},
		{[]string{"passthrough_routes"}, []string{"passthrough:/openai_passthrough/*"}, false},
		{[]string{"llm_api_routes"}, []string{"passthrough_routes"}, false},
		{[]string{"/anthropic/v1/messages"}, []string{"passthrough:/anthropic/*"}, false},
		{[]string{"llm_api_routes", files}, []string{"llm_api_routes", "passthrough_routes"}, true},
		{[]string{"llm_api_routes"}, []string{"llm_api_routes", files}, true},
		{nil, []string{"passthrough_routes", "llm_api_routes"}, false},
	} {
		inner, outer := access.Routes{List: c.inner}, access.Routes{List: c.outer}
		if got := inner.InfersWithin(outer); got != c.within {
			t.Errorf("%v within %v: %v", c.inner, c.outer, got)
		}
	}
	if manages := (access.Routes{List: []string{"passthrough_routes", files}}); !manages.ManagesWithin(access.Routes{Type: access.TypeInference}) {
		t.Error("such paths count as management")
	}
}
