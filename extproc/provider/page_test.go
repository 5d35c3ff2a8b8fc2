package provider_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/openai"
	"github.com/modelgateway/modelgateway/extproc/provider"
)

// The pages that list the providers.
const (
	providersPage = "../../docs/providers.md"
	settingsPage  = "../../docs/configuration.md"
)

// TestPagesListTheProviders writes the lists of providers from the table and the golden files, and compares
// the pages with them.
func TestPagesListTheProviders(t *testing.T) {
	compare(t, providersPage, func(string) string {
		return pageHead + addresses() + differencesHead + differences() + matrixHead + features(t)
	})
	compare(t, settingsPage, func(text string) string {
		return regexp.MustCompile(`(?m)^Providers: (.|\n)*?\. A model`).ReplaceAllString(text, names()+". A model")
	})
}

// compare compares a page with what it must be, or writes it.
func compare(t *testing.T, page string, made func(old string) string) {
	t.Helper()
	old, err := os.ReadFile(page)
	if err != nil && !*update {
		t.Fatal(err)
	}
	want := made(string(old))
	if diff := cmp.Diff(want, string(old)); diff != "" && !*update {
		t.Errorf("%s differs from the table; run the test with -update (-table +page):\n%s", page, diff)
	}
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

const pageHead = `# Providers

The tables on this page are made from the list of providers and from the golden files of its tests:
` + "`go test ./extproc/provider -update`" + ` writes them. Keys, addresses and headers of a deployment are [settings](configuration.md#model_list).

## Addresses and operations

A provider without an address needs ` + "`api_base`" + `. Chats are requests to ` + "`/v1/chat/completions`, `/v1/messages`, `/v1/responses`" + ` and, where the
provider has no completions of its own, ` + "`/v1/completions`" + `: the gateway translates them to the language that the provider has.

`

// operation is an endpoint, with its name in the table.
type operation struct {
	name     string
	endpoint driver.Endpoint
}

// operations lists the columns of the table besides chats.
func operations() []operation {
	return []operation{
		{"completions", driver.Completions},
		{"embeddings", driver.Embeddings},
		{"images", driver.Images},
		{"speech", driver.Speech},
		{"transcriptions", driver.Transcriptions},
		{"moderations", driver.Moderations},
		{"rerank", driver.Rerank},
	}
}

// addresses is the table of addresses and operations.
func addresses() string {
	var b strings.Builder
	b.WriteString("| provider | address | language of chats |")
	for _, o := range operations() {
		b.WriteString(" " + o.name + " |")
	}
	b.WriteString("\n" + strings.Repeat("|---", 3+len(operations())) + "|\n")
	for _, p := range provider.Providers() {
		language, _ := p.Driver.Serves(driver.Target{}, driver.Chat)
		base := "`" + p.BaseURL + "`"
		switch {
		case p.Base != nil:
			base = "by its settings"
		case p.BaseURL == "":
			base = ""
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |", p.Name, base, language)
		for _, o := range operations() {
			_, ok := p.Driver.Serves(servedBy(p.Name, o), o.endpoint)
			b.WriteString(" " + marks()[ok] + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// servedBy returns the target of a golden file of an operation, where a provider rewrites it: not each model may have it.
func servedBy(name string, o operation) driver.Target {
	archive, err := txtar.ParseFile(filepath.Join(rewrittenFolder, name, o.name+".txtar"))
	if err != nil {
		return driver.Target{}
	}
	var cfg target
	for _, f := range archive.Files {
		if f.Name == targetJSON && json.Unmarshal(f.Data, &cfg) == nil {
			return cfg.target()
		}
	}
	return driver.Target{}
}

// marks are the contents of cells.
func marks() map[bool]string { return map[bool]string{true: "yes"} }

const differencesHead = `
## Differences from OpenAI's chats

For providers that speak OpenAI's language, a request is passed on with these edits in place. A parameter that a provider does not
take ends the request with an error that names it, unless ` + "`drop_params`" + ` leaves it out or its value changes nothing. Reasoning is read under both of its usual
names, ` + "`reasoning_content` and `reasoning`" + `.

| provider | ` + "`max_completion_tokens`" + ` is sent as | ` + "`developer`" + ` is sent as | parameters that it does not take | reasoning in the text | reasoning goes back |
|---|---|---|---|---|---|
`

// differences is the table of what is different at providers of OpenAI's language.
func differences() string {
	var b strings.Builder
	for _, p := range provider.Providers() {
		d, ok := p.Driver.(openai.Driver)
		v := p.Variation
		if !ok || !v.OldLimit && !v.NoDeveloper && len(v.Lacks) == 0 && !d.ThinksInText && !d.GivesThinkingBack {
			continue
		}
		limit, role, lacks, tags := "", "", "", ""
		if v.OldLimit {
			limit = "`max_tokens`"
		}
		if v.NoDeveloper {
			role = "`system`"
		}
		if len(v.Lacks) > 0 {
			lacks = "`" + strings.Join(v.Lacks, "`, `") + "`"
		}
		if d.ThinksInText {
			tags = "`<think>`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", p.Name, limit, role, lacks, tags, marks()[d.GivesThinkingBack])
	}
	return b.String()
}

const matrixHead = `
## What is tested

A cell is marked if a golden file shows it: a request in the caller's language, what the provider is sent, its response, and what the caller
gets. Providers of OpenAI's language have the same code as ` + "`openai`" + `, and files of their own for what is different.

| provider | caller | whole | stream | tools | pictures | reasoning | cache | structured |
|---|---|---|---|---|---|---|---|---|
`

// features is the table of what the golden files show.
func features(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, p := range provider.Providers() {
		if p.Like != "" {
			continue
		}
		for _, caller := range []struct{ name, folder string }{{"chat", "testdata"}, {"messages", messagesFolder}, {"completions", completionsFolder}} {
			files, err := filepath.Glob(caller.folder + "/" + p.Name + "/*.txtar")
			if err != nil {
				t.Fatal(err)
			}
			if len(files) == 0 {
				continue
			}
			fmt.Fprintf(&b, "| `%s` | %s |", p.Name, caller.name)
			shown := map[string]bool{}
			for _, file := range files {
				shows(t, file, shown)
			}
			for _, feature := range []string{"whole", "stream", "tools", "pictures", "reasoning", "cache", "structured"} {
				b.WriteString(" " + marks()[shown[feature]] + " |")
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// shows adds what a golden file shows: only a response shows anything.
func shows(t *testing.T, file string, shown map[string]bool) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	section := map[string]string{}
	for _, f := range archive.Files {
		section[f.Name] = string(f.Data)
	}
	answer, sent := section[answerHTTP], section[upstreamHTTP]
	if !strings.HasPrefix(answer, "200\n") || section[failureJSON] != "" {
		return
	}
	if strings.Contains(answer, "text/event-stream") {
		shown["stream"] = true
	} else {
		shown["whole"] = true
	}
	for feature, found := range map[string]bool{
		"tools":      hasOne(answer, `"tool_calls": [|"tool_calls":[|"tool_use"`),
		"pictures":   hasOne(sent, `"image_url"|"image"|"inlineData"|"fileData"`),
		"reasoning":  hasOne(answer, `"reasoning_content"|"thinking"|"thinking_delta"`),
		"cache":      !hasOne(section[usageJSON], `"CacheRead": 0,`) && section[usageJSON] != "",
		"structured": hasOne(sent, `"json_schema"|"textFormat"|"responseJsonSchema"|"responseSchema"|"output_config"|gateway_structured_answer`),
	} {
		shown[feature] = shown[feature] || found
	}
}

// names is the sentence that lists the providers.
func names() string {
	var with, without []string
	for _, p := range provider.Providers() {
		name := "`" + p.Name + "`"
		if p.NeedsBase {
			without = append(without, name)
		} else {
			with = append(with, name)
		}
	}
	all := append(with, without...)
	text, line := "Providers:", len("Providers:")
	for i, name := range all {
		if i == len(with) {
			name = "and with `api_base` " + name
		}
		if i < len(all)-1 {
			name += ","
		}
		if line += len(name) + 1; line > 140 {
			text, line = text+"\n"+name, len(name)
		} else {
			text += " " + name
		}
	}
	return text + "; see [what they have](providers.md)"
}
