package splice_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// object determines with jsontext whether a body is one JSON object, and its depth.
func object(body []byte) (ok bool, depth int) {
	if !jsontext.Value(body).IsValid(jsontext.AllowDuplicateNames(true)) {
		return false, 0
	}
	d := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true))
	if d.PeekKind() != jsontext.KindBeginObject {
		return false, 0
	}
	for {
		if _, err := d.ReadToken(); err != nil {
			return true, depth
		}
		depth = max(depth, d.StackDepth())
	}
}

// judge decodes the body and returns the code with which Scan must fail; "" means acceptance.
func judge(t *testing.T, body []byte) string {
	t.Helper()
	ok, depth := object(body)
	if !ok || depth > 512 {
		return "invalid_json"
	}
	seen := map[string]bool{}
	var dup, forbidden bool
	values := map[string]string{}
	for _, f := range decode(t, body) {
		low := strings.NewReplacer("ſ", "s", "K", "k").Replace(strings.Map(func(r rune) rune {
			if 'A' <= r && r <= 'Z' {
				r += 'a' - 'A'
			}
			return r
		}, f.name))
		dup = dup || seen[f.name] || low != f.name && (acted(low) || refused(low))
		forbidden = forbidden || refused(f.name)
		seen[f.name] = true
		values[f.name] = f.value
	}
	if dup || forbidden {
		return "names"
	}
	if !plausible(t, values) {
		return "values"
	}
	return ""
}

func acted(name string) bool {
	for f := splice.Model; f.String() != ""; f++ {
		if f.String() == name {
			return true
		}
	}
	return false
}

func refused(name string) bool {
	e := new(fault.Error)
	quoted := string(splice.Quote(nil, name))
	err := splice.Scan([]byte(`{`+quoted+`:1}`), new(splice.Request))
	return errors.As(err, &e) && e.Code == "unsupported_parameter"
}

func plausible(t *testing.T, v map[string]string) bool {
	t.Helper()
	model, err := jsontext.AppendUnquote(nil, v["model"])
	if err != nil || len(model) == 0 || utf8.RuneCount(model) > 256 || bytes.ContainsFunc(model, unicode.IsControl) {
		return false
	}
	if m := v["messages"]; !strings.HasPrefix(m, "[{") {
		return false
	}
	for _, e := range array(t, v["messages"]) {
		if e[0] != '{' {
			return false
		}
	}
	if s := v["stream"]; s != "" && s != "true" && s != "false" && s != "null" {
		return false
	}
	for _, name := range []string{"max_tokens", "max_completion_tokens", "n"} {
		if s := v[name]; s != "" && s != "null" {
			n := wholeNumber(s)
			if n == nil || n.Sign() <= 0 || name == "n" && n.Cmp(big.NewInt(128)) > 0 {
				return false
			}
		}
	}
	for name, high := range map[string]float64{"temperature": 2, "top_p": 1} {
		if s := v[name]; s != "" && s != "null" {
			f, err := strconv.ParseFloat(s, 64)
			if s[0] == '"' || err != nil || f < 0 || f > high {
				return false
			}
		}
	}
	if s := v["tools"]; s != "" && s != "null" && s[0] != '[' {
		return false
	}
	s := v["stream_options"]
	if s == "" || s == "null" {
		return true
	}
	if s[0] != '{' {
		return false
	}
	n := 0
	for _, f := range decode(t, []byte(s)) {
		if strings.EqualFold(f.name, "include_usage") {
			n++
			if f.name != "include_usage" || f.value != "true" && f.value != "false" && f.value != "null" {
				return false
			}
		}
	}
	return n <= 1
}

// wholeNumber returns the number if it is an integer; very large ones are clamped.
func wholeNumber(s string) *big.Int {
	if s[0] != '-' && (s[0] < '0' || s[0] > '9') {
		return nil
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 && len(s)-i > 5 {
		return big.NewInt(-1) // not compared: see FuzzScan
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok || !r.IsInt() {
		return nil
	}
	return r.Num()
}

func array(t *testing.T, s string) []string {
	t.Helper()
	d := jsontext.NewDecoder(strings.NewReader(s), jsontext.AllowDuplicateNames(true))
	if _, err := d.ReadToken(); err != nil {
		t.Fatal(err)
	}
	var out []string
	for d.PeekKind() != jsontext.KindEndArray {
		v, err := d.ReadValue()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(v))
	}
	return out
}

// FuzzScan compares Scan with jsontext: the result, the cause of a rejection, and the facts.
// Limits of this package are the depth, and the numbers of members, messages and bytes of
// stream_options.
func FuzzScan(f *testing.F) {
	for _, s := range []string{
		`{"model":"m","messages":[{}]}`, ask(`"stream":true,"stream_options":{"include_usage":true}`), ask(`"max_tokens":1.6e1,"n":2`),
		ask(`"x":"\ud83d\ude00\u00e9","y":[[],{}, -0.5e+3]`), ask(`"Model":1`), ask(`"api_base":1`), ask(`"temperature":2,"top_p":1,"tools":[]`),
		"{\"model\":\"é\xff\"}", `[]`, `{`, `{"a":1 "b"}`, `{"mod\u0065l":"\n","messages":[1]}`, ask(`"ſtream":1`), ask(`"stream_options":{"Include_usage":1}`),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) > 4096 || bytes.ContainsAny(body, "eE") && strings.Contains(string(body), "00000") {
			return // exponents that the oracle cannot expand
		}
		var r splice.Request
		err := splice.Scan(body, &r)
		want := judge(t, body)
		if err == nil {
			if want != "" {
				t.Fatalf("accepted, but %s: %q", want, body)
			}
			compareFacts(t, body, &r)
			return
		}
		var e *fault.Error
		if !errors.As(err, &e) || e.Kind != fault.Malformed {
			t.Fatal(err)
		}
		if got := e.Code; got == "too_many_fields" {
			return
		} else if (got == "invalid_json") != (want == "invalid_json") {
			t.Fatalf("%v, but the oracle says %q: %q", err, want, body)
		}
		if want == "" {
			t.Fatalf("rejected: %v: %q", err, body)
		}
	})
}

