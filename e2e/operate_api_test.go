package e2e

import (
	"context"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
)

// configDump asks Envoy for all that it has been told, at its admin socket.
func (g *gatewayProcess) configDump() string {
	g.t.Helper()
	sockets, err := filepath.Glob(filepath.Join(g.data, "run", "*"))
	if err != nil {
		g.t.Fatal(err)
	}
	for _, path := range sockets {
		c := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}}}
		resp, err := c.Get("http://envoy/config_dump?include_eds")
		if err != nil {
			continue // not a socket, or not that one
		}
		text, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err == nil && strings.Contains(string(text), "type.googleapis.com/envoy.admin") {
			return string(text)
		}
	}
	g.t.Fatalf("none of %v is Envoy's admin socket", sockets)
	return ""
}

// TestManagedSecretsStaySecret gives the API secrets of every sort, in requests
// that are right and in requests that are wrong, and finds none of them in what
// anybody can look at: answers, lists, the log, metrics, Envoy's configuration, and
// every file of the data directory.
func TestManagedSecretsStaySecret(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, quickstart(p))
	var seen strings.Builder
	post := func(path, body string, options ...option) *answer {
		a := g.do(http.MethodPost, path, strings.NewReader(body), options...)
		return a
	}
	look := func(a *answer) {
		seen.WriteString(a.body)
		for name, values := range a.header {
			seen.WriteString(name + strings.Join(values, ","))
		}
	}
	marks := map[string]bool{adminKey: true}
	mark := func(name string) string {
		m := "sk-mark-" + name + "-5fe1c0ffee"
		marks[m] = true
		return m
	}
	secret := func(a *answer) string { // the one answer that has a new key
		var made struct {
			Key string `json:"key"`
		}
		if err := json.Unmarshal([]byte(a.body), &made); err != nil || !strings.HasPrefix(made.Key, "sk-") || a.status != http.StatusOK {
			t.Fatalf("no key was made: %d %s", a.status, a.body)
		}
		marks[made.Key] = true
		seen.WriteString(strings.ReplaceAll(a.body, made.Key, ""))
		return made.Key
	}

	look(post("/credentials", `{"credential_name":"prod","credential_values":{"api_key":"`+mark("credential")+`","api_base":"`+p.url+`/v1"},"credential_info":{"a":1}}`))
	look(g.do(http.MethodPatch, "/credentials/prod", strings.NewReader(`{"credential_values":{"api_key":"`+mark("replaced")+`"}}`)))
	look(post("/credentials", `{"credential_name":"bad name","credential_values":{"api_key":"`+mark("badname")+`"}}`))
	look(post("/credentials", `{"credential_name":"x","credential_values":{"api_key":"`+mark("crlf")+`\r\nx: y"}}`))
	look(post("/model/new", `{"model_name":"own","gateway_params":{"model":"openai/fake-gpt","api_base":"`+p.url+`/v1","api_key":"`+mark("model")+`","extra_headers":{"x-team":"`+mark("header")+`"}},"model_info":{"id":"own-1"}}`))
	look(post("/model/new", `{"model_name":"named","gateway_params":{"model":"openai/fake-gpt","credential_name":"prod"},"model_info":{"id":"named-1"}}`))
	look(post("/model/new", `{"model_name":"x","gateway_params":{"model":"nobody/x","api_key":"`+mark("provider")+`"}}`))
	look(post("/model/new", `{"model_name":"x","gateway_params":{"model":"openai/x","aws_secret_access_key":"`+mark("aws")+`"}}`))
	look(post("/model/update", `{"model_id":"own-1","gateway_params":{"api_base":"http://127.0.0.1:9/v1"}}`))
	for _, model := range []string{"own", "named"} {
		if a := g.chat(request(model, "")); a.status != http.StatusOK {
			t.Errorf("%s answers %d %s", model, a.status, a.body)
		}
	}

	first := secret(post("/key/generate", `{"key_alias":"first"}`, with("Idempotency-Key", "one")))
	if again := post("/key/generate", `{"key_alias":"first"}`, with("Idempotency-Key", "one")); !strings.Contains(again.body, first) || again.header.Get("idempotency-replayed") != "true" {
		t.Errorf("asked again: %d %s", again.status, again.body)
	}
	look(post("/key/generate", `{"key_alias":"other"}`, with("Idempotency-Key", "one")))
	secret(post("/key/generate", `{"key":"`+mark("own-key")+`"}`))
	second := secret(post("/key/regenerate", `{"key":"`+first+`","grace_period":"1h"}`))
	secret(post("/user/new", `{"user_id":"ada"}`))
	look(post("/key/update", `{"key":"`+second+`","rpm_limit":5,"nonsense":"`+second+`"}`))
	look(post("/key/info", `{"key":"`+second+`"}`))
	look(g.get("/key/info?key=" + mark("unknown-key")))
	look(g.get("/key/info?key=" + second))
	look(post("/key/block", `{"key":"`+second+`"}`))
	look(g.chat(request("fast", ""), with("Authorization", "Bearer "+second)))
	look(post("/key/delete", `{"keys":["`+second+`","`+mark("not-there")+`"]}`))

	for _, r := range surface.Routes() {
		if r.Method == http.MethodGet && !strings.Contains(r.Path, "{") {
			look(g.get(r.Path))
			look(g.get(r.Path + "?return_full_object=true&size=100"))
		}
	}
	for _, path := range []string{"/credentials/prod", "/user/info?user_id=ada", "/metrics", "/openapi.json", "/docs", "/v1/models", "/cluster/status?checksum=true"} {
		look(g.get(path))
	}
	dump := g.configDump()
	if !strings.Contains(dump, strings.TrimPrefix(p.url, "http://127.0.0.1:")) {
		t.Error("Envoy's configuration does not know the provider: nothing was looked at")
	}
	seen.WriteString(dump)
	g.stop()
	seen.WriteString(g.log.String())
	files := 0
	err := filepath.WalkDir(g.data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		files++
		seen.Write(b)
		return err
	})
	if err != nil || files < 3 {
		t.Fatalf("%d files in the data directory, %v", files, err)
	}
	for m := range marks {
		if i := strings.Index(seen.String(), m); i >= 0 {
			t.Errorf("%s is to be seen: …%q…", m, seen.String()[max(0, i-200):min(seen.Len(), i+100)])
		}
	}
	for _, want := range []string{`"credential_name":"prod"`, `"key_alias":"first"`, "named-1"} {
		if !strings.Contains(strings.ReplaceAll(seen.String(), ": ", ":"), want) {
			t.Errorf("%s was not looked at", want)
		}
	}
}
