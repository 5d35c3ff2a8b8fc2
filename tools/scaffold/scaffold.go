package main

import (
	"bytes"
	"embed"
	"fmt"
	"go/format"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"text/template"
)

//go:embed templates
var templates embed.FS

// resource has the words for a sort of named resources.
type resource struct {
	Name, Names   string // in lower case: snippet, snippets
	Type, Types   string // Snippet, Snippets
	Records, Held byte   // the keyspaces of records and of names
}

// scaffold returns the files of a tree that a resource with a name adds or changes, by path.
func scaffold(tree fs.FS, name string) (map[string][]byte, error) {
	r := resource{Name: name, Names: plural(name)}
	r.Type, r.Types = capital(r.Name), capital(r.Names)
	out := make(map[string][]byte)
	for from, to := range map[string]string{
		"service.proto.tmpl": "proto/gateway/v1/" + r.Name + ".proto",
		"record.go.tmpl":     "cluster/" + r.Names + "/" + r.Name + ".go",
		"record_test.tmpl":   "cluster/" + r.Names + "/" + r.Names + "_test.go",
		"service.go.tmpl":    "mgmt/" + r.Names + ".go",
	} {
		if _, err := fs.Stat(tree, to); err == nil {
			return nil, fmt.Errorf("%s exists: choose another name", to)
		}
		text, err := r.render(from)
		if err != nil {
			return nil, err
		}
		out[to] = text
	}
	for _, change := range r.changes() {
		text, err := fs.ReadFile(tree, change.file)
		if err != nil {
			return nil, err
		}
		if change.file == keyspaces {
			if r.Records, r.Held, err = unusedBytes(text); err != nil {
				return nil, err
			}
			change.edits = r.keyspaceEdits()
		}
		for _, e := range change.edits {
			if text, err = e.apply(text); err != nil {
				return nil, fmt.Errorf("%s: %w", change.file, err)
			}
		}
		if path.Ext(change.file) == ".go" {
			if text, err = format.Source(text); err != nil {
				return nil, fmt.Errorf("%s: %w", change.file, err)
			}
		}
		out[change.file] = text
	}
	return out, nil
}

// plural returns the plural of a noun.
func plural(noun string) string {
	switch {
	case strings.HasSuffix(noun, "y") && !strings.ContainsAny(noun[len(noun)-2:len(noun)-1], "aeiou"):
		return noun[:len(noun)-1] + "ies"
	case strings.HasSuffix(noun, "s"), strings.HasSuffix(noun, "x"), strings.HasSuffix(noun, "ch"), strings.HasSuffix(noun, "sh"):
		return noun + "es"
	}
	return noun + "s"
}

func capital(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// render fills in a template.
func (r *resource) render(name string) ([]byte, error) {
	t, err := template.ParseFS(templates, "templates/"+name)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, r); err != nil {
		return nil, err
	}
	if strings.HasSuffix(name, ".proto.tmpl") {
		return out.Bytes(), nil
	}
	return format.Source(out.Bytes())
}

// keyspaces is the file that has the bytes of all keyspaces.
const keyspaces = "cluster/store/keyspaces.go"

// change is what a resource changes in a file.
type change struct {
	file  string
	edits []edit
}

// edit puts lines before or behind the line that a pattern matches, or at the end of the file if there is no pattern.
type edit struct {
	at     string
	before bool
	lines  string
}

func (e *edit) apply(text []byte) ([]byte, error) {
	at := len(text)
	if e.at != "" {
		found := regexp.MustCompile(`(?m)^.*`+e.at+`.*\n`).FindAllIndex(text, -1)
		if len(found) != 1 {
			return nil, fmt.Errorf("%d lines match %s, want one", len(found), e.at)
		}
		if at = found[0][1]; e.before {
			at = found[0][0]
		}
	}
	return bytes.Join([][]byte{text[:at], []byte(e.lines), text[at:]}, nil), nil
}

// changes returns what a resource needs in files that exist.
func (r *resource) changes() []change {
	return []change{
		{"proto/cluster/v1/resource.proto", []edit{{lines: fmt.Sprintf(`
// %s is a %s, by its id.
message %[1]s {
  // Its id, a UUID.
  string id = 1;
  // Its name, unique in its organization.
  string name = 2;
  // The organization it belongs to; empty for all.
  string organization_id = 3;
  // Its text.
  string text = 4;
  // Who made it, and when.
  Stamp stamp = 100;
}
`, r.Type, r.Name)}}},
		{keyspaces, nil}, // keyspaceEdits, when the bytes are known
		{"cluster/view.go", []edit{
			{at: `/cluster/record"`, before: true, lines: `	"github.com/modelgateway/modelgateway/cluster/` + r.Names + "\"\n"},
			{at: `^\tGuardrails \*guardrails\.Set`, lines: fmt.Sprintf("\t%s *%s.Set\n", r.Types, r.Names)},
			{at: `named\(&v\.Guardrails, guardrails\.New\),`, lines: fmt.Sprintf("\t\tnamed(&v.%s, %s.New),\n", r.Types, r.Names)},
		}},
		{"mgmt/services.go", []edit{{at: `RegisterPromptServiceServer,`, lines: fmt.Sprintf(
			"\t\trest.API(gatewayv1.Register%[1]sServiceServer, gatewayv1.New%[1]sServiceClient, gatewayv1.Register%[1]sServiceHandlerClient)(%[2]sService{service: base}),\n", r.Type, r.Name)}}},
	}
}

func (r *resource) keyspaceEdits() []edit {
	return []edit{
		{at: `// SpaceKeyring belongs`, before: true, lines: fmt.Sprintf(`	// Space%[1]s belongs to cluster/%[2]s.
	//	id → cluster.v1.%[1]s
	Space%[1]s Space = '%[3]c'
	// Space%[1]sName belongs to cluster/%[2]s: assigned names.
	//	organization or nothing, 0, name → cluster.v1.Claim of an id
	Space%[1]sName Space = '%[4]c'
`, r.Type, r.Names, r.Records, r.Held)},
		{at: `\{SpacePrompt, SpacePromptName, "prompts"\},`, lines: fmt.Sprintf("\t\t{Space%[1]s, Space%[1]sName, %[2]q},\n", r.Type, r.Name+"s")},
	}
}

// unusedBytes returns two bytes that no keyspace has.
func unusedBytes(source []byte) (records, names byte, err error) {
	const all = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	used := regexp.MustCompile(`Space = '(.)'`).FindAllSubmatch(source, -1)
	var free []byte
	for _, c := range []byte(all) {
		taken := false
		for _, m := range used {
			taken = taken || m[1][0] == c
		}
		if !taken {
			free = append(free, c)
		}
	}
	if len(free) < 2 || len(used) == 0 {
		return 0, 0, fmt.Errorf("%s has no two unused bytes", keyspaces)
	}
	return free[0], free[1], nil
}
