package driver

import "github.com/go-json-experiment/json/jsontext"

// EmbeddingList is a list of embeddings in OpenAI's language.
type EmbeddingList struct {
	Object string           `json:"object"` // "list"
	Data   []Embedding      `json:"data"`
	Model  string           `json:"model"`
	Usage  *EmbeddingsUsage `json:"usage,omitzero"`
}

// Embedding is one of them.
type Embedding struct {
	Object string         `json:"object"` // "embedding"
	Index  int            `json:"index"`
	Values jsontext.Value `json:"embedding"`
}

// EmbeddingsUsage is the usage of a request for embeddings, in tokens.
type EmbeddingsUsage struct {
	Prompt int64 `json:"prompt_tokens"`
	Total  int64 `json:"total_tokens"`
}
