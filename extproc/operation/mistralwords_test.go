package operation

import (
	"testing"

	"github.com/modelgateway/modelgateway/extproc/splice"
)

// Chats that are passed on have OpenAI's words, whatever Mistral's clients have written.
func TestMistralsWordsStayHere(t *testing.T) {
	t.Parallel()
	edits := NewTable().At("/v1/chat/completions").Edits
	for body, want := range map[string]string{
		`{"model":"m","random_seed":7,"tool_choice":"any"}`:                                    `{"model":"m","seed":7,"tool_choice":"required"}`,
		`{"tool_choice" : "any","random_seed" : null}`:                                         `{"tool_choice" : "required","seed" : null}`,
		`{"seed":1,"random_seed":7}`:                                                           `{"seed":1,"random_seed":7}`,
		`{"messages":[{"content":"\"random_seed\"","random_seed":1}],"tool_choice":"auto"}`:    `{"messages":[{"content":"\"random_seed\"","random_seed":1}],"tool_choice":"auto"}`,
		`{"messages":[{"content":"any","tool_choice":"any"}],"tool_choice":{"type":"any"}}`:    `{"messages":[{"content":"any","tool_choice":"any"}],"tool_choice":{"type":"any"}}`,
		`{"x":{"random_seed":1},"random_seed":2,"messages":[{"content":"the \"random_seed"}]}`: `{"x":{"random_seed":1},"seed":2,"messages":[{"content":"the \"random_seed"}]}`,
	} {
		if got := string(splice.Apply(nil, []byte(body), edits(nil, []byte(body), "m"))); got != want {
			t.Errorf("%s became %s", body, got)
		}
	}
	later := []splice.Edit{{Off: 1, End: 1, With: `"a":1,`}, {Off: 30, End: 31, With: "8"}}
	body := `{"model":"m","random_seed":7,"k":7}`
	for i, e := range edits(later, []byte(body), "m") {
		if want := []int{1, 13, 30}[i]; e.Off != want {
			t.Errorf("edit %d is at %d", i, e.Off)
		}
	}
}
