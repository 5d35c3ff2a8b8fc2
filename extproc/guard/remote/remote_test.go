package remote_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster/signature"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/guard/engine"
	"github.com/modelgateway/modelgateway/extproc/guard/engine/enginetest"
	"github.com/modelgateway/modelgateway/extproc/guard/remote"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// name is what the services of these tests find.
const name = "Ada Ünal"

// serve starts a service.
func serve(t *testing.T, handle http.HandlerFunc) remote.Service {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	return remote.Service{URL: server.URL, Timeout: 30 * time.Second}
}

func client(t *testing.T) *remote.Client {
	t.Helper()
	c := remote.NewClient(remote.Config{Private: true})
	t.Cleanup(c.Close)
	return c
}

// analysis is a request to an analyzer.
type analysis struct {
	Text      string   `json:"text"`
	Texts     []string `json:"-"`
	Language  string   `json:"language"`
	Threshold float64  `json:"score_threshold"`
	Entities  []string `json:"entities"`
}

func read(r *http.Request) (a analysis, list bool, err error) {
	var raw struct {
		Text      any      `json:"text"`
		Language  string   `json:"language"`
		Threshold float64  `json:"score_threshold"`
		Entities  []string `json:"entities"`
	}
	if err = json.UnmarshalRead(r.Body, &raw); err != nil {
		return a, false, err
	}
	a.Language, a.Threshold, a.Entities = raw.Language, raw.Threshold, raw.Entities
	switch text := raw.Text.(type) {
	case string:
		a.Text, a.Texts = text, []string{text}
	case []any:
		for _, one := range text {
			a.Texts = append(a.Texts, fmt.Sprint(one))
		}
		return a, true, nil
	}
	return a, false, nil
}

// places returns where a text has the name, in code points.
func places(text string) []map[string]any {
	out := []map[string]any{}
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return out
		}
		start := utf8.RuneCountInString(text[:at+i])
		out = append(out, map[string]any{"entity_type": "PERSON", "start": start, "end": start + utf8.RuneCountInString(name), "score": 0.85})
		at += i + len(name)
	}
}

// analyzer is an analyzer of Presidio. One that is old does not know lists of texts.
func analyzer(t *testing.T, old bool) http.HandlerFunc { //nolint:revive // says which analyzer it is
	t.Helper()
	return func(w http.ResponseWriter, r *http.Request) {
		a, list, err := read(r)
		if err != nil || r.URL.Path != "/analyze" || a.Language != "en" || a.Threshold != 0.5 {
			t.Errorf("the analyzer gets %s %+v %v", r.URL.Path, a, err)
		}
		if list && old {
			http.Error(w, `{"error":"text must be a string"}`, http.StatusInternalServerError)
			return
		}
		all := [][]map[string]any{}
		for _, text := range a.Texts {
			all = append(all, places(text))
		}
		if list {
			_ = json.MarshalWrite(w, all)
			return
		}
		_ = json.MarshalWrite(w, all[0])
	}
}

func corpus() []string {
	return []string{
		"", " ", "Hello " + name + ".", "Ärger: " + name + ", 😀 " + name + "! And so on? " + name,
		"This is a first sentence, which is long enough. This is " + name + " in the second one. And " + name + "\nis on two lines.",
		strings.Repeat("a word and ", 60) + name + strings.Repeat(" and no end of it", 40) + " " + name + ".",
		strings.Repeat("x", 600) + " " + name, strings.Repeat("é", 300), "Mr. B. " + name + " vs. " + name + "。" + name,
	}
}

// TestCutAnywhere: a stream has the same findings as the whole response, and holds back as much as any engine may.
func TestCutAnywhere(t *testing.T) {
	t.Parallel()
	for title, old := range map[string]bool{"with lists": false, "without lists": true} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			short := corpus()[:5]
			enginetest.CutAnywhere(t, client(t).NewPresidio(&remote.Presidio{Service: serve(t, analyzer(t, old))}), short)
		})
	}
	text := corpus()[4]
	found := enginetest.Whole(t, client(t).NewPresidio(&remote.Presidio{Service: serve(t, analyzer(t, false))}), text)
	if got := enginetest.Marked(text, found); got != strings.ReplaceAll(text, name, "[PERSON:"+name+"]") {
		t.Error(got)
	}
}

