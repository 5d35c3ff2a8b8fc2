package price

import (
	"strconv"
	"strings"
)

// part is a part of a request's tokens with its own price.
type part uint8

const (
	partInput part = iota
	partCacheRead
	partCacheWrite
	partCacheWrite1h
	partInputAudio
	partInputImage
	partOutput
	partReasoning
	partOutputAudio
	partOutputImage
	parts // how many there are
)

// key returns the name that the part's price has in the price table.
func (p part) key() string {
	return [parts]string{
		partInput:        "input_cost_per_token",
		partCacheRead:    "cache_read_input_token_cost",
		partCacheWrite:   "cache_creation_input_token_cost",
		partCacheWrite1h: "cache_creation_input_token_cost_above_1hr",
		partInputAudio:   "input_cost_per_audio_token",
		partInputImage:   "input_cost_per_image_token",
		partOutput:       "output_cost_per_token",
		partReasoning:    "output_cost_per_reasoning_token",
		partOutputAudio:  "output_cost_per_audio_token",
		partOutputImage:  "output_cost_per_image_token",
	}[p]
}

// parent returns the part whose price replaces a missing one. Input and Output are their own
// parents.
func (p part) parent() part {
	return [parts]part{
		partInput:        partInput,
		partCacheRead:    partInput,
		partCacheWrite:   partInput,
		partCacheWrite1h: partCacheWrite,
		partInputAudio:   partInput,
		partInputImage:   partInput,
		partOutput:       partOutput,
		partReasoning:    partOutput,
		partOutputAudio:  partOutput,
		partOutputImage:  partOutput,
	}[p]
}

// slot identifies a price: its part, the number of prompt tokens above which it applies (0 for
// the base price), and its service tier.
type slot struct {
	part  part
	above int64
	tier  Tier
}

// parseKey reads a key of the price table such as
// `input_cost_per_token_above_272k_tokens_priority`. It is false for keys that
// do not price tokens of a part (images, seconds, characters, …).
func parseKey(key string) (slot, bool) {
	for p := range parts {
		rest, found := strings.CutPrefix(key, p.key())
		if !found {
			continue
		}
		s := slot{part: p}
		if rest, s.above, found = cutAbove(rest); !found {
			continue
		}
		if rest == "" {
			return s, true
		}
		s.tier = ParseTier(strings.TrimPrefix(rest, "_"))
		if s.tier != Standard && rest == "_"+string(s.tier) {
			return s, true
		}
	}
	return slot{}, false
}

// cutAbove removes the prefix `_above_{N}k_tokens` and returns N thousand; 0 without the prefix.
func cutAbove(s string) (rest string, above int64, ok bool) {
	after, found := strings.CutPrefix(s, "_above_")
	if !found {
		return s, 0, true
	}
	number, rest, found := strings.Cut(after, "k_tokens")
	if !found {
		return "", 0, false
	}
	n, err := strconv.ParseUint(number, 10, 31)
	if err != nil || n == 0 {
		return "", 0, false
	}
	return rest, int64(n) * 1000, true
}

// Tier is a provider's service tier, spelled as the suffix of its prices in the price table;
// Standard has none.
type Tier string

// The tiers that the price table knows.
const (
	Standard  Tier = ""
	Flex      Tier = "flex"
	Priority  Tier = "priority"
	Batch     Tier = "batches"
	Balanced  Tier = "balanced"
	Ultrafast Tier = "ultrafast"
	Decisions Tier = "decisions"
)

// ParseTier reads a provider's `service_tier`. The names of the usual tier (`default`, `auto`,
// `standard`, `standard_only`, none) and every tier without its own prices are Standard.
func ParseTier(serviceTier string) Tier {
	switch serviceTier {
	case "batch":
		return Batch
	case "flex", "priority", "batches", "balanced", "ultrafast", "decisions":
		return Tier(serviceTier)
	}
	return Standard
}
