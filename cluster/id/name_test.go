package id_test

import (
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/id"
)

func TestCleanName(t *testing.T) {
	for in, want := range map[string]string{
		"greeting":                    "greeting",
		"Greeting 2: hello!":          "Greeting 2: hello!",
		"caf\u0065\u0301":             "caf\u00e9", // NFD becomes NFC
		strings.Repeat("é", 128):      strings.Repeat("é", 128),
		"":                            "",
		strings.Repeat("x", 129):      "",
		" x":                          "",
		"x\n":                         "",
		"a/b":                         "",
		`a\b`:                         "",
		"..":                          "",
		"a\x00b":                      "",
		"a\u200bb":                    "",
		"\xff":                        "",
		id.NewUUID():                  "",
		strings.ToUpper(id.NewUUID()): "",
	} {
		got, problem := id.CleanName(in)
		if got != want || (problem == "") != (want != "") {
			t.Errorf("%q: %q, %q; want %q", in, got, problem, want)
		}
	}
}

func TestUUIDs(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		u := id.NewUUID()
		if !id.IsUUID(u) || u[14] != '4' || !strings.ContainsRune("89ab", rune(u[19])) || seen[u] {
			t.Fatalf("%s is no new UUID of version 4", u)
		}
		seen[u] = true
	}
}
