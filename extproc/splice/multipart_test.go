package splice_test

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/textproto"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/extproc/form"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

const boundary = "5f2c9d"

// text is a part of a form with a text field.
func text(name, value string) string {
	return "--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n"
}

// file is a part of a form with a file.
func file(name, value string) string {
	return "--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + name + "\"; filename=\"a.wav\"\r\nContent-Type: audio/wav\r\n\r\n" + value + "\r\n"
}

// part is a part of a form with one header, and the value x.
func part(header string) string { return "--" + boundary + "\r\n" + header + "\r\n\r\nx\r\n" }

const (
	last = "--" + boundary + "--\r\n"
	wav  = "RIFF\x00\x01\xff\r\n--5f2\n\r\n\r"
)

func scanForm(body string) (splice.Request, error) {
	r := splice.Request{Boundary: boundary}
	return r, splice.ScanForm()([]byte(body), &r)
}

func TestFormRejects(t *testing.T) {
	model := text("model", "m")
	for _, c := range []struct{ name, body, code, param string }{
		{"empty", "", "invalid_multipart", ""},
		{"JSON", `{"model":"m"}`, "invalid_multipart", ""},
		{"another boundary", strings.ReplaceAll(model+last, boundary, "other"), "invalid_multipart", ""},
		{"a preamble", "hello\r\n" + model + last, "invalid_multipart", ""},
		{"an epilogue", model + last + "x", "invalid_multipart", ""},
		{"nothing but the end", last, "missing_required_parameter", "model"},
		{"no final boundary", model + file("file", wav), "invalid_multipart", "file"},
		{"cut in the final boundary", model + "--" + boundary + "-", "invalid_multipart", ""},
		{"cut after a boundary", model + "--" + boundary, "invalid_multipart", ""},
		{"cut in the headers", model + "--" + boundary + "\r\nContent-Disp", "invalid_multipart", ""},
		{"cut in the file", model + file("file", wav)[:110], "invalid_multipart", "file"},
		{"boundary that continues", model + file("file", "a\r\n--"+boundary+"x\r\nb") + last, "invalid_multipart", ""},
		{"blank after the boundary", strings.Replace(model, boundary+"\r\n", boundary+" \r\n", 1) + last, "invalid_multipart", ""},
		{"line feeds", strings.ReplaceAll(model+last, "\r\n", "\n"), "invalid_multipart", ""},
		{"boundary after a line feed", model + file("file", "a\n--"+boundary+"\r\nb") + last, "invalid_multipart", "file"},
		{"no empty line", "--" + boundary + "\r\nContent-Disposition: form-data; name=\"model\"\r\n" + last, "invalid_multipart", ""},
		{"no empty value", strings.Replace(text("model", ""), "\r\n\r\n\r\n", "\r\n\r\n", 1) + last, "invalid_multipart", "model"},
		{"headers too long", part("Content-Disposition: form-data; name=\"model\"\r\nX: "+strings.Repeat("x", 8192)) + last, "invalid_multipart", ""},
		{"no headers", "--" + boundary + "\r\n\r\nx\r\n" + last, "invalid_multipart", ""},
		{"no disposition", part("Content-Type: text/plain") + last, "invalid_multipart", ""},
		{"disposition twice", part("Content-Disposition: form-data; name=\"model\"\r\nContent-Disposition: form-data; name=\"a\"") + last, "invalid_multipart", ""},
		{"attachment", part("Content-Disposition: attachment; name=\"model\"") + last, "invalid_multipart", ""},
		{"no name", part("Content-Disposition: form-data") + last, "invalid_multipart", ""},
		{"empty name", part("Content-Disposition: form-data; name=\"\"") + last, "invalid_multipart", ""},
		{"name twice", part("Content-Disposition: form-data; name=\"model\"; name=\"a\"") + last, "invalid_multipart", ""},
		{"encoded name", part("Content-Disposition: form-data; name*=UTF-8''model") + last, "invalid_multipart", ""},
		{"name in percents", part("Content-Disposition: form-data; name=\"%6dodel\"") + last, "invalid_multipart", ""},
		{"name with an escape", part("Content-Disposition: form-data; name=\"mo\\del\"") + last, "invalid_multipart", ""},
		{"name with a space", part("Content-Disposition: form-data; name=\"model \"") + last, "invalid_multipart", ""},
		{"open bracket", part("Content-Disposition: form-data; name=\"tags[\"") + last, "invalid_multipart", ""},
		{"closed bracket", part("Content-Disposition: form-data; name=\"tags]\"") + last, "invalid_multipart", ""},
		{"text after brackets", part("Content-Disposition: form-data; name=\"tags[]x\"") + last, "invalid_multipart", ""},
		{"empty filename", part("Content-Disposition: form-data; name=\"file\"; filename=\"\"") + last, "invalid_multipart", ""},
		{"two ways to read a filename", part("Content-Disposition: form-data; name=\"a\"; filename=\"a\\\"; name=\\\"model\"") + last, "invalid_multipart", ""},
		{"folded header", part("Content-Disposition: form-data;\r\n name=\"model\"") + last, "invalid_multipart", ""},
		{"header with NUL", part("Content-Disposition: form-data; name=\"model\"\r\nX: \x00") + last, "invalid_multipart", ""},
		{"header without a colon", part("Content-Disposition: form-data; name=\"model\"\r\nX") + last, "invalid_multipart", ""},
		{"space before the colon", part("Content-Disposition : form-data; name=\"model\"") + last, "invalid_multipart", ""},
		{"base64", part("Content-Disposition: form-data; name=\"model\"\r\nContent-Transfer-Encoding: base64") + last, "invalid_multipart", ""},

		{"no model", file("file", wav) + last, "missing_required_parameter", "model"},
		{"two models", model + file("file", wav) + model + last, "duplicate_parameter", "model"},
		{"two equal files", model + file("file", wav) + file("file", wav) + last, "duplicate_parameter", "file"},
		{"unknown twice", model + text("seed", "1") + text("seed", "1") + last, "duplicate_parameter", "seed"},
		{"model as a list", text("model[]", "m") + last, "invalid_type", "model"},
		{"model as an object", text("model[a]", "m") + last, "invalid_type", "model"},
		{"model and a list", model + text("model[]", "m") + last, "invalid_value", "model"},
		{"model in another case", model + text("Model", "m") + last, "duplicate_parameter", "Model"},
		{"model as a file", file("model", "m") + last, "invalid_type", "model"},
		{"empty model", text("model", "") + last, "invalid_value", "model"},
		{"model with a line", text("model", "a\r\nb") + last, "invalid_value", "model"},
		{"empty file", model + file("file", "") + last, "empty_file", "file"},
		{"file without a filename", model + text("file", "\xff\xfb") + last, "invalid_type", "file"},
		{"target", model + text("api_base", "http://evil") + last, "unsupported_parameter", "api_base"},
		{"target within brackets", model + text("extra_headers[a]", "b") + last, "unsupported_parameter", "extra_headers"},
		{"target as a file", model + file("api_key", "x") + last, "unsupported_parameter", "api_key"},
		{"stream yes", model + text("stream", "yes") + last, "invalid_type", "stream"},
		{"temperature hot", model + text("temperature", "hot") + last, "invalid_type", "temperature"},
		{"n 129", model + text("n", "129") + last, "invalid_value", "n"},
		{"list and object", model + text("tags[]", "a") + text("tags[b]", "c") + last, "invalid_value", "tags[b]"},
		{"list of lists", model + text("tags[][]", "a") + last, "invalid_value", "tags[][]"},
		{"long text", model + text("prompt", strings.Repeat("x", 256<<10)) + last, "field_too_long", "prompt"},
		{"257 parts", strings.Repeat(text("a[]", "1"), 256) + model + last, "too_many_fields", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := scanForm(c.body)
			e := refusal(t, err)
			if e == nil {
				t.Fatal("accepted")
			}
			if e.Code != c.code || e.Param != c.param {
				t.Errorf("got %s %q, want %s %q: %s", e.Code, e.Param, c.code, c.param, e.Detail)
			}
			if !strings.HasSuffix(e.Detail, ".") || strings.Contains(e.Detail, "%!") || strings.Contains(e.Detail, "evil") {
				t.Errorf("detail is %q", e.Detail)
			}
		})
	}
}