// TestLongTexts: of longer texts, too, every name is found, in requests and in responses.
func TestLongTexts(t *testing.T) {
	t.Parallel()
	for _, hook := range []string{"pre_call", "post_call"} {
		s := client(t).NewPresidio(&remote.Presidio{Service: serve(t, analyzer(t, false))}).Scanner()
		s.(engine.Informed).Inform(engine.Call{Hook: hook})
		for _, text := range append(corpus(), strings.Repeat("Here is a sentence. ", 9000)+name) {
			s.Begin(texts.Content, texts.User)
			found, decided, err := s.Scan(t.Context(), []byte(text), 0, true, nil)
			if got := enginetest.Marked(text, found); err != nil || decided != len(text) || got != strings.ReplaceAll(text, name, "[PERSON:"+name+"]") {
				t.Errorf("%s: %.300s %v", hook, got, err)
			}
		}
	}
}

// scan examines a text once.
func scan(t *testing.T, e engine.Engine, text string) ([]engine.Finding, error) {
	t.Helper()
	s := e.Scanner()
	s.Begin(texts.Content, texts.User)
	found, _, err := s.Scan(t.Context(), []byte(text), 0, true, nil)
	return found, err
}

// TestNonsense: whatever a service sends in place of findings is a failure of the engine, whose error has nothing of it.
func TestNonsense(t *testing.T) {
	t.Parallel()
	const secret = "canary"
	answers := map[string]string{
		"nothing": "", "no JSON": secret, "null": "null", "an object": `{"a":"` + secret + `"}`, "a number": "1", "lists": "[[]]", "half": `[{"entity_type":"PERSON"`,
		"no places":           `[{"entity_type":"PERSON","score":1}]`,
		"no score":            `[{"entity_type":"PERSON","start":0,"end":1}]`,
		"a place behind it":   `[{"entity_type":"PERSON","start":0,"end":99,"score":1}]`,
		"a place before it":   `[{"entity_type":"PERSON","start":-1,"end":2,"score":1}]`,
		"a place in bytes":    `[{"entity_type":"PERSON","start":0,"end":16,"score":1}]`,
		"nothing of it":       `[{"entity_type":"PERSON","start":2,"end":2,"score":1}]`,
		"the wrong way":       `[{"entity_type":"PERSON","start":3,"end":2,"score":1}]`,
		"a fraction":          `[{"entity_type":"PERSON","start":0.5,"end":2,"score":1}]`,
		"a huge place":        `[{"entity_type":"PERSON","start":0,"end":1e300,"score":1}]`,
		"a score above 1":     `[{"entity_type":"PERSON","start":0,"end":1,"score":85}]`,
		"a score as text":     `[{"entity_type":"PERSON","start":0,"end":1,"score":"` + secret + `"}]`,
		"a name of no form":   `[{"entity_type":"` + secret + `","start":0,"end":1,"score":1}]`,
		"no name":             `[{"start":0,"end":1,"score":1}]`,
		"too much":            `[` + strings.Repeat(" ", 3<<20) + `]`,
		"invalid UTF-8":       "[{\"entity_type\":\"PERSON\xff\",\"start\":0,\"end\":1,\"score\":1}]",
		"a place of unwanted": `[{"entity_type":"LOCATION","start":0,"end":99,"score":1}]`,
	}
	for title, answer := range answers {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			s := &remote.Presidio{Service: serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) })}
			if strings.Contains(title, "unwanted") {
				s.Entities = []string{"PERSON"}
			}
			e := client(t).NewPresidio(s)
			if found, err := scan(t, e, "Ada Ünal, Ulm é"); err == nil || len(found) > 0 || strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "Ada") {
				t.Errorf("%v, %v", found, err)
			}
		})
	}
	for status := range map[int]bool{201: true, 204: true, 301: true, 307: true, 400: true, 401: true, 404: true, 422: true, 429: true, 500: true, 503: true} {
		e := client(t).NewPresidio(&remote.Presidio{Service: serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", r.URL.Path+"/"+secret)
			w.WriteHeader(status)
		})})
		if _, err := scan(t, e, "Ada"); err == nil || !strings.Contains(err.Error(), fmt.Sprint(status)) || strings.Contains(err.Error(), secret) {
			t.Errorf("status %d: %v", status, err)
		}
	}
	e := client(t).NewPresidio(&remote.Presidio{Service: serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("["))
	})})
	if _, err := scan(t, e, "Ada"); err == nil {
		t.Error("a response that breaks off passes")
	}
}

