package contents

import (
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// count is an index of one number of usageMetadata.
type count uint8

const (
	prompt count = iota
	toolUse
	cached
	candidates
	thoughts
	total
	counts
)

// report is usageMetadata as received; -1 is a missing number.
type report struct {
	n             [counts]int64
	sound, images [2]int64 // of the input and of the output
	queries       int64    // searches of the web
	bad           bool
}

func newReport() report {
	var r report
	for k := range r.n {
		r.n[k] = -1
	}
	return r
}

func countOf(name []byte) count {
	switch string(name) {
	case "promptTokenCount":
		return prompt
	case "toolUsePromptTokenCount":
		return toolUse
	case "cachedContentTokenCount":
		return cached
	case "candidatesTokenCount":
		return candidates
	case "thoughtsTokenCount":
		return thoughts
	case "totalTokenCount":
		return total
	}
	return counts
}

// read reads usageMetadata.
func (r *report) read(body []byte, at splice.Span) {
	r.bad = r.bad || body[at.Off] != '{'
	for name, value := range splice.Members(body, at) {
		switch string(name) {
		case "promptTokensDetails", "toolUsePromptTokensDetails":
			r.modalities(body, value, 0)
		case "candidatesTokensDetails":
			r.modalities(body, value, 1)
		default:
			if k := countOf(name); k < counts && body[value.Off] != 'n' {
				r.n[k] = r.number(value.Of(body))
			}
		}
	}
}

// number reads one count.
func (r *report) number(raw []byte) int64 {
	v, ok := splice.Whole(raw, usage.Limit+1)
	if !ok || v < 0 || v > usage.Limit {
		r.bad = true
		return 0
	}
	return v
}

// modalities adds up the tokens of sound and of pictures in a breakdown.
func (r *report) modalities(body []byte, list splice.Span, side int) {
	for one := range items(body, list) {
		raw := one.Of(body)
		tokens := splice.Lookup(raw, "tokenCount")
		if tokens == nil {
			continue
		}
		switch string(splice.Lookup(raw, "modality")) {
		case `"AUDIO"`:
			r.sound[side] += r.number(tokens)
		case `"IMAGE"`:
			r.images[side] += r.number(tokens)
		}
	}
}

// give takes the report as the usage of a response. Thoughts are output. Some models count them among the
// candidates' tokens, which the total shows.
func (r *report) give(f *splice.ReplyFacts) {
	if f.Usage.Empty() || r.n[prompt] < 0 && !r.bad {
		return
	}
	get := func(k count) int64 { return max(r.n[k], 0) }
	t := usage.Tokens{
		Input: get(prompt) + get(toolUse), CacheRead: get(cached), InputAudio: r.sound[0], InputImage: r.images[0],
		Output: get(candidates) + get(thoughts), Reasoning: get(thoughts), OutputAudio: r.sound[1], OutputImage: r.images[1],
		SearchQueries: r.queries,
	}
	if t.Reasoning > 0 && t.Reasoning <= get(candidates) && r.n[total] == t.Input+get(candidates) {
		t.Output = get(candidates)
	}
	if !r.bad && t.Sane() {
		f.Tokens, f.HasUsage = t, true
	} else {
		f.BadUsage = true
	}
}
