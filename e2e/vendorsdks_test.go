package e2e

import (
	"bytes"
	"context"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/examples/upstream/fake"
)

// sentRequest is a request without what differs between clients: the order of members and options, boundaries, and fields that are null.
type sentRequest struct {
	Path, Media, Key string
	Query            url.Values
	JSON             map[string]any
	Fields           map[string][]string // of a form; a file with its length
	Sound            string              // the hash of a body that is neither
}

// sentOf reads a recorded request.
func sentOf(t *testing.T, r *fake.Request) sentRequest {
	t.Helper()
	media, params, err := mime.ParseMediaType(r.Headers.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	out := sentRequest{Path: r.Path, Media: media}
	if out.Query, err = url.ParseQuery(r.Query); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Authorization", "Xi-Api-Key"} {
		if value := r.Headers.Get(name); value != "" {
			scheme, _, _ := strings.Cut(value, " ")
			out.Key += name + " " + map[bool]string{true: scheme}[strings.Contains(value, " ")]
		}
	}
	switch media {
	case "application/json":
		if err := json.Unmarshal([]byte(r.Body), &out.JSON); err != nil {
			t.Fatal(err)
		}
	case "multipart/form-data":
		f, err := multipart.NewReader(strings.NewReader(r.Body), params["boundary"]).ReadForm(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		out.Fields = map[string][]string{}
		for name, values := range f.Value {
			if values[0] != "null" {
				out.Fields[name] = values
			}
		}
		for name, files := range f.File {
			out.Fields[name] = []string{files[0].Filename, strconv.FormatInt(files[0].Size, 10)}
		}
	default:
		out.Sound = r.SHA256
	}
	return out
}

// The providers' own SDKs understand the fake provider, and what the gateway sends for the same purpose is what they send.
func TestGatewaySendsWhatTheProvidersSDKsSend(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, pythonPath(t), "e2e/testdata/python/vendor_sdks.py")
	cmd.Env = append(os.Environ(), "PROVIDER_URL="+p.url)
	if out, err := cmd.CombinedOutput(); err != nil || strings.Count("\n"+string(out), "\nok ") != 5 {
		t.Fatalf("%v\n%s", err, out)
	}
	theirs := p.Requests()
	p.Reset()
	g := startGateway(t, rewrittenModels(p, "eleven=elevenlabs/eleven_new", "scribe=elevenlabs/scribe_v1", "aura=deepgram/aura-2", "nova=deepgram/nova-3"))
	speak := func(body string) *answer { return g.do(http.MethodPost, "/v1/audio/speech", strings.NewReader(body)) }
	listen := func(model string, fields ...string) *answer {
		var b bytes.Buffer
		w := multipart.NewWriter(&b)
		part, err := w.CreateFormFile("file", "a.wav")
		if err != nil {
			t.Fatal(err)
		}
		for range 64 {
			for i := range 250 {
				_, _ = part.Write([]byte{byte(i)}) // a buffer takes all
			}
		}
		for _, f := range append(fields, "model="+model, "language=en", "response_format=diarized_json") {
			name, value, _ := strings.Cut(f, "=")
			_ = w.WriteField(name, value)
		}
		_ = w.Close()
		return g.do(http.MethodPost, "/v1/audio/transcriptions", &b, with("Content-Type", w.FormDataContentType()))
	}
	const speech = `{"model":"eleven","input":"Hello there.","voice":"a voice","response_format":"pcm","speed":1.1,"language_code":"en"`
	for _, a := range []*answer{
		speak(speech + `}`), speak(speech + `,"stream_format":"audio"}`), listen("scribe", "temperature=0.5"),
		speak(`{"model":"aura","input":"Hello there.","voice":"thalia","response_format":"pcm"}`), listen("nova", "keyterm[]=red fox", "keyterm[]=a&b"),
	} {
		if a.status != http.StatusOK {
			t.Errorf("%d %.300s", a.status, a.body)
		}
	}
	ours := p.Requests()
	if len(ours) != len(theirs) {
		t.Fatalf("the gateway sent %d requests, the SDKs %d", len(ours), len(theirs))
	}
	for i := range ours {
		if diff := cmp.Diff(sentOf(t, &theirs[i]), sentOf(t, &ours[i])); diff != "" {
			t.Errorf("request %d (-SDK +gateway): %s", i, diff)
		}
	}
}
