package splice

import "github.com/modelgateway/modelgateway/cluster/usage"

// count is an index of one number in a usage report.
type count uint8

const (
	prompt count = iota
	completion
	total
	cached        // prompt_tokens_details.cached_tokens
	cachedOutside // the same, by the names of other providers
	written       // prompt_tokens_details.cache_write_tokens
	writtenOutside
	written1h
	promptAudio
	promptImage
	reasoning
	completionAudio
	completionImage
	searches // num_search_queries of Perplexity
	millis   // seconds of sound that was read, in thousandths
	counts
)

// report is a usage report as received; -1 is a missing number.
type report struct {
	n   [counts]int64
	bad bool
}

// clear makes all numbers missing.
func (r *report) clear() {
	*r = report{}
	for k := range r.n {
		r.n[k] = -1
	}
}

// usage reads the value of usage.
func (f *ReplyFacts) usage(s *scanner, i int) int {
	f.Usage, f.BadUsage = Span{}, false
	if s.b[i] != '{' {
		end := s.value(i)
		if !s.null(i) {
			f.BadUsage = true
			f.Usage = Span{i, end}
		}
		return end
	}
	var r report
	r.clear()
	w := s.members(i)
	for w.next() {
		w.at = r.member(s, w.name, w.at)
	}
	if w.at < 0 {
		return w.at
	}
	f.Usage = Span{i, w.at}
	if r.n[prompt] < 0 && r.n[completion] < 0 && !r.bad {
		return w.at
	}
	if t := r.tokens(); !r.bad && t.Sane() {
		if f.HasUsage {
			t = usage.Larger(f.Tokens, t, f.Most)
		}
		f.Tokens, f.HasUsage = t, true
	} else {
		f.BadUsage = true
	}
	return w.at
}

// member reads one member of usage.
func (r *report) member(s *scanner, name []byte, i int) int {
	switch string(name) {
	case "prompt_tokens":
		return r.number(s, prompt, i)
	case "completion_tokens":
		return r.number(s, completion, i)
	case "total_tokens":
		return r.number(s, total, i)
	case "cache_read_input_tokens", "prompt_cache_hit_tokens", "cached_tokens":
		return r.number(s, cachedOutside, i)
	case "cache_creation_input_tokens":
		return r.number(s, writtenOutside, i)
	case "num_search_queries":
		return r.number(s, searches, i)
	case "prompt_tokens_details", "completion_tokens_details", "cache_creation":
		if s.b[i] == '{' {
			return r.details(s, name, i)
		}
	}
	return s.value(i)
}

// details reads one of the two breakdowns, or cache_creation.
func (r *report) details(s *scanner, of []byte, i int) int {
	w := s.members(i)
	for w.next() {
		at := w.at
		if k := detail(of, w.name); k < counts {
			w.at = r.number(s, k, at)
		} else {
			w.at = s.value(at)
		}
	}
	return w.at
}

func detail(of, name []byte) count {
	switch string(of) {
	case "prompt_tokens_details":
		switch string(name) {
		case "cached_tokens":
			return cached
		case "cache_write_tokens":
			return written
		case "audio_tokens":
			return promptAudio
		case "image_tokens":
			return promptImage
		}
	case "completion_tokens_details":
		switch string(name) {
		case "reasoning_tokens":
			return reasoning
		case "audio_tokens":
			return completionAudio
		}
	case "cache_creation":
		if string(name) == "ephemeral_1h_input_tokens" {
			return written1h
		}
	}
	return counts
}

// number reads one count. null is a missing number.
func (r *report) number(s *scanner, k count, i int) int {
	end := s.value(i)
	if end < 0 || s.null(i) {
		return end
	}
	v, ok := integer(s.b[i:end], usage.Limit+1)
	if !ok || v < 0 || v > usage.Limit {
		r.bad = true
		return end
	}
	r.n[k] = v
	return end
}

// get returns the first of the counts that exists; 0 if none does.
func (r *report) get(list ...count) int64 {
	for _, k := range list {
		if r.n[k] >= 0 {
			return r.n[k]
		}
	}
	return 0
}

// tokens converts the report. Some providers exclude the reasoning from completion_tokens; it
// is added if total_tokens proves that.
func (r *report) tokens() usage.Tokens {
	t := usage.Tokens{
		Input:         r.get(prompt),
		CacheRead:     r.get(cached, cachedOutside),
		CacheWrite:    r.get(written, writtenOutside),
		CacheWrite1h:  r.get(written1h),
		InputAudio:    r.get(promptAudio),
		InputImage:    r.get(promptImage),
		Output:        r.get(completion),
		Reasoning:     r.get(reasoning),
		OutputAudio:   r.get(completionAudio),
		OutputImage:   r.get(completionImage),
		SearchQueries: r.get(searches),
		InputMillis:   r.get(millis),
	}
	t.CacheWrite = max(t.CacheWrite-t.CacheWrite1h, 0)
	if t.Reasoning > 0 && r.n[total] == t.Input+t.Output+t.Reasoning {
		t.Output += t.Reasoning
	}
	return t
}
