package dataplane_test

import (
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/dataplane"
)

func TestFindPassed(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]dataplane.Passed{
		"/openai_passthrough/v1/files":        {Prefix: "/openai_passthrough", Path: "/v1/files"},
		"/bedrock/async-invoke":               {Prefix: "/bedrock", Path: "/async-invoke"},
		"/vertex_ai/v1/projects/p/x":          {Prefix: "/vertex_ai", Path: "/v1/projects/p/x"},
		"/azure/openai/files":                 {Prefix: "/azure", Path: "/openai/files"},
		"/openai/v1/files":                    {},
		"/anthropic":                          {},
		"/anthropic/":                         {},
		"/anthropics/v1/files":                {},
		"/v1/openai_passthrough/v1/files":     {},
		"/openai_passthrough-and-more/v1/any": {},
	} {
		if got, ok := dataplane.FindPassed(given); got != want || ok != (want.Prefix != "") {
			t.Errorf("%s: %+v, %v", given, got, ok)
		}
	}
	for _, prefix := range dataplane.PassedPrefixes() {
		if len(dataplane.PassedProviders(prefix)) == 0 || !dataplane.IsInference(prefix+"/v1/anything") {
			t.Errorf("%s is no provider's", prefix)
		}
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	for _, good := range []string{
		"/v1/files", "/v1/files/", "/v1/files/a.b..c", "/model/amazon.nova-pro-v1:0/count-tokens", "/model/arn%3Aaws%3Abedrock%2Fa/x", "/v1/a;b=c", "/v1/files/a%20b", "/v1beta/models/m:method", "/v1/fran%C3%A7ais",
	} {
		if !dataplane.Clean(good) {
			t.Errorf("%s is rejected", good)
		}
	}
	for _, bad := range []string{
		"/v1/../x", "/v1/./x", "/v1/..", "/v1/.../x", "/v1/%2e%2e/x", "/v1/.%2E/x", "/v1/a%2f..%2fb", "/v1/a%2F%2e%2e/b", "/v1//x", "/v1/%2F/x", "/v1/a\\b", "/v1/a%5cb", "/v1/..;a=b/x", "/v1/;/x",
		"/v1/%252e%252e/x", "/v1/a%252fb", "/v1/%zz", "/v1/%", "/v1/a%00b", "/v1/a%0d%0ab", "/v1/a b", "/v1/\u00e9", "/v1/a%7f",
	} {
		if dataplane.Clean(bad) {
			t.Errorf("%q passes", bad)
		}
	}
}

// FuzzClean holds that a clean path stays below its beginning, whether a reader takes escapes away once, twice or never.
func FuzzClean(f *testing.F) {
	for _, seed := range []string{"/v1/files", "/v1/%2e%2e/x", "/v1/a%2F..%2Fb", "/v1/..;/x", "/a/%252e%252e", "/a//b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, given string) {
		if !strings.HasPrefix(given, "/") || !dataplane.Clean(given) {
			return
		}
		for read, text := 0, given; read < 3; read++ {
			below := "/prefix" + text
			if cleaned := path.Clean(strings.ReplaceAll(below, "\\", "/")); cleaned != strings.TrimSuffix(below, "/") && given != "/" {
				t.Fatalf("%q leads to %q", given, cleaned)
			}
			next, err := url.PathUnescape(text)
			if err != nil {
				return
			}
			text = next
		}
	})
}

func TestDisguised(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]bool{
		"/openai_passthrough/v1/chat/completions/":  true,
		"/openai_passthrough/v1/chat/%63ompletions": true,
		"/anthropic/v1%2Fmessages":                  true,
		"/gemini/v1beta/models/m%3AgenerateContent": true,
		"/openai_passthrough/v1/%zz":                true,
		"/openai_passthrough/v1/chat/completions":   false,
		"/openai_passthrough/v1/files/":             false,
		"/openai_passthrough/v1/files/a%20b":        false,
	} {
		if got := dataplane.Disguised(given); got != want {
			t.Errorf("%s: %v", given, got)
		}
	}
}
