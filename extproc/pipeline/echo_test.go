package pipeline

import (
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// A provider's message stays legible, and nothing of the request or of a credential
// stays in it.
func TestMessagesRepeatNothing(t *testing.T) {
	t.Parallel()
	x := &Exchange{Body: []byte(`{"model":"fast","messages":[{"role":"user","content":"My password is hunter2, ask for Zebulon\u0020Pike\nin Z\u00fcrich"}],"temperature":9}`)}
	x.Facts.Model = "fast"
	d := &catalog.Deployment{Model: "gpt-4o", APIKey: vault.NewSecret("vendor-credential-7713")}
	for message, want := range map[string]string{
		"Invalid value for temperature: must be at most 2.":  "Invalid value for temperature: must be at most 2.",
		"The model `gpt-4o` does not exist":                  "The model `gpt-4o` does not exist",
		"Rate limit reached for gpt-4o in organization":      "Rate limit reached for gpt-4o in organization",
		"Content blocked: 'My password is hunter2, ask'":     "Content blocked: [...] is [...]",
		"Invalid content 'zebulon pike'":                     "Invalid content [...]",
		"Unexpected text Zebu...":                            "Unexpected text [...]",
		"Incorrect API key provided: vendor-c***7713.":       "Incorrect API key provided: [...]",
		"Bad token credential-77":                            "Bad token [...]",
		"See https://x.example/e/0123456789abcdef0123456789": "See [...]",
		"Inhalt aus Zürich abgelehnt":                        "Inhalt aus [...] abgelehnt",
		"answered with secretword":                           "answered with [...]",
	} {
		if got := x.safeMessage(message, d, []byte("a secretword of the model")); got != want {
			t.Errorf("%q becomes %q, want %q", message, got, want)
		}
	}
	if got := x.safeMessage(strings.Repeat("error ", 1000), d, nil); len(got) > maxFailureMessage {
		t.Errorf("%d bytes are kept", len(got))
	}
	x.Body = make([]byte, maxEchoBody+1)
	if got := x.safeMessage("error", d, nil); got != "" {
		t.Errorf("of a request too large to compare with %q is kept", got)
	}
}

func TestTraceParents(t *testing.T) {
	t.Parallel()
	const id, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	for value, valid := range map[string]bool{
		"00-" + id + "-" + parent + "-01":                      true,
		"00-" + id + "-" + parent + "-ff":                      true,
		"cc-" + id + "-" + parent + "-01":                      true,
		"cc-" + id + "-" + parent + "-01-what-comes-later":     true,
		"cc-" + id + "-" + parent + "-01.what":                 false,
		"00-" + id + "-" + parent + "-01-more":                 false,
		"ff-" + id + "-" + parent + "-01":                      false,
		"00-" + strings.ToUpper(id) + "-" + parent + "-01":     false,
		"00-" + strings.Repeat("0", 32) + "-" + parent + "-01": false,
		"00-" + id + "-" + strings.Repeat("0", 16) + "-01":     false,
		"00-" + id + "-" + parent:                              false,
		"00-" + id + "-" + parent + "-0":                       false,
		"":                                                     false,
	} {
		var tr trace
		tr.setParent(value)
		if tr.isZero() == valid {
			t.Errorf("%q: valid is %t", value, !tr.isZero())
		}
		if h := tr.headers(nil); valid && (len(h) != 1 || !strings.HasPrefix(h[0].Value, "00-"+id) || strings.Contains(h[0].Value, parent)) {
			t.Errorf("%q goes on as %v", value, h)
		}
	}
	var twice trace
	twice.setParent("00-" + id + "-" + parent + "-01")
	twice.addState("a=1")
	twice.addState("b=" + strings.Repeat("x", 600))
	if h := twice.headers(nil); len(h) != 2 || h[1].Value != "a=1" {
		t.Errorf("the state goes on as %v", h)
	}
	if twice.setParent("00-" + id + "-" + parent + "-01"); !twice.isZero() {
		t.Error("two parents are one")
	}
}
