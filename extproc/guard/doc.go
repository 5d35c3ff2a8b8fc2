// Package guard applies guardrails to the texts of requests and responses. Package texts finds the
// texts, the engines (packages below this one) find spans in them, and this package does with the
// spans what a guardrail says: it replaces them, blocks the request, or only records them.
//
// Guarantees:
//
//   - Engines see every text of package texts, except Media, which nobody can read. A text that cannot be
//     examined is blocked, unless the engine's on_error says otherwise.
//   - A response that comes in pieces and one that comes whole become the same text, however the
//     pieces are cut. Of a piece, only what no later piece can change is passed on.
//   - JSON stays JSON: within arguments of calls and schemas only strings change, and a number in which something
//     is replaced becomes a string. What is found in the name of a
//     member or of a tool cannot be replaced, so such a request is blocked.
//   - Bodies in which nothing is found keep their bytes.
//   - Records of findings have no text, only what was found, where and how often.
package guard