// TestSettings: what the settings leave out is left.
func TestSettings(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if a, _, err := read(r); err != nil || a.Language != "de" || a.Threshold != 0.7 || fmt.Sprint(a.Entities) != "[PERSON]" {
			t.Errorf("the analyzer gets %+v, %v", a, err)
		}
		_, _ = w.Write([]byte(`[{"entity_type":"PERSON","start":0,"end":3,"score":0.9},{"entity_type":"PERSON","start":4,"end":7,"score":0.9},
			{"entity_type":"PERSON","start":8,"end":11,"score":0.6},{"entity_type":"LOCATION","start":12,"end":15,"score":0.9},
			{"entity_type":"PERSON","start":2,"end":7,"score":0.7,"analysis_explanation":null}]`))
	})
	e := client(t).NewPresidio(&remote.Presidio{Service: s, Language: "de", Entities: []string{"PERSON"}, AllowList: []string{"EVA"}, Threshold: new(uint32(700))})
	found, err := scan(t, e, "Ada Eva Ida Ulm")
	if got := enginetest.Marked("Ada Eva Ida Ulm", found); err != nil || got != "[PERSON:Ad][PERSON:a Eva] Ida Ulm" {
		t.Errorf("%s %v", got, err)
	}
}

// TestLateServices: a call that takes too long fails, and the service is not asked again for this request. The end of
// the request ends the call.
func TestLateServices(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	release := make(chan struct{})
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		select {
		case <-r.Context().Done():
		case <-release:
		}
	})
	t.Cleanup(func() { close(release) })
	s.Timeout = time.Millisecond
	scanner := client(t).NewPresidio(&remote.Presidio{Service: s}).Scanner()
	for range 3 {
		scanner.Begin(texts.Content, texts.User)
		if _, _, err := scanner.Scan(t.Context(), []byte("Ada"), 0, true, nil); err == nil || !strings.Contains(err.Error(), "does not respond within 1ms") {
			t.Errorf("%v", err)
		}
	}
	if _, _, err := scanner.Fork().Scan(t.Context(), []byte("Ada"), 0, true, nil); err == nil {
		t.Error("the response asks a service again that was late")
	}
	if asked.Load() > 1 {
		t.Errorf("the service is asked %d times", asked.Load())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	fresh := client(t).NewPresidio(&remote.Presidio{Service: remote.Service{URL: "http://127.0.0.1:1"}}).Scanner()
	if _, _, err := fresh.Scan(ctx, []byte("Ada"), 0, true, nil); err == nil {
		t.Error("a request that has ended goes on")
	}
}

// TestParallelCalls: no more calls are under way than the settings allow, and one that gets no place in time fails.
func TestParallelCalls(t *testing.T) {
	t.Parallel()
	begun, release := make(chan struct{}), make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		begun <- struct{}{}
		<-release
		_, _ = w.Write([]byte("[]"))
	})
	s.Parallel = 1
	e := client(t).NewPresidio(&remote.Presidio{Service: s})
	done := make(chan error, 2)
	ask := func() {
		_, err := scan(t, e, "Ada")
		done <- err
	}
	go ask()
	<-begun
	go ask()
	select {
	case <-begun:
		t.Error("two calls are under way")
	case release <- struct{}{}:
	}
	<-begun
	release <- struct{}{}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TestForbiddenAddresses: without leave no service in a private network is called, and with it none of a cloud's metadata.
