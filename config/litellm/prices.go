package litellm

import (
	"slices"
	"strings"
)

// PriceUnits are the names of prices without their suffixes, sorted.
func PriceUnits() []string {
	return []string{
		"cache_creation_input_token_cost", "cache_read_input_audio_token_cost", "cache_read_input_image_token_cost",
		"cache_read_input_token_cost", "citation_cost_per_token", "code_interpreter_cost_per_session", "cost_per_second",
		"explicit_cache_read_input_token_cost", "google_maps_grounding_cost_per_query", "input_cost_per_audio_per_second",
		"input_cost_per_audio_token", "input_cost_per_character", "input_cost_per_image", "input_cost_per_image_token",
		"input_cost_per_pixel", "input_cost_per_query", "input_cost_per_request", "input_cost_per_second",
		"input_cost_per_token", "input_cost_per_token_cache_hit", "input_cost_per_video_per_second",
		"input_cost_per_video_token", "input_dbu_cost_per_token", "ocr_cost_per_page", "output_cost_per_audio_token",
		"output_cost_per_character", "output_cost_per_image", "output_cost_per_image_token", "output_cost_per_pixel",
		"output_cost_per_reasoning_token", "output_cost_per_second", "output_cost_per_token",
		"output_cost_per_video_per_second", "output_cost_per_video_token", "output_dbu_cost_per_token",
	}
}

// IsPrice reports whether name is a price: a unit with any number of suffixes
// for thresholds, sizes and service tiers.
func IsPrice(name string) bool {
	if !strings.Contains(name, "cost") { // most names are not, and this is cheap
		return false
	}
	units := PriceUnits()
	for {
		if _, found := slices.BinarySearch(units, name); found {
			return true
		}
		shorter, ok := cutSuffix(name)
		if !ok {
			return false
		}
		name = shorter
	}
}

// cutSuffix takes the last suffix off the name of a price.
func cutSuffix(name string) (string, bool) {
	for _, suffix := range []string{
		"_flex", "_priority", "_batches", "_balanced", "_ultrafast", "_decisions", "_above_1hr",
		"_0.5K", "_1K", "_2K", "_4K", "_512", "_1024", "_1536",
	} {
		if shorter, ok := strings.CutSuffix(name, suffix); ok {
			return shorter, true
		}
	}
	i := strings.LastIndex(name, "_above_")
	if i < 0 {
		return "", false
	}
	threshold := strings.TrimLeft(name[i+len("_above_"):], "0123456789")
	return name[:i], threshold == "k_tokens" || threshold == "s_interval"
}
