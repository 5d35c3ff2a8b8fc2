package splice_test

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// formPart is a part of a form as mime/multipart reads it.
type formPart struct {
	Name, Value string
	IsFile      bool
}

// readForm reads a form with mime/multipart.
func readForm(body []byte, boundary string) ([]formPart, error) {
	var out []formPart
	r := multipart.NewReader(bytes.NewReader(body), boundary)
	for {
		p, err := r.NextRawPart()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		value, err := io.ReadAll(p)
		if err != nil {
			return nil, err
		}
		_, params, err := mime.ParseMediaType(p.Header.Get("Content-Disposition"))
		if err != nil {
			return nil, err
		}
		out = append(out, formPart{p.FormName(), string(value), params["filename"] != ""})
	}
}

func parts(body []byte, r *splice.Request) []formPart {
	var out []formPart
	for _, p := range r.Form() {
		out = append(out, formPart{string(p.Name), string(p.Value.Of(body)), p.IsFile})
	}
	return out
}

// FuzzForm compares ScanForm with mime/multipart: what ScanForm accepts has the same parts
// there, before and after an edit.
func FuzzForm(f *testing.F) {
	for _, s := range []string{
		text("model", "m") + file("file", wav) + last,
		"\r\n" + file("image[]", "a") + text("tags[]", "b") + text("model", "") + last,
		part("content-disposition: form-data; name=model; filename*=utf-8''%C3%A4") + last,
		part("Content-Disposition: form-data; name=\"model\"; filename=\"\\\\\\\"\"\r\nContent-Type: a") + last,
		text("metadata[a][b]", "1") + text("metadata[a][c]", "{}") + text("model", "m") + last,
		text("model", "a\r\n--5f2\r\n") + text("stream", "true") + strings.TrimSuffix(last, "\r\n"),
	} {
		f.Add([]byte(s), "n", uint64(splice.Extensions))
	}
	f.Fuzz(func(t *testing.T, body []byte, model string, remove uint64) {
		r := splice.Request{Boundary: boundary}
		if err := splice.ScanForm()(body, &r); err != nil {
			var e *fault.Error
			if !errors.As(err, &e) || e.Kind != fault.Malformed || e.Detail == "" {
				t.Fatal(err)
			}
			return
		}
		want, err := readForm(body, boundary)
		if err != nil {
			t.Fatalf("%v: %q", err, body)
		}
		if d := cmp.Diff(want, parts(body, &r)); d != "" {
			t.Fatalf("%s\n%q", d, body)
		}
		if ok, _ := object(r.Document()); !ok {
			t.Fatalf("not JSON: %s", r.Document())
		}
		if model == "" || strings.ContainsAny(model, "\r\n") {
			return
		}
		plan := splice.Plan{Model: model, Remove: splice.FieldSet(remove)}
		out := splice.Apply(nil, body, r.Edits(nil, &plan))
		got, err := readForm(out, boundary)
		if err != nil {
			t.Fatalf("%v: %q", err, out)
		}
		var left []formPart
		for _, p := range want {
			base, _, _ := strings.Cut(p.Name, "[")
			switch {
			case removes(plan.Remove, base):
				continue
			case base == "model":
				p.Value = model
			}
			left = append(left, p)
		}
		if d := cmp.Diff(left, got); d != "" {
			t.Fatalf("%s\n%q\nbecame\n%q", d, body, out)
		}
	})
}

// removes reports whether a set has the field of that name.
func removes(set splice.FieldSet, name string) bool {
	for f := splice.Model; f.String() != ""; f++ {
		if f.String() == name {
			return set.Has(f)
		}
	}
	return false
}
