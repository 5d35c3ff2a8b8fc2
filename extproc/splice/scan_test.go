package splice_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

const messages = `"messages":[{"role":"user","content":"hi"}]`

// ask returns a chat body with one more member.
func ask(member string) string { return `{"model":"m",` + messages + `,` + member + `}` }

func refusal(t *testing.T, err error) *fault.Error {
	t.Helper()
	if err == nil {
		return nil
	}
	var e *fault.Error
	if !errors.As(err, &e) || e.Kind != fault.Malformed {
		t.Fatalf("want a malformed fault, got %v", err)
	}
	return e
}

func TestScanRejects(t *testing.T) {
	for _, c := range []struct{ name, body, code, param string }{
		{"empty", ``, "invalid_json", ""},
		{"white space", " \n\t", "invalid_json", ""},
		{"array", `[]`, "invalid_json", ""},
		{"string", `"x"`, "invalid_json", ""},
		{"null", `null`, "invalid_json", ""},
		{"truncated", `{"model":"m"`, "invalid_json", ""},
		{"truncated in an escape", `{"model":"m\`, "invalid_json", ""},
		{"trailing garbage", `{"model":"m",` + messages + `} x`, "invalid_json", ""},
		{"two objects", `{"model":"m",` + messages + `}{}`, "invalid_json", ""},
		{"trailing comma", `{"model":"m",}`, "invalid_json", ""},
		{"single quotes", `{'model':'m'}`, "invalid_json", ""},
		{"comment", `{"model":"m"/**/,` + messages + `}`, "invalid_json", ""},
		{"BOM", "\xef\xbb\xbf" + ask(`"x":1`), "invalid_json", ""},
		{"UTF-16", "{\x00\"\x00", "invalid_json", ""},
		{"invalid UTF-8", ask("\"x\":\"\xff\""), "invalid_json", ""},
		{"overlong UTF-8", ask("\"x\":\"\xc0\xaf\""), "invalid_json", ""},
		{"surrogate in UTF-8", ask("\"x\":\"\xed\xa0\x80\""), "invalid_json", ""},
		{"lone high surrogate", ask(`"x":"\ud800"`), "invalid_json", ""},
		{"lone low surrogate", ask(`"x":"\udc00 "`), "invalid_json", ""},
		{"NUL", ask("\"x\":\"\x00\""), "invalid_json", ""},
		{"line feed in a string", ask("\"x\":\"a\nb\""), "invalid_json", ""},
		{"NaN", ask(`"max_tokens":NaN`), "invalid_json", ""},
		{"leading zero", ask(`"n":01`), "invalid_json", ""},
		{"plus", ask(`"n":+1`), "invalid_json", ""},
		{"bare point", ask(`"n":1.`), "invalid_json", ""},

		{"model twice", ask(`"model":"x"`), "duplicate_parameter", "model"},
		{"model twice, escaped", ask(`"mod\u0065l":"x"`), "duplicate_parameter", "model"},
		{"model in another case", ask(`"Model":"x"`), "duplicate_parameter", "Model"},
		{"another case alone", `{"MODEL":"m",` + messages + `}`, "duplicate_parameter", "MODEL"},
		{"stream in another case", ask(`"STREAM":true`), "duplicate_parameter", "STREAM"},
		{"long s", ask(`"ſtream":true`), "duplicate_parameter", "ſtream"},
		{"refused in another case", ask(`"Api_Base":"x"`), "duplicate_parameter", "Api_Base"},
		{"unknown twice", ask(`"seed":1,"seed":1`), "duplicate_parameter", "seed"},
		{"include_usage twice", ask(`"stream_options":{"include_usage":true,"include_usage":false}`), "duplicate_parameter", "stream_options.include_usage"},
		{"Include_Usage", ask(`"stream_options":{"Include_Usage":true}`), "duplicate_parameter", "stream_options.include_usage"},

		{"no model", `{` + messages + `}`, "missing_required_parameter", "model"},
		{"model null", `{"model":null,` + messages + `}`, "invalid_type", "model"},
		{"model number", `{"model":4,` + messages + `}`, "invalid_type", "model"},
		{"model empty", `{"model":"",` + messages + `}`, "invalid_value", "model"},
		{"model with a line feed", `{"model":"a\nb",` + messages + `}`, "invalid_value", "model"},
		{"model with DEL", "{\"model\":\"a\x7f\"," + messages + `}`, "invalid_value", "model"},
		{"model 257", `{"model":"` + strings.Repeat("é", 257) + `",` + messages + `}`, "invalid_value", "model"},
		{"model 10k", `{"model":"` + strings.Repeat("x", 10_000) + `",` + messages + `}`, "invalid_value", "model"},
		{"no messages", `{"model":"m"}`, "missing_required_parameter", "messages"},
		{"messages null", `{"model":"m","messages":null}`, "invalid_type", "messages"},
		{"messages object", `{"model":"m","messages":{}}`, "invalid_type", "messages"},
		{"messages empty", `{"model":"m","messages":[ ]}`, "invalid_value", "messages"},
		{"messages of strings", `{"model":"m","messages":[{},"x"]}`, "invalid_type", "messages"},

		{"max_tokens -1", ask(`"max_tokens":-1`), "invalid_value", "max_tokens"},
		{"max_tokens 0", ask(`"max_tokens":0`), "invalid_value", "max_tokens"},
		{"max_tokens -0", ask(`"max_tokens":-0`), "invalid_value", "max_tokens"},
		{"max_tokens 1.5", ask(`"max_tokens":1.5`), "invalid_type", "max_tokens"},
		{"max_tokens 1e-1", ask(`"max_tokens":1e-1`), "invalid_type", "max_tokens"},
		{"max_tokens string", ask(`"max_tokens":"10"`), "invalid_type", "max_tokens"},
		{"max_completion_tokens 0", ask(`"max_completion_tokens":0`), "invalid_value", "max_completion_tokens"},
		{"temperature hot", ask(`"temperature":"hot"`), "invalid_type", "temperature"},
		{"temperature 2.1", ask(`"temperature":2.1`), "invalid_value", "temperature"},
		{"temperature huge", ask(`"temperature":1e999`), "invalid_value", "temperature"},
		{"temperature negative", ask(`"temperature":-1`), "invalid_value", "temperature"},
		{"top_p 1.1", ask(`"top_p":1.1`), "invalid_value", "top_p"},
		{"n 0", ask(`"n":0`), "invalid_value", "n"},
		{"n 1e6", ask(`"n":1000000`), "invalid_value", "n"},
		{"n 129", ask(`"n":129`), "invalid_value", "n"},
		{"stream yes", ask(`"stream":"yes"`), "invalid_type", "stream"},
		{"stream 1", ask(`"stream":1`), "invalid_type", "stream"},
		{"stream_options array", ask(`"stream_options":[]`), "invalid_type", "stream_options"},
		{"include_usage string", ask(`"stream_options":{"include_usage":"yes"}`), "invalid_type", "stream_options.include_usage"},
		{"tools object", ask(`"tools":{}`), "invalid_type", "tools"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := refusal(t, splice.Scan([]byte(c.body), new(splice.Request)))
			if e == nil {
				t.Fatal("accepted")
			}
			if e.Code != c.code || e.Param != c.param {
				t.Errorf("got %s %q, want %s %q: %s", e.Code, e.Param, c.code, c.param, e.Detail)
			}
			if c.code == "invalid_json" && c.body != "" && strings.TrimSpace(c.body) != "" && !strings.Contains(e.Detail, "byte ") {
				t.Errorf("no offset in %q", e.Detail)
			}
		})
	}
}

func TestScanRejectsRoutingFields(t *testing.T) {
	for _, name := range []string{
		"api_base", "base_url", "api_key", "custom_host", "extra_headers", "headers", "organization", "api_version", "extra_body", "mock_response",
		"mock_tool_calls", "aws_secret_access_key", "vertex_credentials", "azure_ad_token", "litellm_credential_name", "input_cost_per_token",
		"aws_" + strings.Repeat("x", 1000), "no-log",
	} {
		for _, value := range []string{`"http://evil"`, `null`, `{}`} {
			e := refusal(t, splice.Scan([]byte(ask(`"`+name+`":`+value)), new(splice.Request)))
			if e == nil || e.Code != "unsupported_parameter" || !strings.HasPrefix(name, e.Param) {
				t.Errorf("%.40s: %v", name, e)
			} else if strings.Contains(e.Detail, "evil") {
				t.Errorf("%s: the value is in the error", name)
			}
		}
	}
}

func TestScanFacts(t *testing.T) {
	type facts struct {
		Model                string
		Stream, Usage, Tools bool
		N, Max               int64
		Messages             int
	}
	for _, c := range []struct {
		name, body string
		want       facts
	}{
		{"least", `{"model":"m",` + messages + `}`, facts{"m", false, false, false, 1, 0, 1}},
		{"spaced", " {\n \"model\" : \"m\" , \"messages\" : [ { } , { } ] } \r\n", facts{"m", false, false, false, 1, 0, 2}},
		{"nulls", ask(`"stream":null,"stream_options":null,"n":null,"max_tokens":null,"temperature":null,"top_p":null,"tools":null`), facts{"m", false, false, false, 1, 0, 1}},
		{"escaped model", `{"mod\u0065l":"\u0067pt\/\ud83d\ude00",` + messages + `}`, facts{"gpt/😀", false, false, false, 1, 0, 1}},
		{"stream", ask(`"stream":true,"stream_options":{"include_obfuscation":false,"include_usage":true}`), facts{"m", true, true, false, 1, 0, 1}},
		{"options without stream", ask(`"stream_options":{"include_usage":true}`), facts{"m", false, true, false, 1, 0, 1}},
		{"no tools", ask(`"tools":[ ]`), facts{"m", false, false, false, 1, 0, 1}},
		{"tools", ask(`"tools":[{}]`), facts{"m", false, false, true, 1, 0, 1}},
		{"limits", ask(`"max_tokens":10,"max_completion_tokens":20,"n":128`), facts{"m", false, false, false, 128, 20, 1}},
		{"whole in other spellings", ask(`"max_tokens":1.60e1,"n":2.0`), facts{"m", false, false, false, 2, 16, 1}},
		{"1e18", ask(`"max_tokens":1000000000000000000`), facts{"m", false, false, false, 1, 1 << 31, 1}},
		{"1e99999999999999999999", ask(`"max_tokens":1e99999999999999999999`), facts{"m", false, false, false, 1, 1 << 31, 1}},
		{"other names pass", ask(`"thinking":{},"x":[[[1,2.5e-3,true,false,null,"\u00e9\n"]]],"seed":1,"Seed":2`), facts{"m", false, false, false, 1, 0, 1}},
		{"duplicates within values pass", ask(`"metadata":{"a":1,"a":2}`), facts{"m", false, false, false, 1, 0, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r splice.Request
			if err := splice.Scan([]byte(c.body), &r); err != nil {
				t.Fatal(err)
			}
			got := facts{r.Model, r.Stream, r.IncludeUsage, r.Tools, r.N, r.MaxTokens, r.MessageCount}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestScanRecordsEveryField(t *testing.T) {
	for f := splice.Model; ; f++ {
		if f.String() == "" {
			if splice.Extensions != splice.Extensions&(1<<f-1) || !splice.Extensions.Has(f-1) {
				t.Error("Extensions does not end where the fields end")
			}
			return
		}
		if f == splice.Model || f == splice.Messages {
			continue
		}
		var r splice.Request
		if err := splice.Scan([]byte(ask(`"`+f.String()+`": null ,"z":1`)), &r); err != nil {
			t.Fatal(err)
		}
		if string(r.Raw(f)) != "null" || !r.Has(f) {
			t.Errorf("%s is not recorded", f)
		}
		if e := refusal(t, splice.Scan([]byte(ask(`"`+strings.ToUpper(f.String())+`":null`)), &r)); e == nil || e.Code != "duplicate_parameter" {
			t.Errorf("%s in upper case: %v", f, e)
		}
	}
}

func TestExtensionValues(t *testing.T) {
	var r splice.Request
	if err := splice.Scan([]byte(ask(`"prompt_id":"a\u0062","prompt_version":2,"guardrail_id":7,"num_retries":"x"`)), &r); err != nil {
		t.Fatal(err)
	}
	if s, err := r.Text(splice.PromptID); s != "ab" || err != nil {
		t.Error(s, err)
	}
	if n, err := r.Integer(splice.PromptVersion); n != 2 || err != nil {
		t.Error(n, err)
	}
	if _, err := r.Text(splice.GuardrailID); refusal(t, err).Param != "guardrail_id" {
		t.Error(err)
	}
	if _, err := r.Integer(splice.NumRetries); refusal(t, err).Param != "num_retries" {
		t.Error(err)
	}
	if s, err := r.Text(splice.MemoryID); s != "" || err != nil {
		t.Error(s, err)
	}
}

func TestDepthLimit(t *testing.T) {
	nested := func(n int, open, end string) []byte {
		return []byte(ask(`"x":` + strings.Repeat(open, n) + `1` + strings.Repeat(end, n)))
	}
	for _, c := range []struct{ open, end string }{{"[", "]"}, {`{"a":`, "}"}} {
		if err := splice.Scan(nested(511, c.open, c.end), new(splice.Request)); err != nil {
			t.Error(err)
		}
		if e := refusal(t, splice.Scan(nested(512, c.open, c.end), new(splice.Request))); e == nil || !strings.Contains(e.Detail, "512") {
			t.Error(e)
		}
	}
}

// TestHostileBodies: the cost of any body is at most linear in time and memory.
func TestHostileBodies(t *testing.T) {
	var keys, folded strings.Builder
	for i := range 1_000_000 {
		fmt.Fprintf(&keys, `"k%d":1,`, i)
	}
	for i := range 200 {
		fmt.Fprintf(&folded, `"%s%d":1,`, strings.Repeat("K", 10_000), i)
	}
	for _, c := range []struct {
		name, body string
		ok         bool
	}{
		{"10,000 deep", ask(`"x":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)), false},
		{"10,000 deep in messages", `{"model":"m","messages":[` + strings.Repeat(`{"a":`, 10_000), false},
		{"1e6 keys", ask(keys.String() + `"z":1`), false},
		{"1e6 keys within", ask(`"x":{` + keys.String() + `"z":1}`), true},
		{"1e6 messages", `{"model":"m","messages":[` + strings.Repeat(`{"role":"user","content":"x"},`, 999_999) + `{}]}`, false},
		{"1e6 keys in stream_options", ask(`"stream_options":{` + keys.String() + `"z":1}`), false},
		{"long names", ask(folded.String() + `"z":1`), true},
		{"long number", ask(`"max_tokens":1` + strings.Repeat("0", 1_000_000)), true},
		{"escapes", ask(`"x":"` + strings.Repeat(`\u0041`, 500_000) + `"`), true},
		{"white space", ask(`"x":` + strings.Repeat(" ", 4_000_000) + `1`), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := []byte(c.body)
			var before, after runtime.MemStats
			best, plain := time.Hour, time.Hour
			// A multiple of the work of reading each byte once, in the same run: a quadratic
			// scan takes a thousand times as long.
			most := func() time.Duration { return 50*plain + 10*time.Millisecond }
			var err error
			for try := 0; try == 0 || try < 10 && best > most(); try++ { // the machine may be busy
				runtime.ReadMemStats(&before)
				start := time.Now()
				err = splice.Scan(body, new(splice.Request))
				best = min(best, time.Since(start))
				runtime.ReadMemStats(&after)
				start = time.Now()
				structure(body)
				plain = min(plain, time.Since(start))
			}
			if (err == nil) != c.ok {
				t.Error(err)
			}
			if best > most() {
				t.Errorf("took %v, and looking at each byte %v", best, plain)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > uint64(len(body))/2+100_000 {
				t.Errorf("%d bytes of memory for a body of %d", used, len(body))
			}
			t.Logf("%d bytes, %v, each byte %v", len(body), best, plain)
		})
	}
}

// structure reads each byte once.
func structure(body []byte) (depth, quotes int) {
	for _, c := range body {
		switch c {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			quotes++
		}
	}
	return depth, quotes
}
