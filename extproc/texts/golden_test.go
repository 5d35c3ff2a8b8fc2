package texts_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

var update = flag.Bool("update", false, "write the texts of the golden files")

// readers returns the reader of each directory of golden files, by its name.
func readers() map[string]texts.Reader {
	return map[string]texts.Reader{
		"chat": texts.Chat(), "messages": texts.Messages(), "responses": texts.Responses(), "contents": texts.Contents(), "converse": texts.Converse(), "turns": texts.Turns(), "completions": texts.Completions(),
		"inputs": texts.Inputs(), "images": texts.Images(), "ranks": texts.Ranks(), "sound": texts.Sound(),
	}
}

// TestGolden compares the texts of bodies with those in the files of testdata. A file has a body as
// request.json, answer.json, or events.txt with the data of an event in each line, and what is found
// in it as texts.txt. Run it with -update to write the latter.
func TestGolden(t *testing.T) {
	t.Parallel()
	for dir, reader := range readers() {
		files, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s has no files: %v", dir, err)
		}
		for _, file := range files {
			t.Run(strings.TrimSuffix(filepath.ToSlash(file[len("testdata/"):]), ".txtar"), func(t *testing.T) {
				t.Parallel()
				a, err := txtar.ParseFile(file)
				if err != nil || len(a.Files) == 0 {
					t.Fatal(err)
				}
				got := found(t, reader, &a.Files[0])
				if *update {
					a.Files = append(a.Files[:1], txtar.File{Name: "texts.txt", Data: got})
					if err := os.WriteFile(file, txtar.Format(a), 0o600); err != nil {
						t.Fatal(err)
					}
					return
				}
				if len(a.Files) != 2 {
					t.Fatal("the file has no texts; run with -update")
				}
				if diff := cmp.Diff(string(a.Files[1].Data), string(got)); diff != "" {
					t.Errorf("texts (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// found returns the texts of a body, each in a line.
func found(t *testing.T, reader texts.Reader, f *txtar.File) []byte {
	t.Helper()
	var out bytes.Buffer
	switch f.Name {
	case "request.json":
		list(t, &out, f.Data, collect(t, f.Data, reader.Request(f.Data)))
	case "answer.json":
		list(t, &out, f.Data, collect(t, f.Data, reader.Answer(f.Data)))
	case "events.txt":
		for line := range bytes.Lines(f.Data) {
			line = bytes.TrimSpace(line)
			fmt.Fprintf(&out, "# %.60s\n", line)
			list(t, &out, line, collect(t, line, reader.Event(line)))
		}
	default:
		t.Fatalf("a file %s means nothing", f.Name)
	}
	return out.Bytes()
}

// ours are names in the files that no language has.
var ours = regexp.MustCompile(`something_new|hologram|mood|steps|about`)

func list(t *testing.T, out *bytes.Buffer, body []byte, all []texts.Text) {
	t.Helper()
	paths := texts.NewPaths(body)
	for _, x := range all {
		at := paths.At(x.Off)
		if place := paths.Place(x.Off); place != at && !ours.MatchString(at) {
			t.Errorf("%s is %s in records", at, place)
		}
		fmt.Fprintf(out, "%s: %s", at, strings.TrimSpace(x.Role.String()+" "+x.Kind.String()))
		if x.Choice != 0 {
			fmt.Fprintf(out, " choice %d", x.Choice)
		}
		if x.Item != 0 {
			fmt.Fprintf(out, " item %d", x.Item)
		}
		if x.Part != 0 {
			fmt.Fprintf(out, " part %d", x.Part)
		}
		if x.Repeat {
			out.WriteString(" repeat")
		}
		if x.JSON {
			fmt.Fprintf(out, " %s\n", compact(x.Of(body)))
		} else {
			fmt.Fprintf(out, " %q\n", splice.Plain(x.Of(body)))
		}
	}
}
