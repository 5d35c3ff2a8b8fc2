package usage

// Most is the most that one attempt can have used.
type Most struct{ Input, Output, SearchQueries int64 }

// Within returns t with what is beyond most cut off, and whether there was any. Parts stay
// within their wholes.
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

// Larger returns that of two reports on one answer which counts: the larger one of those
// that are within most, else the larger one. So a report of zeros after a true one does
// not make an answer free, and an impossible one before it does not make it expensive.
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