func TestFormDocument(t *testing.T) {
	for _, c := range []struct{ name, fields, want string }{
		{"texts", text("language", "de") + text("user", "true") + text("prompt", "a \"b\"\r\nc"), `{"model":"m","language":"de","user":"true","prompt":"a \"b\"\r\nc"}`},
		{"typed", text("stream", "true") + text("temperature", "0.5") + text("response_format", "json"), `{"model":"m","stream":true,"temperature":0.5,"response_format":"json"}`},
		{"Python's booleans", text("stream", "True") + text("disable_fallbacks", "False"), `{"model":"m","stream":true,"disable_fallbacks":false}`},
		{"empty", text("temperature", "") + text("language", ""), `{"model":"m","temperature":null,"language":""}`},
		{"lists", text("timestamp_granularities[]", "word") + text("language", "de") + text("timestamp_granularities[]", "segment"), `{"model":"m","timestamp_granularities":["word","segment"],"language":"de"}`},
		{"one in a list", text("tags[]", "a"), `{"model":"m","tags":["a"]}`},
		{"list as JSON", text("tags", `["a", "b"]`), `{"model":"m","tags":["a", "b"]}`},
		{"object", text("metadata[user_id]", "u") + text("metadata[tags][]", "a") + text("metadata[tags][]", "b"), `{"model":"m","metadata":{"user_id":"u","tags":["a","b"]}}`},
		{"object as JSON", text("metadata", `{"user_id":"u"}`), `{"model":"m","metadata":{"user_id":"u"}}`},
		{"not JSON", text("tags", `[a]`) + text("metadata", `{"a":1}}`), `{"model":"m","tags":"[a]","metadata":"{\"a\":1}}"}`},
		{"unknown object", text("chunking_strategy[type]", "server_vad") + text("chunking_strategy[threshold]", "0.5"), `{"model":"m","chunking_strategy":{"type":"server_vad","threshold":"0.5"}}`},
		{"long unknown", text("known_speaker_references[]", strings.Repeat("x", 5000)) + text("user", "u"), `{"model":"m","user":"u"}`},
		{"files", file("image[]", "a") + file("image[]", "b") + file("mask", "c"), `{"model":"m"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := scanForm(text("model", "m") + c.fields + last)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, string(r.Document())); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestFormFacts(t *testing.T) {
	body := file("file", wav) + text("stream", "true") + text("n", "2") + text("tags[]", "a") + text("model", "whisper-1") + last
	for _, body := range []string{body, "\r\n" + body, strings.TrimSuffix(body, "\r\n")} {
		r, err := scanForm(body)
		if err != nil {
			t.Fatal(err)
		}
		if r.Model != "whisper-1" || !r.Stream || r.N != 2 || string(r.Raw(splice.Tags)) != `["a"]` {
			t.Errorf("model %q, stream %v, n %d, tags %s", r.Model, r.Stream, r.N, r.Raw(splice.Tags))
		}
		if got := string(r.File("file")); got != wav {
			t.Errorf("the file is %q", got)
		}
		if r.File("model") != nil || r.File("mask") != nil {
			t.Error("a file that is none")
		}
		p := r.Form()[0]
		if string(p.Name) != "file" || string(p.Filename) != "a.wav" || string(p.Type) != "audio/wav" || !p.IsFile || string(p.Value.Of([]byte(body))) != wav {
			t.Errorf("%+v", p)
		}
	}
	var r splice.Request
	if err := splice.Scan([]byte(ask(`"x":1`)), &r); err != nil || r.Form() != nil || r.File("file") != nil {
		t.Error("a form from JSON")
	}
}

func TestFormHeadersOfClients(t *testing.T) {
	for name, header := range map[string]string{
		"token":        "content-disposition: form-data; name=file; filename=a.wav",
		"no blanks":    "Content-Disposition:form-data;name=\"file\";filename=\"a.wav\"",
		"Java":         "Content-Disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\nContent-Type: audio/wav\r\nContent-Length: 3\r\nContent-Transfer-Encoding: binary",
		".NET":         "Content-Disposition: form-data; name=file; filename=\"a.wav\"; filename*=utf-8''a%20%C3%A4.wav",
		"urllib3":      "Content-Disposition: form-data; name=\"file\"; filename*=utf-8''%C3%A4.wav",
		"browser":      "Content-Disposition: form-data; name=\"file\"; filename=\"ä %22; name=x.wav\"\r\nContent-Type: audio/wav",
		"Go":           "Content-Disposition: form-data; name=\"file\"; filename=\"a \\\"b\\\" \\\\.wav\"",
		"Windows path": "Content-Disposition: form-data; name=\"file\"; filename=\"C:\\dir\\a.wav\"",
	} {
		r, err := scanForm(part(header) + text("model", "m") + last)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if string(r.File("file")) != "x" {
			t.Errorf("%s: no file", name)
		}
	}
}

func TestFormEdits(t *testing.T) {
	model, sound := text("model", "m"), file("file", wav)
	tags := text("tags[]", "a") + text("tags[]", "b") + text("metadata[a]", "b") + text("timeout", "3")
	kept := text("metadata[a]", "b")
	strip := &splice.Plan{Remove: splice.Extensions}
	for _, c := range []struct {
		name, body string
		plan       *splice.Plan
		want       string
	}{
		{"nothing", model + sound + last, &splice.Plan{}, model + sound + last},
		{"same model", model + sound + last, &splice.Plan{Model: "m"}, model + sound + last},
		{"model first", model + sound + last, &splice.Plan{Model: "large"}, text("model", "large") + sound + last},
		{"model last", sound + model + last, &splice.Plan{Model: "large"}, sound + text("model", "large") + last},
		{"no model", "\r\n" + model + sound + last, &splice.Plan{Model: "large", Remove: splice.Set(splice.Model)}, "\r\n" + sound + last},
		{"gateway's first", tags + model + sound + last, strip, kept + model + sound + last},
		{"gateway's between", model + tags + sound + last, strip, model + kept + sound + last},
		{"gateway's last", sound + model + tags + last, strip, sound + model + kept + last},
		{"usage and messages", model + last, &splice.Plan{Usage: true, Prepend: "{}"}, model + last},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := scanForm(c.body)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, string(splice.Apply(nil, []byte(c.body), r.Edits(nil, c.plan)))); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestFormRequiresFiles(t *testing.T) {
	for body, want := range map[string]string{
		file("image", "a") + file("mask", "b"):      "",
		file("image[]", "a") + file("image[]", "b"): "mask",
		file("mask", "b") + text("image", "a"):      "image",
	} {
		r := splice.Request{Boundary: boundary}
		files := []string{"image", "mask"}
		if e := refusal(t, splice.ScanForm(files...)([]byte(text("model", "m")+body+last), &r)); e == nil != (want == "") || e != nil && (e.Param != want || e.Code != "missing_required_parameter") {
			t.Errorf("%q: %v", body, e)
		}
	}
}

// The model that a path names counts, whether or not the form names one.
func TestFormWithAModelInThePath(t *testing.T) {
	sound := file("file", wav)
	for _, c := range []struct{ body, want string }{
		{"\r\n" + sound + last, "\r\n" + text("model", "up") + sound + last},
		{sound + text("model", "other") + last, sound + text("model", "up") + last},
		{last, text("model", "up") + last},
	} {
		for _, name := range []string{"up", "alias"} {
			r := splice.Request{Boundary: boundary, PathModel: name}
			if err := splice.ScanForm()([]byte(c.body), &r); err != nil || r.Model != name {
				t.Fatal(err, r.Model)
			}
			plan := splice.Plan{}
			if name != "up" {
				plan.Model = "up"
			}
			if d := cmp.Diff(c.want, string(splice.Apply(nil, []byte(c.body), r.Edits(nil, &plan)))); d != "" {
				t.Error(d)
			}
			plan.Remove = splice.Set(splice.Model)
			if out := splice.Apply(nil, []byte(c.body), r.Edits(nil, &plan)); bytes.Contains(out, []byte(`"model"`)) {
				t.Errorf("the model is in %q", out)
			}
		}
	}
}

// TestFormCopiesNoFile bounds the memory of a scan by a constant, for any size of the files. The
// boundary lies at each position of a step of the search.
func TestFormCopiesNoFile(t *testing.T) {
	sound := bytes.Repeat([]byte("\r\n--5f2c9\n\r"), 2<<20)
	for pad := range 12 {
		body := file("file", string(sound[:256<<10-6-pad])) + text("model", "m") + last
		if r, err := scanForm(body); err != nil || len(r.File("file")) != 256<<10-6-pad {
			t.Fatalf("pad %d: %v", pad, err)
		}
	}
	body := []byte(file("file", string(sound)) + text("model", "m") + last)
	r := splice.Request{Boundary: boundary}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := splice.ScanForm()(body, &r)
	edits := r.Edits(nil, &splice.Plan{Model: "large", Remove: splice.Extensions})
	runtime.ReadMemStats(&after)
	if err != nil || len(edits) != 1 || !bytes.Equal(r.File("file"), sound) {
		t.Fatal(err, edits)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 64<<10 {
		t.Errorf("%d bytes allocated for a body of %d", n, len(body))
	}
}

func TestFormOfGosWriter(t *testing.T) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	h := textproto.MIMEHeader{}
	h.Set("Content-Disposition", `form-data; name="file"; filename="a.mp3"`)
	p, err := w.CreatePart(h)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = p.Write([]byte(wav))
	for k := range 200 {
		_ = w.WriteField(fmt.Sprintf("field_%d", k), "value")
	}
	_ = w.WriteField("model", "m")
	_ = w.Close()
	name, err := form.Boundary(w.FormDataContentType())
	if err != nil {
		t.Fatal(err)
	}
	r := splice.Request{Boundary: name}
	if err := splice.ScanForm("file")(b.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if string(r.File("file")) != wav || len(r.Form()) != 202 || string(splice.Lookup(r.Document(), "field_199")) != `"value"` {
		t.Errorf("%d parts, %q", len(r.Form()), r.File("file"))
	}
}
