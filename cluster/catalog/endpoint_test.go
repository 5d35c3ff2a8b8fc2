package catalog_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
)

func TestParseBase(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		base, path string
		want       catalog.Endpoint
	}{
		{"https://api.openai.com/v1", "/v1", catalog.Endpoint{ID: "api.openai.com_443_tls", Scheme: "https", Host: "api.openai.com", Port: 443}},
		{"https://API.OpenAI.com./v1//", "/v1", catalog.Endpoint{ID: "api.openai.com_443_tls", Scheme: "https", Host: "api.openai.com", Port: 443}},
		{"HTTPS://api.openai.com:443", "", catalog.Endpoint{ID: "api.openai.com_443_tls", Scheme: "https", Host: "api.openai.com", Port: 443}},
		{"http://localhost:11434/", "", catalog.Endpoint{ID: "localhost_11434_tcp", Scheme: "http", Host: "localhost", Port: 11434}},
		{"http://my_upstream", "", catalog.Endpoint{ID: "my_upstream_80_tcp", Scheme: "http", Host: "my_upstream", Port: 80}},
		{"http://127.0.0.1:9/a%2Fb", "/a%2Fb", catalog.Endpoint{ID: "127.0.0.1_9_tcp", Scheme: "http", Host: "127.0.0.1", Port: 9}},
		{"http://[2001:DB8:0::1]:8080/v1", "/v1", catalog.Endpoint{ID: "2001-db8--1-5afd19e8_8080_tcp", Scheme: "http", Host: "2001:db8::1", Port: 8080}},
	} {
		got, path, err := catalog.ParseBase(test.base)
		if err != nil {
			t.Errorf("%s: %v", test.base, err)
			continue
		}
		if diff := cmp.Diff(test.want, got); diff != "" || path != test.path {
			t.Errorf("%s: path %q, want %q; endpoint (-want +got)\n%s", test.base, path, test.path, diff)
		}
		if again, rest, err := catalog.ParseBase(got.URL() + path); err != nil || again != got || rest != path {
			t.Errorf("%s: it is %s%s, which is %+v with %q (%v)", test.base, got.URL(), path, again, rest, err)
		}
	}
}

func TestURLOfAnEndpoint(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"HTTPS://API.OpenAI.com:443/v1/": "https://api.openai.com", "http://h:443": "http://h:443", "https://h:80": "https://h:80", "http://[::1]:80/x": "http://[::1]",
	} {
		if e, _, err := catalog.ParseBase(base); err != nil || e.URL() != want {
			t.Errorf("%s: %s %v, want %s", base, e.URL(), err, want)
		}
	}
}

func TestParseBaseRefuses(t *testing.T) {
	t.Parallel()
	for base, remedy := range map[string]string{
		"":                                       "empty",
		"api.openai.com":                         "https://",
		"ftp://host":                             "https://",
		"file:///etc/passwd":                     "https://",
		"https:host/v1":                          "slashes",
		"https://":                               "no host",
		"https:///v1":                            "no host",
		"https://user:hunter2@host/v1":           "api_key",
		"https://hunter2@host/v1":                "api_key",
		"https://host/v1?key=hunter2":            "query",
		"https://host/v1?":                       "query",
		"https://host/v1#hunter2":                "fragment",
		"https://host/v1#":                       "fragment",
		"https://host:0":                         "port",
		"https://host:65536":                     "port",
		"https://host:http":                      "not a URL",
		"https://host:":                          "colon",
		"https://ho st/":                         "character",
		"https://host/\r\nx: y":                  "character",
		"https://host/\x00":                      "character",
		"https://höst/":                          "punycode",
		`https://host\@evil/`:                    "character",
		"https://a..b/":                          "between its dots",
		"https://ho$t/":                          "letters",
		"https://ho%73t/":                        "",
		"https://[::1":                           "not a URL",
		"https://[fe80::1%25eth0]/":              "zone",
		"https://[1.2.3.4]/":                     "",
		"https://host/a/../b":                    "segment",
		"https://host/%2e%2e/b":                  "segment",
		"https://" + strings.Repeat("a", 64):     "overlong",
		"https://h/" + strings.Repeat("a", 3000): "longer",
	} {
		_, _, err := catalog.ParseBase(base)
		var f *fault.Error
		if !errors.As(err, &f) || f.Param != "api_base" || f.Kind != fault.Malformed || !strings.Contains(f.Detail, remedy) {
			t.Errorf("%.80q: %v, want a refusal of api_base that says %q", base, err, remedy)
			continue
		}
		if strings.Contains(f.Error(), "hunter2") {
			t.Errorf("%q: the error repeats the credential: %v", base, f)
		}
	}
}

// FuzzParseBase: what is accepted is harmless, and parses to itself when written out again.
func FuzzParseBase(f *testing.F) {
	for _, seed := range []string{"https://api.openai.com/v1", "http://[::1]:80/x", "https://a@b", "http://h?q", "http://h/%2f", "http://a:1/b;c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, base string) {
		e, path, err := catalog.ParseBase(base)
		if err != nil {
			return
		}
		host := e.Host
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		again, samePath, err := catalog.ParseBase(e.Scheme + "://" + host + path)
		if err != nil {
			t.Fatalf("%q was accepted and %q is not: %v", base, host+path, err)
		}
		if again.Host != e.Host || samePath != path {
			t.Errorf("%q is %v %q, and written out %v %q", base, e, path, again, samePath)
		}
		if strings.ContainsAny(string(e.ID), ":/ @\r\n\x00") || len(e.ID) > 90 {
			t.Errorf("%q has the id %q", base, e.ID)
		}
	})
}

func TestAuthority(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"https://api.openai.com/v1": "api.openai.com",
		"https://host:8443":         "host:8443",
		"http://host":               "host",
		"http://host:443":           "host:443",
		"https://[2001:db8::1]/v1":  "[2001:db8::1]",
		"http://[2001:db8::1]:8080": "[2001:db8::1]:8080",
		"http://10.0.0.1:80/v1":     "10.0.0.1",
	} {
		e, _, err := catalog.ParseBase(base)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Authority(); got != want {
			t.Errorf("the authority of %s is %s, want %s", base, got, want)
		}
	}
}
