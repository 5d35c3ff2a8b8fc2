package audit

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// TestPlain compares plain with the form that appendDetails gives to all other texts.
func TestPlain(t *testing.T) {
	canonical := func(text string) bool {
		v := jsontext.Value(text)
		err := v.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false))
		return err == nil && v.Kind() == '{' && string(v) == text
	}
	for text, want := range map[string]bool{
		`{"a":"x","b":12,"b c":0.000000012,"c":0}`: true,
		`{"":1}`:            true,
		`{"a":"<&>"}`:       true,
		`{"b":1,"a":2}`:     false,
		`{"a":1,"a":2}`:     false,
		`{"a":1}{"b":1}`:    false,
		`{"a":1},`:          false,
		`{"a":01}`:          false,
		`{"a":1.}`:          false,
		`{"a":.1}`:          false,
		`{"a":1`:            false,
		`{"a":`:             false,
		`{"a"`:              false,
		`{"a":"x`:           false,
		`{"a":"\u0041"}`:    false,
		"{\"a\":\"\x7f\"}":  false,
		`{"a": 1}`:          false,
		`{,"a":1}`:          false,
		`{"a":1,}`:          false,
		`["a"]`:             false,
		`{}`:                false, // canonical, and rare
		`{"a":{"b":1}}`:     false, // canonical, and rare
		`{"a":-1,"b":true}`: false, // canonical, and rare
	} {
		if got := plain(text); got != want {
			t.Errorf("plain(%s) is %t, want %t", text, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.StringMatching(`\{"[ab!"]{0,2}":("[a"\\ é]{0,2}"|[0-9.]{1,4})(,"[ab! ]{0,2}":("[a~]?"|[0-9]{1,3}(\.[0-9]{1,2})?)){0,3}\}`),
			rapid.StringMatching(`[{}\[\]",:a01.\\ -]{0,9}`),
		).Draw(t, "text")
		if plain(text) && !canonical(text) {
			t.Errorf("%s is not canonical", text)
		}
	})
}
