package texts_test

import (
	"bytes"
	"testing"

	"github.com/modelgateway/modelgateway/extproc/texts"
)

// TestPathsAreUnambiguous: a name that would look like several is quoted, and places may come in any order.
func TestPathsAreUnambiguous(t *testing.T) {
	t.Parallel()
	body := []byte(` {"messages": [{"content": "one"}, {"a.b": {"": ["two", {"c\u0064": "three"}]}}], "last": "four"}`)
	paths := texts.NewPaths(body)
	for _, test := range []struct{ text, want string }{
		{"one", `messages[0].content`},
		{"four", `last`},
		{"three", `messages[1]["a.b"][""][1].cd`},
		{"two", `messages[1]["a.b"][""][0]`},
		{"{\"messages", ``},
	} {
		if got := paths.At(bytes.Index(body, []byte(test.text))); got != test.want {
			t.Errorf("%s is at %s, want %s", test.text, got, test.want)
		}
	}
}

// TestPlacesHaveNoTexts: the names that callers choose are not in the places of records. TestGolden checks that those of the languages are.
func TestPlacesHaveNoTexts(t *testing.T) {
	t.Parallel()
	body := []byte(`{"messages":[{"ada@example.org":{"4111111111111111":["one"]},"content":"two"}],"prompt":{"variables":{"Ada Lovelace":"three"}}}`)
	paths := texts.NewPaths(body)
	for text, want := range map[string]string{"one": "messages[0].*.*[0]", "two": "messages[0].content", "three": "prompt.variables.*"} {
		if got := paths.Place(bytes.Index(body, []byte(text))); got != want {
			t.Errorf("%s is at %s, want %s", text, got, want)
		}
	}
}
