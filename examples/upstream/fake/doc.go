// Package fake is a provider of language models that answers without a model:
// OpenAI chat completions, responses, completions, embeddings, speech,
// transcriptions, images, edits of images and model lists, Anthropic messages, Google's
// generateContent, Amazon Bedrock's Converse and InvokeModel, Cohere chat and rerank, below /mistral Mistral's chats, below /voyage and /jina the embeddings
// and rankings of these, and the speech and transcriptions of ElevenLabs and Deepgram, whole and streamed, with
// deterministic text and plausible,
// deterministic usage numbers.
//
// What goes wrong is chosen by the model id of the request, for a gateway
// passes little else on untouched. The id is split at '/', '+', ':' and '@',
// and every part that the table of behaviours knows takes effect, so
//
//	openai/fake-gpt+slow-50ms+nousage
//
// answers after 50 ms and leaves the usage out. Parts that no row knows are
// just a name. The table stands in the README beside the command, and GET
// /v1/models lists a working example of each row.
//
// It guarantees: the same request after Reset gets the same bytes; every
// request is recorded, whatever becomes of it; no handler outlives Close or the
// connection of its caller. It leaves to others any judgement of whether an
// answer is a good one.
//
// Only the standard library is used, so that the program builds anywhere.
package fake
