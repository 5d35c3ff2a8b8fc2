package driver_test

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

const boundary = "a-boundary"

// scanned returns a form of text fields, name=value, with a file of some bytes.
func scanned(t *testing.T, file string, fields ...string) *driver.Original {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	if err := w.SetBoundary(boundary); err != nil {
		t.Fatal(err)
	}
	for i, f := range fields {
		if i == 1 { // between others
			part, err := w.CreateFormFile("file", "a.wav")
			if err != nil {
				t.Fatal(err)
			}
			_, _ = part.Write([]byte(file)) // a buffer takes all
		}
		name, value, _ := strings.Cut(f, "=")
		if err := w.WriteField(name, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	facts := &splice.Request{Boundary: boundary}
	if err := splice.ScanForm("file")(b.Bytes(), facts); err != nil {
		t.Fatal(err)
	}
	return &driver.Original{Endpoint: driver.Transcriptions, Facts: facts}
}

// readForm reads a form as the standard library does.
func readForm(t *testing.T, body []byte) []string {
	t.Helper()
	var out []string
	r := multipart.NewReader(bytes.NewReader(body), boundary)
	for {
		p, err := r.NextPart()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("%v: %q", err, body)
		}
		value, err := io.ReadAll(p)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p.FormName()+"("+p.FileName()+")="+string(value))
	}
}

// Fields of a form change by their names, and the others stay, with their files. Those of the gateway go.
func TestFieldsOfAFormChange(t *testing.T) {
	const file = "\x00\r\n--a-bound\r\n\xff"
	r := scanned(t, file, "model=fast", "language=en", "tags[]=blue", "timestamp_granularities[]=word", "timestamp_granularities[]=segment", "keyterms=x", "response_format=srt")
	f := r.Fields()
	if got := f.Append(nil); !cmp.Equal(readForm(t, got), []string{
		"model()=fast", "file(a.wav)=" + file, "language()=en",
		"timestamp_granularities[]()=word", "timestamp_granularities[]()=segment", "keyterms()=x", "response_format()=srt",
	}) {
		t.Errorf("unchanged: %q", got)
	}
	f.Rename("model", "model_id")
	f.Set("model", "scribe_v1")
	f.Rename("language", "language_code")
	f.Remove("timestamp_granularities")
	f.Remove("response_format")
	f.Remove("nothing")
	f.Rename("nothing", "something")
	f.Set("diarize", "true")
	f.Set("file_format", "other")
	want := []string{"diarize()=true", "file_format()=other", "model_id()=scribe_v1", "file(a.wav)=" + file, "language_code()=en", "keyterms()=x"}
	if diff := cmp.Diff(want, readForm(t, f.Append(nil))); diff != "" {
		t.Errorf("(-want +got) %s", diff)
	}
}

// The members for a provider are those that the gateway does not take.
func TestMembersAreTheProviders(t *testing.T) {
	if got := string(scanned(t, "x", "model=fast", "tags[]=blue", "temperature=0", "timeout=3").Members().Append(nil)); got != `{"model":"fast","temperature":0}` {
		t.Errorf("of a form: %s", got)
	}
	var facts splice.Request
	if err := splice.ScanModel([]byte(`{"tags":["blue"],"model":"fast", "cache":{},"input":"a"}`), &facts); err != nil {
		t.Fatal(err)
	}
	r := driver.Original{Endpoint: driver.Embeddings, Facts: &facts}
	if got := string(r.Members().Append(nil)); got != `{"model":"fast","input":"a"}` {
		t.Errorf("of JSON: %s", got)
	}
}
