// Package jina is the language of Jina's embeddings and rankings, for providers.
//
// What is different from OpenAI's embeddings and Cohere's rankings, and where it is handled:
//
//   - embeddings come as numbers, and the gateway writes them as base64 if the caller requests that. Jina's own
//     member for formats, embedding_type, passes as it is (embed.go);
//   - a picture is an object, and not a text with its data (embed.go);
//   - usage is a total of tokens, in rankings too.
package jina
