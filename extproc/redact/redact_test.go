package redact

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
	d := &catalog.Deployment{Model: "gpt-4o", APIKey: vault.NewSecret("vendor-credential-7713")}
	a := Attempt{Model: "fast", Deployment: d, Body: []byte(`{"model":"fast","messages":[{"role":"user","content":"My password is hunter2, ask for Zebulon\u0020Pike\nin Z\u00fcrich"}],"temperature":9}`)}
	a.Generated = []byte("a secretword of the model")
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
		if got := a.Message(message); got != want {
			t.Errorf("%q becomes %q, want %q", message, got, want)
		}
	}
	if got := a.Message(strings.Repeat("error ", 1000)); len(got) > maxFailureMessage {
		t.Errorf("%d bytes are kept", len(got))
	}
	a.Body = make([]byte, maxEchoBody+1)
	if got := a.Message("error"); got != "" {
		t.Errorf("of a request too large to compare with %q is kept", got)
	}
}
