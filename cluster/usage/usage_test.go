package usage_test

import (
	"reflect"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/usage"
)

// TestSane goes through every field, those that are added later as well.
func TestSane(t *testing.T) {
	t.Parallel()
	for i := range reflect.TypeFor[usage.Tokens]().NumField() {
		name := reflect.TypeFor[usage.Tokens]().Field(i).Name
		for n, want := range map[int64]bool{0: true, 1: true, usage.Limit: true, usage.Limit + 1: false, -1: false} {
			tokens := usage.Tokens{Input: usage.Limit, Output: usage.Limit}
			reflect.ValueOf(&tokens).Elem().Field(i).SetInt(n)
			if name == "Input" || name == "Output" {
				tokens = usage.Tokens{}
				reflect.ValueOf(&tokens).Elem().Field(i).SetInt(n)
			}
			if got := tokens.Sane(); got != want {
				t.Errorf("%s of %d: sane %v, want %v", name, n, got, want)
			}
		}
	}
	for _, wrong := range []usage.Tokens{
		{Input: 5, CacheRead: 3, CacheWrite: 2, CacheWrite1h: 1},
		{Output: 5, Reasoning: 6},
	} {
		if wrong.Sane() {
			t.Errorf("%+v is sane", wrong)
		}
	}
}

func TestSourceNames(t *testing.T) {
	t.Parallel()
	for s, want := range map[usage.Source]string{usage.None: "none", usage.Provider: "provider", usage.Estimated: "estimated", usage.Measured: "measured", 99: "none"} {
		if s.String() != want {
			t.Errorf("%d is %q, want %q", s, s.String(), want)
		}
	}
}
