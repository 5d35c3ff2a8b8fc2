package guard_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// TestManyEntities: a text with 100,000 different values becomes one without, the records of it stay few, and the values
// come back if that is asked for.
func TestManyEntities(t *testing.T) {
	t.Parallel()
	const many = 100_000
	var b strings.Builder
	for i := range many {
		fmt.Fprintf(&b, "ada%d@example.com ", i)
	}
	body := `{"messages":[{"role":"user","content":"` + b.String() + `"}]}`
	e := presidio("", guardrails.PreCall) // all entities: the findings of several scanners are merged
	s := gatewayScreen(e)
	out, err := s.Request(t.Context(), texts.Chat(), []byte(body))
	if err != nil || strings.Contains(string(out), "@") || strings.Count(string(out), "[EMAIL_ADDRESS]") != many {
		t.Fatalf("%d are replaced, error %v", strings.Count(string(out), "[EMAIL_ADDRESS]"), err)
	}
	if found := s.Violations(); len(found) != 1 || found[0].Count != many {
		t.Errorf("recorded are %+v", found)
	}

	e.Entities = []string{"EMAIL_ADDRESS"}
	parts := `{"messages":[{"role":"user","content":[` + strings.TrimSuffix(strings.Repeat(`{"type":"text","text":"ada@example.com"},`, many), ",") + `]}]}`
	s = gatewayScreen(e)
	if out, err = s.Request(t.Context(), texts.Chat(), []byte(parts)); err != nil || strings.Contains(string(out), "@") {
		t.Fatal(err)
	}
	if found := s.Violations(); len(found) > 200 || counts(found) != many {
		t.Errorf("%d records of %d findings", len(found), counts(found))
	}

	e.Reversible = true
	s = gatewayScreen(e)
	if out, err = s.Request(t.Context(), texts.Chat(), []byte(body)); err != nil || !strings.Contains(string(out), fmt.Sprintf("[EMAIL_ADDRESS_%d]", many)) {
		t.Fatal(err)
	}
	answer := `{"choices":[{"index":0,"message":{"role":"assistant","content":"%s"}}]}`
	out, err = s.Answer(t.Context(), texts.Chat(), fmt.Appendf(nil, answer, "To [EMAIL_ADDRESS_100000] and [EMAIL_ADDRESS_1]"), false)
	if want := fmt.Sprintf(answer, "To ada99999@example.com and ada0@example.com"); err != nil || string(out) != want {
		t.Errorf("%s %v", out, err)
	}
}

func counts(found []usage.Violation) (n int64) {
	for i := range found {
		n += found[i].Count
	}
	return n
}

// TestPatternsStayLinear: patterns over which engines that backtrack would work for years.
func TestPatternsStayLinear(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{`(a+)+$`, `(a|aa)+$`, `(.*a){12}b`, `([a-z]+)*[0-9]`} {
		e := guardrails.Engine{Name: "content_filter", Hooks: []string{guardrails.PreCall}, BannedPatterns: []string{pattern}}
		text := strings.Repeat("a", 100_000) + "!"
		body := `{"messages":[{"role":"user","content":"` + text + `"}]}`
		if _, err := gatewayScreen(e).Request(t.Context(), texts.Chat(), []byte(body)); err != nil && fault.From(err).Kind != fault.Blocked {
			t.Errorf("%s: %v", pattern, err)
		}
		e = presidio("", guardrails.PreCall)
		e.Entities, e.Recognizers = []string{"EMAIL_ADDRESS"}, []guardrails.Recognizer{{Entity: "X", Pattern: pattern}}
		if _, err := gatewayScreen(e).Request(t.Context(), texts.Chat(), []byte(body)); err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}

// TestLookAlikes: what looks like a value to a person and to a model is found, in whichever characters it is written.
func TestLookAlikes(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{
		"full width":          "ａｄａ＠ｅｘａｍｐｌｅ．ｃｏｍ",
		"zero-width space":    "ada\u200b@exam\u200bple.com",
		"soft hyphen":         "ada@exam\u00adple.com",
		"word joiner":         "a\u2060da@example.com",
		"escaped":             `\u0061da\u0040example.com`,
		"digits of Arabic":    "٤١١١ ١١١١ ١١١١ ١١١١",
		"full-width digits":   "４１１１１１１１１１１１１１１１",
		"mathematical digits": "𝟒𝟏𝟏𝟏 𝟏𝟏𝟏𝟏 𝟏𝟏𝟏𝟏 𝟏𝟏𝟏𝟏",
		"no-break spaces":     "4111\u00a01111\u00a01111\u00a01111",
		"thin spaces":         "4111\u20091111\u20091111\u20091111",
		"other hyphens":       "4111\u20111111\u20111111\u20111111",
		"tag characters":      "a\U000E0064da@example.com",
	} {
		body := `{"messages":[{"role":"user","content":"It is ` + value + ` today"}]}`
		e := presidio("", guardrails.PreCall)
		e.Entities = []string{"EMAIL_ADDRESS", "CREDIT_CARD"}
		out, err := gatewayScreen(e).Request(t.Context(), texts.Chat(), []byte(body))
		masked := strings.Contains(string(out), `"It is [EMAIL_ADDRESS] today"`) || strings.Contains(string(out), `"It is [CREDIT_CARD] today"`)
		if err != nil || !masked {
			t.Errorf("%s: %s %v", name, out, err)
		}
	}
}
