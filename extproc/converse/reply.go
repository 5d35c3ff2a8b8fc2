package converse

import (
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// Reply reads a complete response. A reason for the end is in OpenAI's words. Otherwise it is like splice.Reply.
func Reply(body []byte, f *splice.ReplyFacts) error {
	*f = splice.ReplyFacts{Collect: f.Collect, Text: f.Text, Most: f.Most}
	if err := splice.Check(body); err != nil {
		return err
	}
	var problem splice.Span
	for name, at := range splice.Members(body, whole(body)) {
		switch string(name) {
		case "output":
			for member, message := range splice.Members(body, at) {
				if string(member) == "message" && body[message.Off] == '{' {
					f.Choices = 1
					content(body, message, f)
				}
			}
		case "stopReason":
			f.FinishReason = reason(at.Of(body))
		case "usage":
			report(body, at, f)
		case "serviceTier":
			tier(body, at, f)
		case "message", "Message", "__type":
			problem = at
		}
	}
	if f.Choices == 0 && !problem.Empty() && body[problem.Off] != 'n' {
		f.Error = problem
	}
	return nil
}

// Event reads the data of one event. Its name is not needed: events differ in their members. The last one is that with the usage.
func Event(data []byte, f *splice.ChunkFacts) error {
	*f = splice.ChunkFacts{ReplyFacts: splice.ReplyFacts{Collect: f.Collect, Text: f.Text, Most: f.Most}}
	if err := splice.Check(data); err != nil {
		return err
	}
	for name, at := range splice.Members(data, whole(data)) {
		switch string(name) {
		case "delta", "start":
			f.Choices = 1
			block(data, at, &f.ReplyFacts)
		case "stopReason":
			f.Choices, f.FinishReason = 1, reason(at.Of(data))
		case "usage":
			report(data, at, &f.ReplyFacts)
			f.Done = true
		case "metrics":
			f.Done = true
		case "serviceTier":
			tier(data, at, &f.ReplyFacts)
		}
	}
	return nil
}

// content reads the blocks of a message.
func content(body []byte, message splice.Span, f *splice.ReplyFacts) {
	for name, list := range splice.Members(body, message) {
		if string(name) != "content" {
			continue
		}
		for one := range items(body, list) {
			block(body, one, f)
		}
	}
}

// block reads a block, or the beginning or the delta of one, which have the same members.
func block(body []byte, at splice.Span, f *splice.ReplyFacts) {
	for name, value := range splice.Members(body, at) {
		switch string(name) {
		case "text":
			f.Take(body, value)
		case "toolUse":
			f.HasContent = true
			use(body, value, f)
		case "reasoningContent":
			f.HasContent = true
			for member, inner := range splice.Members(body, value) {
				switch string(member) {
				case "text":
					f.Take(body, inner)
				case "reasoningText":
					block(body, inner, f)
				}
			}
		case "citationsContent":
			content(body, value, f)
		case "image", "audio", "video", "toolResult":
			f.HasContent = true
		}
	}
}

// use reads the name and the input of a call. In an event the input is a piece of a text, and otherwise an object, whose JSON
// is what the model has written.
func use(body []byte, at splice.Span, f *splice.ReplyFacts) {
	for name, value := range splice.Members(body, at) {
		switch {
		case string(name) != "name" && string(name) != "input":
		case body[value.Off] == '"':
			f.Take(body, value)
		case f.Collect && body[value.Off] == '{':
			f.Text = append(f.Text, value.Of(body)...)
		}
	}
}

// reason returns a reason for the end in OpenAI's words, as package bedrock does.
func reason(raw []byte) string {
	switch string(raw) {
	case "null", `""`:
		return ""
	case `"max_tokens"`, `"model_context_window_exceeded"`:
		return "length"
	case `"tool_use"`:
		return "tool_calls"
	case `"guardrail_intervened"`, `"content_filtered"`:
		return "content_filter"
	}
	return "stop"
}

// tier notes the service tier.
func tier(body []byte, at splice.Span, f *splice.ReplyFacts) {
	for name, value := range splice.Members(body, at) {
		if string(name) == "type" && body[value.Off] == '"' {
			f.ServiceTier = value
		}
	}
}

// report reads usage. Bedrock's input excludes the tokens that were read from or written to the cache.
func report(body []byte, at splice.Span, f *splice.ReplyFacts) {
	if body[at.Off] == 'n' {
		return
	}
	f.Usage = at
	bad, input, output := body[at.Off] != '{', false, false
	number := func(value splice.Span) int64 {
		n, ok := splice.Whole(value.Of(body), usage.Limit+1)
		if !ok || n < 0 || n > usage.Limit {
			bad = true
			return 0
		}
		return n
	}
	var t usage.Tokens
	var written int64
	for name, value := range splice.Members(body, at) {
		if body[value.Off] == 'n' {
			continue
		}
		switch string(name) {
		case "inputTokens":
			t.Input, input = number(value), true
		case "outputTokens":
			t.Output, output = number(value), true
		case "cacheReadInputTokens":
			t.CacheRead = number(value)
		case "cacheWriteInputTokens":
			written = number(value)
		case "cacheDetails":
			t.CacheWrite1h = 0
			for one := range items(body, value) {
				raw := one.Of(body)
				if string(splice.Lookup(raw, "ttl")) != `"1h"` {
					continue
				}
				for member, n := range splice.Members(body, one) {
					if string(member) == "inputTokens" {
						t.CacheWrite1h += number(n)
					}
				}
			}
		}
	}
	t.CacheWrite = written - t.CacheWrite1h
	t.Input += t.CacheRead + written
	switch {
	case bad || t.CacheWrite < 0 || !t.Sane():
		f.BadUsage = true
	case input && output:
		f.Tokens, f.HasUsage = t, true
	}
}
