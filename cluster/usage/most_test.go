package usage_test

import (
	"testing"

	"github.com/modelgateway/modelgateway/cluster/usage"
)

func TestWithin(t *testing.T) {
	t.Parallel()
	most := usage.Most{Input: 100, Output: 10, SearchQueries: 4}
	for _, test := range []struct {
		name     string
		is, want usage.Tokens
		capped   bool
	}{
		{"possible", usage.Tokens{Input: 100, Output: 10}, usage.Tokens{Input: 100, Output: 10}, false},
		{"input", usage.Tokens{Input: 1000, CacheRead: 90, CacheWrite: 800, Output: 1}, usage.Tokens{Input: 100, CacheRead: 90, CacheWrite: 10, Output: 1}, true},
		{"output", usage.Tokens{Input: 1, Output: 1 << 31, Reasoning: 500}, usage.Tokens{Input: 1, Output: 10, Reasoning: 10}, true},
		{"searches", usage.Tokens{Input: 1, Output: 2, SearchQueries: 5}, usage.Tokens{Input: 1, Output: 2, SearchQueries: 4}, true},
	} {
		if got, capped := test.is.Within(most); got != test.want || capped != test.capped || !got.Sane() {
			t.Errorf("%s: %+v, %v", test.name, got, capped)
		}
	}
}

func TestLarger(t *testing.T) {
	t.Parallel()
	most := usage.Most{Input: 100, Output: 10}
	zero, small, large, huge := usage.Tokens{}, usage.Tokens{Input: 5, Output: 1}, usage.Tokens{Input: 5, Output: 9}, usage.Tokens{Input: 5, Output: 4000}
	for _, test := range []struct{ a, b, want usage.Tokens }{
		{large, zero, large}, {zero, large, large}, {small, large, large}, {huge, large, large}, {large, huge, large}, {huge, zero, zero}, {huge, huge, huge},
	} {
		if got := usage.Larger(test.a, test.b, most); got != test.want {
			t.Errorf("of %+v and %+v: %+v", test.a, test.b, got)
		}
	}
}
