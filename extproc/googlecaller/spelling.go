package googlecaller

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/contents"
	"github.com/modelgateway/modelgateway/extproc/dialect"
)

// CamelCased is camelCased with an error for the caller.
func CamelCased(body []byte) ([]byte, error) {
	out, err := camelCased(body)
	if err != nil {
		return nil, dialect.Reject(err, "")
	}
	return out, nil
}

// camelCased returns a request whose names are in camel case: Google's API takes names in snake case
// too, and its own libraries mix the two. A name in both spellings is rejected as a duplicate. Members of the
// request that Google does not have keep their names: some are for the gateway.
func camelCased(body []byte) ([]byte, error) {
	if bytes.IndexByte(body, '_') < 0 {
		return body, nil
	}
	var out bytes.Buffer
	dec, enc := jsontext.NewDecoder(bytes.NewBuffer(body)), jsontext.NewEncoder(&out)
	if err := rename(enc, dec, true); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// rename copies one value, which may be the whole request, with its names in camel case.
func rename(enc *jsontext.Encoder, dec *jsontext.Decoder, whole bool) error { //nolint:revive // what the value is, not a mode
	kind := dec.PeekKind()
	if kind != '{' && kind != '[' {
		value, err := dec.ReadValue()
		if err != nil {
			return err
		}
		return enc.WriteValue(value)
	}
	if err := copyToken(enc, dec); err != nil {
		return err
	}
	end := jsontext.Kind(']')
	if kind == '{' {
		end = '}'
	}
	for dec.PeekKind() != end {
		if kind == '{' {
			name, err := dec.ReadToken()
			if err != nil {
				return err
			}
			own := contents.Camel(name.String())
			if whole && !isMember(own) {
				own = name.String()
			}
			if err := enc.WriteToken(jsontext.String(own)); err != nil {
				return err
			}
			if isFree(own) {
				value, err := dec.ReadValue()
				if err != nil {
					return err
				}
				if err := enc.WriteValue(value); err != nil {
					return err
				}
				continue
			}
		}
		if err := rename(enc, dec, false); err != nil {
			return err
		}
	}
	return copyToken(enc, dec)
}

func copyToken(enc *jsontext.Encoder, dec *jsontext.Decoder) error {
	token, err := dec.ReadToken()
	if err != nil {
		return err
	}
	return enc.WriteToken(token)
}

// isMember reports whether a request of Google's has a member with more than one word in its name.
func isMember(name string) bool {
	switch name {
	case "systemInstruction", "toolConfig", "safetySettings", "generationConfig", "cachedContent", "serviceTier",
		"generateContentRequest",                                 // of a count
		"taskType", "outputDimensionality", "embedContentConfig": // of embeddings
		return true
	}
	return false
}

// isFree reports whether the names in a member's value are the caller's own.
func isFree(name string) bool {
	switch name {
	case "args", "response", "parameters", "parametersJsonSchema", "responseSchema", "responseJsonSchema", "labels", "partMetadata":
		return true
	}
	return false
}

// ownNames returns how Google names parameters that drivers name as OpenAI's chats do.
func ownNames() map[string]string {
	const config = "generationConfig."
	return map[string]string{
		"n": config + "candidateCount", "max_tokens": config + "maxOutputTokens", "temperature": config + "temperature", "top_p": config + "topP", "top_k": config + "topK",
		"stop": config + "stopSequences", "stop_sequences": config + "stopSequences", "seed": config + "seed",
		"frequency_penalty": config + "frequencyPenalty", "presence_penalty": config + "presencePenalty",
		"logprobs": config + "responseLogprobs", "top_logprobs": config + "logprobs",
		"response_format": config + "responseSchema", "text.format": config + "responseSchema", "output_config.format": config + "responseSchema",
		"modalities": config + "responseModalities", "audio": config + "speechConfig", "audio.format": config + "speechConfig", "reasoning_effort": config + "thinkingConfig",
		"tool_choice": "toolConfig", "tool_choice.name": "toolConfig.functionCallingConfig.allowedFunctionNames",
		"web_search_options": "tools", "tools.blocked_domains": "tools.googleSearch.excludeDomains",
		"messages": "contents", "service_tier": "serviceTier",
	}
}

// inOwnWords returns an error that names the field at fault as Google does.
func inOwnWords(e *fault.Error) *fault.Error {
	name, ok := ownNames()[e.Param]
	if !ok {
		return e
	}
	out := *e
	out.Param = name
	if rest, ok := strings.CutPrefix(e.Detail, e.Param); ok && (strings.HasPrefix(rest, " ") || strings.HasPrefix(rest, ":")) {
		out.Detail = name + rest
	}
	return &out
}
