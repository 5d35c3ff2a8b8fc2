package e2e

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// soundModels are deployments with the prices of the built-in table. Text after a blank is more of
// their parameters.
func soundModels(p *upstream, pairs ...string) string {
	var b strings.Builder
	b.WriteString("model_list:\n")
	for _, pair := range pairs {
		name, model, _ := strings.Cut(pair, "=")
		model, more, _ := strings.Cut(model, " ")
		fmt.Fprintf(&b, "  - {model_name: %s, gateway_params: {model: %q, api_base: %s/v1, api_key: provider-key-%s%s}, model_info: {id: %s-id}}\n", name, model, p.url, name, more, name)
	}
	return b.String()
}

// The OpenAI SDK sends sound and pictures, and each request costs what its unit says.
func TestSoundWithTheOpenAISDK(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, soundModels(p, "tts=openai/tts-1", "mini-tts=openai/gpt-4o-mini-tts", "whisper=openai/whisper-1",
		"transcribe=openai/gpt-4o-transcribe", "picture=openai/gpt-image-1", "failing=openai/fail-500"))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, pythonPath(t), "e2e/testdata/python/openai_sound.py")
	cmd.Env = append(os.Environ(), "BASE_URL="+g.url+"/v1", "API_KEY="+adminKey)
	if out, err := cmd.CombinedOutput(); err != nil || strings.Count(string(out), "\nok ")+1 < 10 {
		t.Errorf("%v\n%s", err, out)
	}
	seen := map[string]int{}
	for _, r := range g.spend("") {
		if r.Status != "success" {
			continue
		}
		seen[r.Group+" "+r.Source+" "+string(r.Spend)]++
		if r.Group == "transcribe" && len(r.Tags) > 0 && (strings.Join(r.Tags, ",") != "blue,green" || r.EndUser != "ada") {
			t.Errorf("the row has tags %v and end user %q", r.Tags, r.EndUser)
		}
	}
	for want, least := range map[string]int{
		"tts measured 0.00018":       2, // 12 characters
		"whisper measured 0.0002":    3, // text and subtitles of two seconds
		"whisper provider 0.0002003": 4, // the fake provider counts the header of the file as sound
	} {
		if seen[want] < least {
			t.Errorf("%d rows are %q, want %d; there are %v", seen[want], want, least, seen)
		}
	}
	for _, q := range p.Requests() {
		if strings.Contains(q.Body, "tags[]") || strings.Contains(q.Body, `name="num_retries"`) || strings.Contains(q.Body, `"stream_options"`) {
			t.Errorf("the provider gets the gateway's own fields: %.600q", q.Body)
		}
	}
}

// longForm is a form with a model and a file of size bytes; last is the name of the last field.
func longForm(model string, size int, last string) string {
	const boundary = "------------------------d74496d66958873e"
	field := "--" + boundary + "\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\n" + model + "\r\n"
	content := make([]byte, 0, size)
	for i := uint32(1); len(content) < size; i++ {
		n := i * 2654435761 // no two places are alike, and all bytes occur
		content = append(content, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	}
	file := "--" + boundary + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.mp3\"\r\nContent-Type: audio/mpeg\r\n\r\n" + string(content) + "\r\n"
	if last == "model" {
		return file + field + "--" + boundary + "--\r\n"
	}
	return field + file + "--" + boundary + "--\r\n"
}

// A long form reaches the second provider byte for byte, whatever became of the first.
func TestLongFormIsRetried(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, soundModels(p, "whisper-1=openai/whisper-1", "down=openai/fail-500", "broken=openai/reset", "flaky=openai/flaky-1")+`
router_settings:
  num_retries: 1
  retry_after: 0.01
  cooldown_time: 0
  fallbacks: [{down: [whisper-1]}, {broken: [whisper-1]}]
`)
	const size = 20 << 20
	for _, c := range []struct {
		model, served string // what the caller asks for, and what the last provider gets
		declared      bool
		field         string // the last one
	}{
		{"down", "whisper-1", true, "model"},
		{"down", "whisper-1", false, "file"},
		{"broken", "whisper-1", true, "file"},
		{"flaky", "flaky-1", true, "model"},
		{"whisper-1", "whisper-1", true, "model"},
	} {
		var r io.Reader = strings.NewReader(longForm(c.model, size, c.field))
		if !c.declared {
			r = io.MultiReader(r) // net/http does not see its length
		}
		before := len(p.Requests())
		a := g.do(http.MethodPost, "/v1/audio/transcriptions", r, with("Content-Type", "multipart/form-data; boundary=------------------------d74496d66958873e"))
		if a.status != http.StatusOK || !strings.Contains(a.body, fmt.Sprintf("a file of %d bytes", size)) {
			t.Errorf("%+v: %d %.300s", c, a.status, a.body)
			continue
		}
		requests := p.Requests()[before:]
		last := requests[len(requests)-1]
		if want := fmt.Sprintf("%x", sha256.Sum256([]byte(longForm(c.served, size, c.field)))); last.SHA256 != want || last.Model != c.served {
			t.Errorf("%+v: %d bytes for %s reach the provider and are not those that were sent", c, last.BodyBytes, last.Model)
		}
		if want := c.model == c.served; (len(requests) == 1) != want {
			t.Errorf("%+v: the provider saw %d requests", c, len(requests))
		}
	}
	g.until("nothing is in flight", func() bool { return g.inFlight() == "0" })
}

// Sound that breaks off does not look complete, and what was made of it is recorded. So is the
// sound of a caller who disconnects.
func TestSoundThatBreaksOff(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, soundModels(p, "cut=openai/cut-3+pace-30ms , input_cost_per_character: 0.000015", "stall=openai/stall-3 , input_cost_per_character: 0.000015"))
	body := func(model string) string {
		return `{"model":"` + model + `","input":"` + strings.Repeat("x", 100) + `","voice":"alloy"}`
	}
	a := g.do(http.MethodPost, "/v1/audio/speech", strings.NewReader(body("cut")))
	if a.status != http.StatusOK || !strings.Contains(a.body, "EOF") && !strings.Contains(a.body, "reset") || len(a.body) > 3*4096+100 || strings.Contains(a.body, `"error"`) {
		t.Errorf("%d, %d bytes that end with %q", a.status, len(a.body), a.body[max(0, len(a.body)-60):])
	}
	g.until("nothing is in flight", func() bool { return g.inFlight() == "0" })
	if e := g.one(a); e.Status != "failed" || e.ErrorCode != "upstream_cut" || e.Source != "measured" || string(e.Spend) != "0.0015" {
		t.Errorf("row %+v", e)
	}

	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, g.url+"/v1/audio/speech", strings.NewReader(body("stall")))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+adminKey)
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(resp.Body, make([]byte, 3*4096)); err != nil {
		t.Errorf("the pieces do not come: %v", err)
	}
	leave()
	_ = resp.Body.Close()
	g.until("nothing is in flight", func() bool { return g.inFlight() == "0" })
	if e := g.one(&answer{header: resp.Header}); e.Source != "measured" || string(e.Spend) != "0.0015" || e.ErrorCode != "canceled" {
		t.Errorf("row %+v", e)
	}
}
