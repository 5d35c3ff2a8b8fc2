package guard_test

import (
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// TestLabels: the name of a member says what its value is, as the words before a value do in a sentence, whole and
// however a response is cut.
func TestLabels(t *testing.T) {
	t.Parallel()
	secrets := guardrails.Engine{Name: "detect_secret", Hooks: []string{guardrails.PreCall, guardrails.PostCall}}
	e := presidio("", guardrails.PreCall, guardrails.PostCall)
	e.Entities = []string{"US_SSN", "US_PASSPORT", "ORDER"}
	e.Recognizers = []guardrails.Recognizer{{Entity: "ORDER", Pattern: `^\bA-[0-9]{4}$`, Score: new(uint32(200)), Context: []string{"order"}}}
	for name, c := range map[string]struct{ arguments, want string }{
		"text and number":    {`{"ssn": "536904399", "customerSsn":536904399}`, `{"ssn": "[US_SSN]", "customerSsn":"[US_SSN]"}`},
		"of another member":  {`{"ssn": "", "count": "536904399"}`, ``},
		"of a member before": {`{"ssn": {"valid": true}, "count": 536904399}`, ``},
		"a list":             {`{"us_passports": ["C01234567", ["C01234568"], {"n": "C01234569"}, "C01234568"]}`, `{"us_passports": ["[US_PASSPORT]", ["[US_PASSPORT]"], {"n": "C01234569"}, "[US_PASSPORT]"]}`},
		"behind an object":   {`{"a": {"ssn": "536904399"}, "n": "536904399", "ssn" : "536904399"}`, `{"a": {"ssn": "[US_SSN]"}, "n": "536904399", "ssn" : "[US_SSN]"}`},
		"a long name":        {`{"` + strings.Repeat("né", 99) + `_ssn":"536904399"}`, `{"` + strings.Repeat("né", 99) + `_ssn":"[US_SSN]"}`},
		"escapes":            {`{"s\u0073n":"536904399"}`, `{"s\u0073n":"[US_SSN]"}`},
		"a pattern of its own, of the whole text": {`{"order":"A-1234","item":"A-1234","order ":"on A-1234"}`, `{"order":"[ORDER]","item":"A-1234","order ":"on A-1234"}`},
		"a key": {
			`{"aws_secret_access_key":"wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzKEY","password":"x8Kq2vB7nZ4mW1tY6sR9cD3fH5jL"}`,
			`{"aws_secret_access_key":"[REDACTED]","password":"[REDACTED]"}`,
		},
	} {
		if c.want == "" {
			c.want = c.arguments
		}
		body, err := gatewayScreen(e, secrets).Answer(t.Context(), texts.Chat(), []byte(called(c.arguments)), false)
		if err != nil || string(body) != called(c.want) {
			t.Errorf("%s:\n%s %v\nwant\n%s", name, body, err, called(c.want))
		}
		for cut := range len(c.arguments) + 1 {
			var s chat
			for _, piece := range []string{c.arguments[:cut], c.arguments[cut:]} {
				s.delta(0, `{"tool_calls":[{"index":0,"function":{"arguments":"`+rawInside(piece)+`"}}]}`, "")
			}
			out, err := stream(t, gatewayScreen(e, secrets), append(s.events, "data: [DONE]\n\n"))
			if got := collect(t, out).arguments[0]; err != nil || got != c.want {
				t.Fatalf("%s, cut at %d: %q %v, want %q", name, cut, got, err, c.want)
			}
		}
	}
}

// TestDocuments: a text of a request that is JSON, as results of tools are, is examined without its escapes, and stays JSON.
func TestDocuments(t *testing.T) {
	t.Parallel()
	filter := guardrails.Engine{Name: "content_filter", Action: "anonymize", Hooks: []string{guardrails.PreCall}, BannedPatterns: []string{`"verb":\s*"drop"`}}
	mail := presidio("", guardrails.PreCall)
	mail.Entities = []string{"EMAIL_ADDRESS", "CREDIT_CARD"}
	for name, c := range map[string]struct{ text, want string }{
		"escapes":                {`{"to": "ada\u0040example.com", "t": "x\nada@example.com"}`, `{"to": "[EMAIL_ADDRESS]", "t": "x\n[EMAIL_ADDRESS]"}`},
		"numbers":                {`[{"card": 4111111111111111}]`, `[{"card": "[CREDIT_CARD]"}]`},
		"names of members":       {`{"ada@example.com": {"n": 1}}`, `{"[EMAIL_ADDRESS]": {"n": 1}}`},
		"nothing is found":       {`{"caf\u00e9": "\/ \u0041"}`, ``},
		"within a string":        {`{"body": "{\"to\": \"ada\\u0040example.com\", \"card\": 4111111111111111}"}`, `{"body": "{\"to\": \"[EMAIL_ADDRESS]\", \"card\": \"[CREDIT_CARD]\"}"}`},
		"twice within a string":  {`["[\"{\\\"to\\\":\\\"ada\\\\u0040example.com\\\"}\"]"]`, `["[\"{\\\"to\\\":\\\"[EMAIL_ADDRESS]\\\"}\"]"]`},
		"text before":            {`Result: {"card": 4111111111111111}`, `Result: {"card": [CREDIT_CARD]}`},
		"brackets that are none": {`[ada@example.com] said {"x": 1}`, `[[EMAIL_ADDRESS]] said {"x": 1}`},
		"a pattern over members": {`{"verb": "drop", "who": "ada@example.com"}`, `{[PATTERN_0], "who": "[EMAIL_ADDRESS]"}`},
	} {
		if c.want == "" {
			c.want = c.text
		}
		for _, message := range []string{`{"role":"tool","tool_call_id":"1","content":"%s"}`, `{"role":"user","content":[{"type":"text","text":"%s"}]}`} {
			request := func(text string) string {
				return `{"messages":[` + strings.Replace(message, "%s", inside(text), 1) + `]}`
			}
			s := gatewayScreen(mail, filter)
			body, err := s.Request(t.Context(), texts.Chat(), []byte(request(c.text)))
			if err != nil || string(body) != request(c.want) {
				t.Errorf("%s:\n%s %v\nwant\n%s", name, body, err, request(c.want))
			}
			if found := counts(s.Violations()); int(found) != strings.Count(c.want, "[")-strings.Count(c.text, "[") {
				t.Errorf("%s: %d findings are recorded: %+v", name, found, s.Violations())
			}
		}
	}
}

// TestTokens: nobody can read a text that comes as tokens. It is recorded as such, or blocked.
func TestTokens(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{"input":[4111111111111111,2]}`, `{"input":[[1, 2],[ 3]]}`, `{"prompt":[15339]}`} {
		e := presidio("", guardrails.PreCall)
		s := gatewayScreen(e)
		out, err := s.Request(t.Context(), texts.Inputs(), []byte(body))
		if found := s.Violations(); err != nil || string(out) != body || len(found) == 0 || found[0].Entity != "UNSCANNABLE" || found[0].Action != "flag" {
			t.Errorf("%s becomes %s, %v, %+v", body, out, err, found)
		}
		e.Unscannable = "block"
		if _, err = gatewayScreen(e).Request(t.Context(), texts.Inputs(), []byte(body)); fault.From(err).Code != "guardrail_blocked" {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// TestPlain: transcriptions that are no JSON.
func TestPlain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"text":      {"Write to ada@example.com\nat 2020-01-02.", "Write to [EMAIL_ADDRESS]\nat [DATE_TIME]."},
		"nothing":   {"a fox\n", ""},
		"half":      {"a \xff ada@example.com", "a \ufffd [EMAIL_ADDRESS]"},
		"subtitles": {"1\n00:00:00,000 --> 00:00:02,500\nI am at\nada@example.com\n\n2\r\n00:00:02,500 --> 00:00:04,000\n2020-01-02\n", "1\n00:00:00,000 --> 00:00:02,500\nI am at\n[EMAIL_ADDRESS]\n\n2\r\n00:00:02,500 --> 00:00:04,000\n[DATE_TIME]\n"},
		"WebVTT":    {"WEBVTT\n\n00:00.000 --> 00:02.500\nada@example.com --> home", "WEBVTT\n\n00:00.000 --> 00:02.500\n[EMAIL_ADDRESS] --> home"},
	} {
		if c.want == "" {
			c.want = c.text
		}
		e := presidio("", guardrails.PostCall)
		e.Entities = []string{"EMAIL_ADDRESS", "DATE_TIME"}
		out, err := gatewayScreen(e).Plain(t.Context(), []byte(c.text))
		if err != nil || string(out) != c.want {
			t.Errorf("%s becomes %q, %v", name, out, err)
		}
		e.Action = "block"
		if _, err = gatewayScreen(e).Plain(t.Context(), []byte(c.text)); (err != nil) != (c.want != c.text) {
			t.Errorf("%s, with block: %v", name, err)
		}
	}
}

// TestCitations: a guardrail examines the quotations of sources in a response. A quotation does not end the text around it.
func TestCitations(t *testing.T) {
	t.Parallel()
	const answer = `{"content":[{"type":"text","text":"x","citations":[{"type":"web_search_result_location","url":"https://example.com/a","encrypted_index":"a@b","cited_text":"Ask a@b","title":"c@d"}]}]}`
	out, err := screen(presidio("", guardrails.PostCall)).Answer(t.Context(), texts.Messages(), []byte(answer), false)
	want := strings.NewReplacer("Ask a@b", "Ask [EMAIL_ADDRESS]", "c@d", "[EMAIL_ADDRESS]").Replace(answer)
	if err != nil || string(out) != want {
		t.Errorf("%s %v", out, err)
	}
	for name, c := range map[string]struct {
		reader   texts.Reader
		in, want string
	}{
		"messages": {texts.Messages(), `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Ask a@"}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"type":"char_location","cited_text":"c@d","document_index":0}}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"b now"}}

data: {"type":"content_block_stop","index":0}

`, `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Ask "}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"type":"char_location","cited_text":"[EMAIL_ADDRESS]","document_index":0}}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"[EMAIL_ADDRESS] "}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"now"}}

data: {"type":"content_block_stop","index":0}

`},
		"responses": {texts.Responses(), `data: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"Ask a@"}

data: {"type":"response.output_text.annotation.added","output_index":0,"content_index":0,"annotation":{"type":"url_citation","title":"c@d"}}

data: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"b now "}

`, `data: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"Ask "}

data: {"type":"response.output_text.annotation.added","output_index":0,"content_index":0,"annotation":{"type":"url_citation","title":"[EMAIL_ADDRESS]"}}

data: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"[EMAIL_ADDRESS] now "}

`},
	} {
		if got := streamed(t, screen(presidio("", guardrails.PostCall)), c.reader, false, c.in); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}
