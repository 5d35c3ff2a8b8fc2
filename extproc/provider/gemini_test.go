package provider_test

import "pgregory.net/rapid"

// geminiAnswer draws an answer, whole and streamed. Calls come whole, and the signature of a text
// may come in an empty part of its own.
func geminiAnswer(t *rapid.T) (body []byte, all []event) {
	text := rapid.StringN(1, 20, -1)
	reply := func(parts []any, finish any) object {
		c := object{"content": object{"parts": parts, "role": "model"}}
		if finish != nil {
			c["finishReason"] = finish
		}
		return object{"candidates": []any{c}, "responseId": "r", "modelVersion": "gemini-up"}
	}
	step := func(p object) { all = append(all, data(reply([]any{p}, nil))) }
	whole := []any{}
	for i := range rapid.IntRange(0, 5).Draw(t, "parts") {
		part := object{}
		signed := rapid.Bool().Draw(t, "signed")
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			part["text"], part["thought"] = text.Draw(t, "thought"), true
			for _, p := range pieces(t, part["text"].(string)) {
				step(object{"text": p, "thought": true})
			}
		case 1:
			part["text"] = text.Draw(t, "text")
			for _, p := range pieces(t, part["text"].(string)) {
				step(object{"text": p})
			}
			if signed {
				part["thoughtSignature"] = "c2ln"
				step(object{"text": "", "thoughtSignature": "c2ln"})
			}
		default:
			call := object{"name": "f", "args": object{"q": text.Draw(t, "argument")}}
			if rapid.Bool().Draw(t, "id") {
				call["id"] = "id" + string(rune('0'+i))
			}
			if part["functionCall"] = call; signed {
				part["thoughtSignature"] = "c2ln"
			}
			step(part)
		}
		whole = append(whole, part)
	}
	finish := rapid.SampledFrom([]string{"STOP", "MAX_TOKENS", "SAFETY", "MALFORMED_FUNCTION_CALL", "NEW_REASON"}).Draw(t, "finish")
	usage := object{"promptTokenCount": 4, "candidatesTokenCount": rapid.IntRange(0, 9).Draw(t, "output"), "thoughtsTokenCount": rapid.IntRange(0, 9).Draw(t, "thoughts")}
	last := reply([]any{}, finish)
	last["usageMetadata"] = usage
	all = append(all, data(last))
	out := reply(whole, finish)
	out["usageMetadata"] = usage
	return marshal(out), all
}
