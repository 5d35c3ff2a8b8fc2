package usage

// Tokens counts the usage of one attempt. Input is everything that the model read, including
// tokens from or for a prompt cache. Output is everything that it wrote, including reasoning.
// The other token counts are parts of these two. Services that are not sold by the token have
// their own units; the code that sets the counts uses only the unit by which the model is sold.
// All counts are at least 0.
type Tokens struct {
	Input         int64 // all prompt tokens
	CacheRead     int64 // of Input: served from the provider's prompt cache
	CacheWrite    int64 // of Input: written to the provider's prompt cache (5 minutes)
	CacheWrite1h  int64 // of Input: written to the provider's prompt cache (1 hour)
	InputAudio    int64 // of Input: audio tokens
	InputImage    int64 // of Input: image tokens
	Output        int64 // all completion tokens
	Reasoning     int64 // of Output: hidden or shown reasoning
	OutputAudio   int64 // of Output: audio tokens
	OutputImage   int64 // of Output: image tokens
	SearchQueries int64 // web searches of the provider for this request, or search units of a reranking

	Images          int64 // generated images
	InputCharacters int64 // characters read
	InputMillis     int64 // length of the audio or video read, in milliseconds
	OutputMillis    int64 // length of the audio or video generated, in milliseconds
	Pages           int64 // pages read
}

// Source is the origin of the counts.
type Source uint8

// The sources.
const (
	None      Source = iota // no provider did any work: nothing was consumed
	Provider                // the provider reported them
	Estimated               // counted here with a tokenizer, or taken from the intent
	Measured                // counted here exactly, in the unit of the price: characters of the request, the length of its sound
	Unpriced                // nothing here has read the request: there are no counts, and the provider may charge for it
)

// String returns the name in the API.
func (s Source) String() string {
	switch s {
	case Provider:
		return "provider"
	case Estimated:
		return "estimated"
	case Measured:
		return "measured"
	case Unpriced:
		return "unpriced"
	case None:
		return "none"
	}
	return "none"
}

// Limit is the highest plausible count. The largest context windows are about 10 million
// tokens, and as milliseconds it is 24 days. A higher report comes from a broken or hostile
// provider, and an estimate replaces it.
const Limit = 1 << 31

// Sane reports whether every count is within [0, Limit] and no part exceeds its total.
func (t Tokens) Sane() bool {
	for _, n := range [...]int64{
		t.Input, t.CacheRead, t.CacheWrite, t.CacheWrite1h, t.InputAudio, t.InputImage,
		t.Output, t.Reasoning, t.OutputAudio, t.OutputImage, t.SearchQueries,
		t.Images, t.InputCharacters, t.InputMillis, t.OutputMillis, t.Pages,
	} {
		if n < 0 || n > Limit {
			return false
		}
	}
	return t.CacheRead+t.CacheWrite+t.CacheWrite1h <= t.Input && t.Reasoning <= t.Output
}

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
