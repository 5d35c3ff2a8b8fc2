package route_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/tools/route"
)

func TestParse(t *testing.T) {
	got, err := route.Parse([]string{"POST /m", "DELETE /m/{name=**}", "DELETE /m", "GET /n"})
	want := []route.Route{{"POST", "/m", true}, {"DELETE", "/m/{name=**}", false}, {"DELETE", "/m", true}, {"GET", "/n", false}}
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got))
	}
}

func TestRejectedRoutes(t *testing.T) {
	for text, want := range map[string]string{
		"":           "is not a route",
		"get /m":     "is not a route",
		"HEAD /m":    "is not a route",
		"GET m":      "is not a route",
		"GET /m two": "is not a route",
		"GET":        "is not a route",
	} {
		if _, err := route.Parse([]string{text}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := route.Parse(nil); err == nil || !strings.Contains(err.Error(), "no route") {
		t.Errorf("no routes: %v", err)
	}
}