func compareFacts(t *testing.T, body []byte, r *splice.Request) {
	t.Helper()
	for _, f := range decode(t, body) {
		for k := splice.Model; k.String() != ""; k++ {
			if k.String() != f.name {
				continue
			}
			raw := jsontext.Value(r.Raw(k)).Clone()
			if err := raw.Format(jsontext.AllowDuplicateNames(true)); err != nil || string(raw) != f.value {
				t.Fatalf("%s is %q, not %q", k, raw, f.value)
			}
		}
		switch f.name {
		case "model":
			if v, _ := jsontext.AppendUnquote(nil, f.value); string(v) != r.Model {
				t.Fatalf("model %q, not %q", r.Model, v)
			}
		case "messages":
			if n := len(array(t, f.value)); n != r.MessageCount {
				t.Fatalf("%d messages, not %d", r.MessageCount, n)
			}
		case "stream":
			if r.Stream != (f.value == "true") {
				t.Fatal("stream")
			}
		case "n":
			if f.value != "null" && wholeNumber(f.value).Int64() != r.N {
				t.Fatal("n")
			}
		case "max_tokens", "max_completion_tokens":
			if f.value == "null" {
				continue
			}
			if n := wholeNumber(f.value); n.Cmp(big.NewInt(r.MaxTokens)) > 0 && r.MaxTokens != splice.MaxTokensLimit {
				t.Fatalf("max_tokens %d, but %s requested", r.MaxTokens, f.value)
			}
		}
	}
}

func TestIntegerSpellings(t *testing.T) {
	for i := range 4000 {
		mantissa := []string{"0", "1", "10", "12", "120", "2147483647", "2147483648", "2147483649", "99999999999999999999", "300"}[i%10]
		fraction := []string{"", ".0", ".5", ".50", ".05", ".000000000001", ".70000000000"}[i/10%7]
		exponent := []string{"", "e0", "e1", "E+2", "e-1", "e-2", "e12", "e-12", "e20", "e-20"}[i/70%10]
		s := mantissa + fraction + exponent
		var r splice.Request
		err := splice.Scan([]byte(ask(`"max_tokens":`+s)), &r)
		n := wholeNumber(s)
		switch {
		case n == nil || n.Sign() == 0:
			if err == nil {
				t.Fatalf("%s accepted as %d", s, r.MaxTokens)
			}
		case err != nil:
			t.Fatalf("%s: %v", s, err)
		default:
			if n.Cmp(big.NewInt(splice.MaxTokensLimit)) > 0 {
				n.SetInt64(splice.MaxTokensLimit)
			}
			if fmt.Sprint(n) != fmt.Sprint(r.MaxTokens) {
				t.Fatalf("%s read as %d", s, r.MaxTokens)
			}
		}
	}
}

// TestUTF8 tries each sequence of three bytes that could be a character, and all pairs of lead
// and second byte. Sequences of three bytes are tried at each position of a word.
func TestUTF8(t *testing.T) {
	check := func(text []byte) {
		body := append(append([]byte(`{"model":"`), text...), `","messages":[{}]}`...)
		err := splice.Scan(body, new(splice.Request))
		if e := refusal(t, err); utf8.Valid(text) == (e != nil && e.Code == "invalid_json") {
			t.Fatalf("%x: %v", text, err)
		}
	}
	for lead := 0x80; lead < 0x100; lead++ {
		for second := 0x80; second < 0x100; second++ {
			for _, third := range []byte{'a', 0x80, 0x9f, 0xa0, 0xbf, 0xc0, 0xe4} {
				pads := 1
				if lead&0xf0 == 0xe0 {
					pads = 8
				}
				for pad := range pads {
					text := []byte("é\u65e5\u672c\u8a9e\u5b57\u5b57aaaaaaaa"[pad+2*(pad&1):])
					text = append([]byte(strings.ToValidUTF8(string(text), "")), byte(lead), byte(second), third, 0x80)
					check(append(text, "\u65e5\u672c\u8a9e"...))
					check(append([]byte(strings.Repeat("a", pad)), byte(lead), byte(second), third))
				}
			}
		}
	}
}