func TestForbiddenAddresses(t *testing.T) {
	t.Parallel()
	for address, private := range map[string]bool{"http://127.0.0.1:1": false, "http://10.0.0.1": false, "http://169.254.169.254": true, "http://[fe80::1]": true} {
		c := remote.NewClient(remote.Config{Private: private})
		t.Cleanup(c.Close)
		if _, err := scan(t, c.NewPresidio(&remote.Presidio{Service: remote.Service{URL: address}}), "Ada"); err == nil || !strings.Contains(err.Error(), "allow_private_endpoints") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestChecker: the request that a checker gets, and the responses that it may send.
func TestChecker(t *testing.T) {
	t.Parallel()
	secret := vault.NewSecret("whsec_0123456789")
	const text = "Hello Ünal, how are you?"
	for title, c := range map[string]struct{ answer, want string }{
		"nothing":        {`{"results":[{"action":"none"}]}`, text},
		"spans":          {`{"results":[{"action":"anonymize","spans":[{"start":12,"end":15},{"entity":"PERSON","start":6,"end":10}]}]}`, "Hello [PERSON:Ünal], [CHECKED:how] are you?"},
		"the whole text": {`{"results":[{"action":"flag","entity":"TONE"}]}`, "[TONE:" + text + "]"},
		"a replacement":  {`{"results":[{"action":"anonymize","replacement":"Bye"}]}`, "[CHECKED:" + text + "]"},
		"more members":   {`{"results":[{"action":"none","why":"x"}],"model":"y"}`, text},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				var in struct {
					Guardrail, Hook, Kind, Role string
					Request                     string `json:"request_id"`
					Organization                string `json:"organization_id"`
					Team                        string `json:"team_id"`
					Texts                       []struct{ Text string }
				}
				if err := json.UnmarshalRead(r.Body, &in, json.MatchCaseInsensitiveNames(true)); err != nil || in.Guardrail != "g" || in.Hook != "pre_call" ||
					in.Request != "req_1" || in.Organization != "o" || in.Team != "t" || in.Kind != "content" || in.Role != "user" || len(in.Texts) != 1 || in.Texts[0].Text != text {
					t.Errorf("the checker gets %+v, %v", in, err)
				}
				if r.Header.Get(signature.Header) == "" || r.Header.Get("Authorization") != "Bearer key" {
					t.Errorf("the headers are %v", r.Header)
				}
				_, _ = w.Write([]byte(c.answer))
			})
			s.Key = vault.NewSecret("key")
			scanner := client(t).NewChecker(&remote.Checker{Service: s, Secret: secret}).Scanner()
			scanner.(engine.Informed).Inform(engine.Call{Guardrail: "g", Hook: "pre_call", Request: "req_1", Organization: "o", Team: "t"})
			scanner.Begin(texts.Content, texts.User)
			found, _, err := scanner.Scan(t.Context(), []byte(text), 0, true, nil)
			if got := enginetest.Marked(text, found); err != nil || got != c.want {
				t.Errorf("%s %v", got, err)
			}
			for _, f := range found {
				if !strings.Contains(c.answer, `"action":"`+f.Action+`"`) || f.Replaced != strings.Contains(c.answer, "replacement") || f.Replaced && f.Replacement != "Bye" {
					t.Errorf("%+v", f)
				}
			}
		})
	}
	for title, answer := range map[string]string{
		"another action": `{"results":[{"action":"allow"}]}`, "no action": `{"results":[{}]}`, "no results": `{}`, "too few": `{"results":[]}`,
		"too many":       `{"results":[{"action":"none"},{"action":"none"}]}`,
		"overlap":        `{"results":[{"action":"block","spans":[{"start":0,"end":3},{"start":2,"end":4}]}]}`,
		"both":           `{"results":[{"action":"anonymize","replacement":"x","spans":[{"start":0,"end":3}]}]}`,
		"a long one":     `{"results":[{"action":"anonymize","replacement":"` + strings.Repeat("x", 17<<10) + `"}]}`,
		"a name":         `{"results":[{"action":"block","entity":"no name"}]}`,
		"a place":        `{"results":[{"action":"block","spans":[{"start":0,"end":300}]}]}`,
		"half of a span": `{"results":[{"action":"block","spans":[{"start":0}]}]}`,
	} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) })
		if found, err := scan(t, client(t).NewChecker(&remote.Checker{Service: s, Secret: secret}), text); err == nil || len(found) > 0 {
			t.Errorf("%s: %v, %v", title, found, err)
		}
	}
}

// TestNamesAreBounded: a service cannot fill the records and metrics with names.
func TestNamesAreBounded(t *testing.T) {
	t.Parallel()
	var n atomic.Int32
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `[{"entity_type":"NAME_%d","start":0,"end":1,"score":1}]`, n.Add(1))
	})
	e := client(t).NewPresidio(&remote.Presidio{Service: s})
	seen := map[string]bool{}
	for range 100 {
		found, err := scan(t, e, "Ada")
		if err != nil {
			t.Fatal(err)
		}
		seen[found[0].Entity] = true
	}
	if len(seen) != 65 || !seen["OTHER"] {
		t.Errorf("%d names", len(seen))
	}
}
