package compose

import (
	"github.com/modelgateway/modelgateway/extproc/anthropic"
	"github.com/modelgateway/modelgateway/extproc/bedrock"
	"github.com/modelgateway/modelgateway/extproc/cohere"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/gemini"
	"github.com/modelgateway/modelgateway/extproc/googlecaller"
	"github.com/modelgateway/modelgateway/extproc/responses"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Language is where the requests of one language have messages and settings.
type Language struct {
	messages string    // the member with the messages
	message  [2]string // what makes a message of a text in it
	system   string    // the member with the system messages; empty if they are among the messages
	inner    string    // the member of system with them, if it is an object
	block    [2]string // what makes an element of a text in it
	// settings are where the language has a setting under another name; a setting that is not
	// listed has the same name.
	settings map[string][]place
	// encode writes a prompt as a request of the language; nil if it is the prompt's own.
	encode func(*wire.Request, driver.Target) ([]byte, error)
	// normal returns a request with the names that this package knows; nil if it has no others.
	normal func(body []byte) ([]byte, error)
}

// place is a member of a request.
type place struct {
	name  string
	inner string // a member of the object that name is; empty for name itself
	or    string // another name of the same, which is kept if the caller uses it
	all   bool   // each member of the object is a setting of its own
}

// Languages returns the languages, by the name of the caller's.
func Languages() map[wire.Dialect]*Language {
	return map[wire.Dialect]*Language{
		wire.OpenAI: {
			messages: "messages",
			settings: map[string][]place{
				"max_tokens": {{name: "max_tokens", or: "max_completion_tokens"}},
				"metadata":   {{name: "metadata", all: true}},
			},
		},
		wire.Anthropic: {
			messages: "messages", system: "system", block: [2]string{`{"type":"text","text":`, `}`},
			settings: map[string][]place{
				"stop":             {{name: "stop_sequences"}},
				"response_format":  {{name: "output_config", inner: "format"}},
				"reasoning_effort": {{name: "output_config", inner: "effort"}, {name: "thinking"}},
				"metadata":         nil, // labels of the caller's own are a hint
			},
			encode: anthropic.EncodePart,
		},
		wire.Responses: {
			messages: "input", message: [2]string{`{"role":"user","content":`, `}`},
			settings: map[string][]place{
				"max_tokens":       {{name: "max_output_tokens"}},
				"response_format":  {{name: "text", inner: "format"}},
				"reasoning_effort": {{name: "reasoning", inner: "effort"}},
				"metadata":         {{name: "metadata", all: true}},
			},
			encode: responses.Codec{}.Encode,
		},
		wire.Gemini: {
			messages: "contents", message: [2]string{`{"role":"user","parts":[{"text":`, `}]}`},
			system: "systemInstruction", inner: "parts", block: [2]string{`{"text":`, `}`},
			settings: map[string][]place{
				"max_tokens":        {{name: "generationConfig", inner: "maxOutputTokens"}},
				"temperature":       {{name: "generationConfig", inner: "temperature"}},
				"top_p":             {{name: "generationConfig", inner: "topP"}},
				"stop":              {{name: "generationConfig", inner: "stopSequences"}},
				"seed":              {{name: "generationConfig", inner: "seed"}},
				"frequency_penalty": {{name: "generationConfig", inner: "frequencyPenalty"}},
				"presence_penalty":  {{name: "generationConfig", inner: "presencePenalty"}},
				"response_format": {
					{name: "generationConfig", inner: "responseMimeType"},
					{name: "generationConfig", inner: "responseJsonSchema"},
					{name: "generationConfig", inner: "responseSchema"},
				},
				"reasoning_effort": {{name: "generationConfig", inner: "thinkingConfig"}},
				"tool_choice":      {{name: "toolConfig"}},
				"metadata":         nil, // labels of the caller's own are a hint
			},
			encode: gemini.Codec{}.EncodePart,
			normal: googlecaller.CamelCased,
		},
		wire.Converse: {
			messages: "messages", system: "system", block: [2]string{`{"text":`, `}`},
			settings: map[string][]place{
				"max_tokens":       {{name: "inferenceConfig", inner: "maxTokens"}},
				"temperature":      {{name: "inferenceConfig", inner: "temperature"}},
				"top_p":            {{name: "inferenceConfig", inner: "topP"}},
				"stop":             {{name: "inferenceConfig", inner: "stopSequences"}},
				"response_format":  {{name: "outputConfig", inner: "textFormat"}},
				"reasoning_effort": {{name: "outputConfig", inner: "effort"}, {name: "additionalModelRequestFields", all: true}},
				"tools":            {{name: "toolConfig", inner: "tools"}},
				"tool_choice":      {{name: "toolConfig", inner: "toolChoice"}},
				"metadata":         nil, // labels of the caller's own are a hint
			},
			encode: bedrock.Codec{}.EncodePart,
		},
		wire.Cohere: {
			messages: "messages",
			settings: map[string][]place{
				"top_p":            {{name: "p"}},
				"stop":             {{name: "stop_sequences"}},
				"reasoning_effort": {{name: "thinking"}},
				"metadata":         nil, // labels of the caller's own are a hint
			},
			encode: cohere.Driver{}.Encode,
		},
	}
}

// places returns where the language has a setting; none if it lacks it.
func (l *Language) places(setting string) []place {
	if at, ok := l.settings[setting]; ok {
		return at
	}
	return []place{{name: setting}}
}
