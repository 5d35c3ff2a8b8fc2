package trace_test

import (
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/extproc/trace"
)

func TestTraceParents(t *testing.T) {
	t.Parallel()
	const id, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	for value, valid := range map[string]bool{
		"00-" + id + "-" + parent + "-01":                      true,
		"00-" + id + "-" + parent + "-ff":                      true,
		"cc-" + id + "-" + parent + "-01":                      true,
		"cc-" + id + "-" + parent + "-01-what-comes-later":     true,
		"cc-" + id + "-" + parent + "-01.what":                 false,
		"00-" + id + "-" + parent + "-01-more":                 false,
		"ff-" + id + "-" + parent + "-01":                      false,
		"00-" + strings.ToUpper(id) + "-" + parent + "-01":     false,
		"00-" + strings.Repeat("0", 32) + "-" + parent + "-01": false,
		"00-" + id + "-" + strings.Repeat("0", 16) + "-01":     false,
		"00-" + id + "-" + parent:                              false,
		"00-" + id + "-" + parent + "-0":                       false,
		"":                                                     false,
	} {
		var tr trace.Context
		tr.SetParent(value)
		if tr.IsZero() == valid {
			t.Errorf("%q: valid is %t", value, !tr.IsZero())
		}
		if h := tr.Headers(nil); valid && (len(h) != 1 || !strings.HasPrefix(h[0].Value, "00-"+id) || strings.Contains(h[0].Value, parent)) {
			t.Errorf("%q goes on as %v", value, h)
		}
	}
	var twice trace.Context
	twice.SetParent("00-" + id + "-" + parent + "-01")
	twice.AddState("a=1")
	twice.AddState("b=" + strings.Repeat("x", 600))
	if h := twice.Headers(nil); len(h) != 2 || h[1].Value != "a=1" {
		t.Errorf("the state goes on as %v", h)
	}
	if twice.SetParent("00-" + id + "-" + parent + "-01"); !twice.IsZero() {
		t.Error("two parents are one")
	}
}
