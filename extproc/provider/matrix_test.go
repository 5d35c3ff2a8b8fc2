package provider_test

import (
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"golang.org/x/tools/txtar"
)

// cells are what golden files show of each pair of languages, whole and streamed, by the folder of
// the caller's language: what the request, the provider's response or the caller's has if it is that.
func cells() map[string]map[string]string {
	return map[string]map[string]string{
		messagesFolder: {
			"text": "degrees.", "tools": `"tool_use"`, "pictures": `"image"`, "reasoning": `"thinking_delta"|"type": "thinking"`, "cache": `"cache_control"`,
			"structured": `"json_schema"`, "refusal": `"refusal"`, "error": `"type": "error"|"type":"error"`,
		},
		contentsFolder: {
			"text": "degrees.", "tools": `"functionCall"`, "pictures": `"image`, "reasoning": `"thought": true|"thought":true`, "cache": `"cachedContentTokenCount"`,
			"structured": `"responseSchema"`, "refusal": `"SAFETY"`, "error": `"status": "|"status":"`,
		},
		converseFolder: {
			"text": "degrees.", "tools": `"toolUse"`, "pictures": `"image"`, "reasoning": `"reasoningContent"`, "cache": `"cacheReadInputTokens"`,
			"structured": `"textFormat"`, "refusal": `"content_filtered"`, "error": `"__type": "|Exception`,
		},
		turnsFolder: {
			"text": "degrees.", "tools": `"tool_calls"`, "pictures": `"image|inlineData`, "reasoning": `"type": "thinking"|"type":"thinking"`, "cache": `"cached_tokens"`,
			"structured": `"json_schema"`, "refusal": `"finish_reason"`, "error": `"message": "The|"ERROR"`,
		},
		completionsFolder: {
			"text": `"text_completion"`, "refusal": `"text_completion"`, "error": `"code":"upstream|"code": "`,
			"reasoning": `"reasoning_content"|"thinking_delta"|"type": "thinking"|"thought": true|"reasoningContent"`,
		},
	}
}

// TestMatrixIsComplete rejects a pair of languages without golden files for each cell.
func TestMatrixIsComplete(t *testing.T) {
	for folder, shown := range cells() {
		for cell, signs := range shown {
			for _, end := range ends(cell) {
				file := folder + "/" + end
				if strings.HasPrefix(file, contentsFolder+"/gemini/") || strings.HasPrefix(file, contentsFolder+"/vertex_ai/") || strings.HasPrefix(file, converseFolder+"/bedrock/") {
					continue // their bytes pass
				}
				if strings.HasPrefix(file, turnsFolder+"/cohere/") {
					continue // so do theirs
				}
				text, err := os.ReadFile(file)
				if err != nil {
					t.Errorf("the matrix has a hole: %v", err)
					continue
				}
				if !hasOne(string(text), signs) {
					t.Errorf("%s does not show %s: it has none of %s", file, cell, signs)
				}
				checkStreamed(t, file, text)
			}
		}
	}
}

// ends returns the names of a cell's files. Mistral has no refusals: what its guardrails block is an error.
func ends(cell string) []string {
	var out []string
	for _, of := range []string{"openai", "anthropic", "gemini", "mistral", "cohere", "bedrock", "azure", "vertex_ai"} {
		if of == "mistral" && cell == "refusal" {
			continue
		}
		out = append(out, of+"/"+cell+".txtar", of+"/"+cell+streamEnd)
	}
	return out
}

// streamEnd ends the names of files with streams.
const streamEnd = "_stream.txtar"

// hasOne reports whether the text has one of the signs.
func hasOne(text, signs string) bool {
	for sign := range strings.SplitSeq(signs, "|") {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return false
}

// checkStreamed checks that a file's request and response are streamed if its name says so, and
// whole otherwise.
func checkStreamed(t *testing.T, file string, text []byte) {
	t.Helper()
	want := strings.HasSuffix(file, streamEnd)
	for _, section := range txtar.Parse(text).Files {
		got := want
		switch section.Name {
		case askJSON:
			var ask struct {
				Stream bool `json:"stream"`
			}
			if err := json.Unmarshal(section.Data, &ask); err != nil {
				t.Errorf("%s: %v", file, err)
			}
			if got = ask.Stream; strings.HasPrefix(file, contentsFolder) || strings.HasPrefix(file, converseFolder) { // its path says so
				got = want
			}
		case answerHTTP:
			got = strings.Contains(string(section.Data), "text/event-stream")
		}
		if got != want {
			t.Errorf("%s: streamed is %v in %s", file, got, section.Name)
		}
	}
}
