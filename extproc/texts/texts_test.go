package texts_test

import (
	"bytes"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/tools/txtar"

	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// tester is what testing.TB and rapid.T share.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

// collect returns the texts of a body, and requires what holds for all of them: they are in order, and
// each is the inside of a string, or an object or array.
func collect(tb tester, body []byte, all iter.Seq[texts.Text]) []texts.Text {
	tb.Helper()
	twice := jsontext.AllowDuplicateNames(true)
	var out []texts.Text
	var edits []splice.Edit
	end := 0
	for x := range all {
		if x.Off < end || x.End < x.Off || x.End > len(body) {
			tb.Fatalf("the span %d to %d follows one that ends at %d, of %d", x.Off, x.End, end, len(body))
		}
		end = x.End
		switch raw := x.Of(body); {
		case x.JSON && (raw[0] != '{' && raw[0] != '[' || !jsontext.Value(raw).IsValid(twice)):
			tb.Fatalf("%q is no object or array", raw)
		case !x.JSON && (body[x.Off-1] != '"' || body[x.End] != '"' || !jsontext.Value(body[x.Off-1:x.End+1]).IsValid()):
			tb.Fatalf("%q is not the inside of a string", raw)
		}
		if x.Kind == texts.Skipped {
			tb.Fatalf("%q has no kind", x.Of(body))
		}
		out = append(out, x)
		edits = append(edits, splice.Edit{Off: x.Off, End: x.End, With: string(x.Of(body))})
	}
	if again := splice.Apply(nil, body, edits); string(again) != string(body) {
		tb.Fatalf("with each text replaced by itself the body is %q", again)
	}
	return out
}

// compact returns JSON without white space.
func compact(raw []byte) []byte {
	v := jsontext.Value(raw).Clone()
	_ = v.Compact() // it is valid
	return v
}

// TestWalksAllocateNothing: neither the texts nor the walk need memory.
func TestWalksAllocateNothing(t *testing.T) {
	for _, language := range []string{"chat", "messages", "responses", "contents", "converse"} {
		body, reader := bodies(t, language)[0], readers()[language]
		n := 0
		if got := testing.AllocsPerRun(10, func() {
			for x := range reader.Request(body) {
				n += x.End - x.Off
			}
		}); got != 0 {
			t.Errorf("%s: %v allocations", language, got)
		}
		if n == 0 {
			t.Errorf("%s: no texts", language)
		}
	}
}

// TestNoEventNeedsMemory: streams have thousands of events a second.
func TestNoEventNeedsMemory(t *testing.T) {
	for language, reader := range readers() {
		events, err := os.ReadFile(filepath.Join("testdata", language, "events.txtar"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		n := 0
		for line := range bytes.Lines(txtar.Parse(events).Files[0].Data) {
			if got := testing.AllocsPerRun(10, func() { n += eventLength(reader, line) }); got != 0 {
				t.Errorf("%s: %v allocations: %s", language, got, line)
			}
		}
		if n == 0 {
			t.Errorf("%s: no texts: %v", language, err)
		}
	}
}

// eventLength returns the length of an event's texts together.
func eventLength(reader texts.Reader, data []byte) int {
	n := 0
	for x := range reader.Event(data) {
		n += x.End - x.Off
	}
	return n
}

// TestDataThatMayBeTextIsText: readers differ in which of two members of one name they take.
func TestDataThatMayBeTextIsText(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		`{"type":"text","data":"read me"}`, `{"data":"read me","type":"text"}`, `{"type":"base64","type":"text","data":"read me"}`,
		`{"type":"text","data":"read me","type":"base64"}`, `{"t\u0079pe":"te\u0078t","data":"read me"}`,
	} {
		body := []byte(`{"messages":[{"role":"user","content":[{"type":"document","source":` + source + `}]}]}`)
		all := collect(t, body, texts.Messages().Request(body))
		if len(all) != 1 || all[0].Kind != texts.Content || string(all[0].Of(body)) != "read me" {
			t.Errorf("%s: found %+v", source, all)
		}
	}
}

// TestStopsWhenAsked: the walk ends with the loop over it.
func TestStopsWhenAsked(t *testing.T) {
	t.Parallel()
	for language, reader := range readers() {
		for _, body := range bodies(t, language) {
			for want := range collect(t, body, reader.Request(body)) {
				n := 0
				for range reader.Request(body) {
					if n++; n > want {
						break
					}
				}
				if n != want+1 {
					t.Fatalf("%s: %d texts after the loop ended at %d", language, n, want+1)
				}
			}
		}
	}
}

// realistic returns the bodies of all golden files below a directory: requests, answers, and events.
func realistic(tb testing.TB, dir string) [][]byte {
	tb.Helper()
	var out [][]byte
	add := func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".txtar" {
			return err
		}
		a, err := txtar.ParseFile(path)
		if err != nil {
			return err
		}
		for _, f := range a.Files {
			body := f.Data
			if _, rest, ok := bytes.Cut(body, []byte("\n\n")); ok && filepath.Ext(f.Name) == ".http" {
				body = rest
			}
			if bytes.HasPrefix(body, []byte("{\n")) || filepath.Ext(f.Name) == ".json" {
				out = append(out, body)
				continue
			}
			for line := range bytes.Lines(body) {
				if line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("data:"))); bytes.HasPrefix(line, []byte("{")) {
					out = append(out, line)
				}
			}
		}
		return nil
	}
	if err := filepath.WalkDir(dir, add); err != nil || len(out) < 20 {
		tb.Fatalf("%d bodies in %s: %v", len(out), dir, err)
	}
	return out
}

// FuzzReaders: in every body that a scanner accepts, the texts are in order, each has a path, and each can
// be replaced. Of other bytes nothing is required but an end.
func FuzzReaders(f *testing.F) {
	for _, dir := range []string{"testdata", "../provider/testdata", "../responses/testdata"} {
		for _, body := range realistic(f, dir) {
			f.Add(body)
		}
	}
	for _, seed := range []string{
		`{"choices":[{"index":1,"delta":{"tool_calls":[{"index":2,"function":{"name":"f","arguments":"{"}}]},"logprobs":{}}]}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"a\"\\"}}`,
		`{"type":"response.output_item.done","output_index":1,"item":{"type":"message","content":[{"type":"output_text","text":"x"}]}}`,
		`{"mess\u0061ges":[{"r\u006fle":"us\u0065r","content":[[["deep"]],[1,[2]],{"text":{}}]}],"tools":{},"input":[[]]}`,
		`{"messages":[{"content":"`, `{"a":"\`, `{"a"`, `{"messages":[1,`, `{`, `[]`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var facts splice.Request
		facts.PathModel = "m"
		accepted := splice.ScanModel(body, &facts) == nil || splice.List(body, new(splice.ReplyFacts)) == nil
		for _, reader := range readers() {
			for _, all := range []iter.Seq[texts.Text]{reader.Request(body), reader.Answer(body), reader.Event(body)} {
				if !accepted {
					for range all {
					}
					continue
				}
				paths := texts.NewPaths(body)
				for _, x := range collect(t, body, all) {
					if again := texts.NewPaths(body).At(x.Off); again == "" || again != paths.At(x.Off) {
						t.Fatalf("the path %q of %d is %q after others", again, x.Off, paths.At(x.Off))
					}
				}
			}
		}
	})
}
