package openai_test

import (
	"testing"

	"github.com/modelgateway/modelgateway/extproc/openai"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Mistral's clients write two words of OpenAI's chats otherwise.
func TestMistralsWordsAreUnderstood(t *testing.T) {
	t.Parallel()
	const tools = `"model":"m","messages":[{"role":"user","content":"a"}],"tools":[{"type":"function","function":{"name":"f"}}]`
	for body, seed := range map[string]int64{
		`{` + tools + `,"tool_choice":"any","random_seed":7}`:               7,
		`{` + tools + `,"tool_choice":"required","seed":8,"random_seed":7}`: 8,
	} {
		ask, err := openai.Dialect{}.DecodeRequest([]byte(body))
		if err != nil || ask.Sampling.Seed == nil || *ask.Sampling.Seed != seed || ask.ToolChoice.Mode != wire.ChoiceRequired || len(ask.Extra) > 0 {
			t.Errorf("%s: %+v, %v", body, ask, err)
		}
	}
}
