package cli

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
)

// runSecrets runs `modelgateway secrets` with arguments, and returns what it prints.
func runSecrets(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c := secretsCommand()
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs(args)
	c.SetOut(&out)
	c.SetErr(&out)
	err := c.ExecuteContext(t.Context())
	return out.String(), err
}

func TestSecretsRotate(t *testing.T) {
	answers := []string{`{"resealed":12,"already":3,"total":15}`, `{"resealed":0,"already":15,"total":15}`}
	answering(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/credentials/rotate" || r.Header.Get("Authorization") != "Bearer "+cliKey {
			t.Errorf("%s %s %s", r.Method, r.URL, r.Header)
		}
		_, _ = io.WriteString(w, answers[0])
		answers = answers[1:]
	})
	for _, want := range []string{"run it again", "not needed any more"} {
		out, err := runSecrets(t, "rotate")
		if err != nil || !strings.Contains(out, want) || !strings.Contains(out, "15") || strings.Contains(out, cliKey) {
			t.Errorf("%v\n%s", err, out)
		}
	}
	answers = []string{`{"resealed":1,"already":0,"total":1}`}
	if out, err := runSecrets(t, "rotate", "-o", "json"); err != nil || !strings.HasPrefix(out, "{") || !strings.Contains(out, `"resealed": 1`) {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestSecretsRotateIsRefused(t *testing.T) {
	answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, `{"error":{"message":"Node n2 does not have the key.","type":"invalid_request_error","param":null,"code":"key_not_everywhere"}}`)
	})
	out, err := runSecrets(t, "rotate")
	if err == nil || !strings.Contains(err.Error(), "Node n2 does not have the key.") || out != "" {
		t.Errorf("%v\n%s", err, out)
	}
	if strings.Contains(err.Error(), cliKey) {
		t.Error("the key is shown")
	}
}
