package usage

// Tokens counts what one attempt consumed. Input is everything the model read,
// what came from or went into a prompt cache included; Output is everything it
// wrote, reasoning included. The other counts of tokens are parts of those two.
// What is not sold by the token is counted in a unit of its own, which stands
// beside the tokens: whoever fills this in counts one thing in one unit, the one
// that the model is sold by. All counts are at least 0.
type Tokens struct {
	Input         int64 // prompt tokens in all
	CacheRead     int64 // of Input: served from the provider's prompt cache
	CacheWrite    int64 // of Input: written to the provider's prompt cache (5 minutes)
	CacheWrite1h  int64 // of Input: written to the provider's prompt cache (1 hour)
	InputAudio    int64 // of Input: audio tokens
	InputImage    int64 // of Input: image tokens
	Output        int64 // completion tokens in all
	Reasoning     int64 // of Output: hidden or shown reasoning
	OutputAudio   int64 // of Output: audio tokens
	OutputImage   int64 // of Output: image tokens
	SearchQueries int64 // web searches the provider made for this request, or search units of a reranking

	Images          int64 // images that were made
	InputCharacters int64 // characters that were read
	InputMillis     int64 // length of the audio or video that was read, in milliseconds
	OutputMillis    int64 // length of the audio or video that was made, in milliseconds
	Pages           int64 // pages that were read
}

// Source says where the numbers come from.
type Source uint8

// The sources, from the best to the worst.
const (
	None      Source = iota // no provider worked: nothing was consumed
	Provider                // the provider reported them
	Estimated               // counted here with a tokenizer, or taken from the intent
)

// String returns the name that the API shows.
func (s Source) String() string {
	switch s {
	case Provider:
		return "provider"
	case Estimated:
		return "estimated"
	case None:
		return "none"
	}
	return "none"
}

// Limit is the most of anything that a report is believed for. The largest context
// windows are about 10 million tokens, and as milliseconds it is 24 days; a report
// above this is a broken provider (or a hostile one) and is replaced by an estimate.
const Limit = 1 << 31

// Sane reports whether every count is within [0, Limit] and no part exceeds its whole.
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
