// Package bedrock speaks with Amazon Bedrock, and knows the models there (Features).
//
// # Languages
//
// Chats go to Converse, which all models of Bedrock share. Some go unchanged: messages to Claude, whose body InvokeModel
// takes, and chats and responses with models for which Bedrock has OpenAI's own API. A prefix of the model chooses for all
// chats: converse/, invoke/, openai/ or responses/. Mantle is an endpoint with the vendors' APIs alone.
//
// # Proofs of reasoning
//
// Converse does not say which model has made a signature. So every signature is marked as one
// of Converse (package wire, Mark), and only Bedrock gets it back. Claude also gets those of Anthropic's API, which are the same.
//
// # Names of tools
//
// Converse takes names of 64 letters, digits, - and _. Another name is sent as its beginning and a hash, and
// ToolName finds the caller's name among the request's tools.
//
// # Signatures of requests
//
// Sign signs host, date, session token and content type: nothing that a proxy on the way may change. A signature expires
// after five minutes, so every attempt has its own.
package bedrock
