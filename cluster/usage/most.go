package usage

// Most is an upper limit of the usage of one attempt.
type Most struct{ Input, Output, SearchQueries int64 }

// Within clamps t to most, and reports whether that changed anything. Parts stay within their
// totals.
func (t Tokens) Within(most Most) (Tokens, bool) {
	if t.Input <= most.Input && t.Output <= most.Output && t.SearchQueries <= most.SearchQueries {
		return t, false
	}
	t.SearchQueries = min(t.SearchQueries, most.SearchQueries)
	if t.Input > most.Input {
		t.Input = most.Input
		t.CacheRead = min(t.CacheRead, t.Input)
		t.CacheWrite = min(t.CacheWrite, t.Input-t.CacheRead)
		t.CacheWrite1h = min(t.CacheWrite1h, t.Input-t.CacheRead-t.CacheWrite)
		t.InputAudio, t.InputImage = min(t.InputAudio, t.Input), min(t.InputImage, t.Input)
	}
	if t.Output > most.Output {
		t.Output = most.Output
		t.Reasoning = min(t.Reasoning, t.Output)
		t.OutputAudio, t.OutputImage = min(t.OutputAudio, t.Output), min(t.OutputImage, t.Output)
	}
	return t, true
}

// Larger returns the one of two reports on a response that counts: the larger of those within
// most, or else the larger. So neither a final report of zeros makes a response free, nor an
// impossible report makes it expensive.
func Larger(a, b Tokens, most Most) Tokens {
	_, impossibleA := a.Within(most)
	_, impossibleB := b.Within(most)
	switch {
	case impossibleA != impossibleB && impossibleA:
		return b
	case impossibleA != impossibleB, a.Input+a.Output > b.Input+b.Output:
		return a
	}
	return b
}
