package access_test

import (
	"testing"

	"github.com/modelgateway/modelgateway/cluster/access"
	"github.com/modelgateway/modelgateway/cluster/fault"
)

func TestCheckRoutes(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "key/info", "/key/*/x", "llm", "/a**"} {
		if f := fault.From(access.CheckRoutes("allowed_routes", []string{"/key/*", bad})); f == nil || f.Param != "allowed_routes[1]" {
			t.Errorf("the route %q is taken: %v", bad, f)
		}
	}
	if err := access.CheckRoutes("allowed_routes", []string{"*", "/*", "info_routes", "/v1/models"}); err != nil {
		t.Error(err)
	}
}
