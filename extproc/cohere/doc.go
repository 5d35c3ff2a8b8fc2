// Package cohere is the language of Cohere's POST /v2/chat, for providers.
//
// What is different from OpenAI's chats, and where it is handled:
//
//   - what the assistant says before it calls tools is a plan, not content; here it is the text (message.go);
//   - the result of a tool is a document if it is an object, so that the response can cite it;
//   - citations refer to documents and results. Those with an address become annotations, and others
//     have no place in the languages of callers (citation.go);
//   - no tool can be forced by its name: the others are not sent (encode.go);
//   - usage has two counts. Those that are billed count, and exclude what Cohere adds to a prompt (usage.go);
//   - the end may be a failure, in a response with status 200.
//
// Rankings have Cohere's own form at the gateway, and pass. Embeddings and transcriptions pass to
// Cohere's endpoints of OpenAI's form.
package cohere
