package tokens

import "strings"

// encoding is a public vocabulary.
type encoding uint8

const (
	o200k  encoding = iota // GPT-4o and later
	cl100k                 // GPT-4, GPT-3.5, the embedding models
)

// encodingOf selects by the model's name, with or without its provider. The older vocabularies
// of retired completion models are omitted: no provider serves those models, and each
// vocabulary would add megabytes to the binary.
func encodingOf(model string) encoding {
	model = model[strings.LastIndexByte(model, '/')+1:]
	model = strings.TrimPrefix(model, "ft:")
	for _, newer := range []string{"gpt-4o", "gpt-4.1", "gpt-4.5"} {
		if strings.HasPrefix(model, newer) {
			return o200k
		}
	}
	for _, older := range []string{"gpt-4", "gpt-3.5", "gpt-35", "text-embedding-", "text-davinci", "davinci-002", "babbage-002"} {
		if strings.HasPrefix(model, older) {
			return cl100k
		}
	}
	return o200k
}
