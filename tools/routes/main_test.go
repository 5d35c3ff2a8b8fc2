package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func operations() map[string]string {
	return map[string]string{"a.S.M": "/a.S/M", "a.S.N": "/a.S/N"}
}

func TestRoutes(t *testing.T) {
	rules, err := parse([]byte(`
type: google.api.Service
config_version: 3
http:
  rules:
    - selector: a.S.M
      post: /m
      body: "*"
      additional_bindings:
        - delete: "/m/{name=**}"
    - selector: a.S.N
      get: /n
      response_body: items
`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := routesOf(rules, operations())
	want := []route{
		{"POST", "/m", "/a.S/M", true},
		{"DELETE", "/m/{name=**}", "/a.S/M", false},
		{"GET", "/n", "/a.S/N", false},
	}
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got))
	}
}

func TestRefusedPages(t *testing.T) {
	const both = "    - {selector: a.S.M, get: /m}\n    - {selector: a.S.N, get: /n}\n"
	for page, want := range map[string]string{
		"    - {selector: a.S.M, get: /m}\n":                                               "a.S.N: it has no route",
		both + "    - {selector: a.S.X, get: /x}\n":                                        "a.S.X: there is no such operation",
		both + "    - {selector: a.S.M, get: /x}\n":                                        "two entries",
		"    - {selector: a.S.M, get: /m}\n    - {selector: a.S.N, get: /m}\n":             "GET /m leads to",
		"    - {selector: a.S.M, get: /m, post: /m}\n":                                     "2 methods",
		"    - {selector: a.S.M}\n":                                                        "0 methods",
		"    - {selector: a.S.M, post: /m, body: name}\n":                                  "only * is served",
		"    - {selector: a.S.M, post: /m, additional_binding: [{get: /x}]}\n":             "additional_binding",
		"    - {selector: a.S.M, get: /m, additional_bindings: [{get: /m}]}\n":             "GET /m leads to",
		"    - {selector: a.S.M, get: /m, additional_bindings: [{get: /x, body: name}]}\n": "only * is served",
	} {
		rules, err := parse([]byte("http:\n  rules:\n" + page))
		if err == nil {
			_, err = routesOf(rules, operations())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", page, err, want)
		}
	}
}
