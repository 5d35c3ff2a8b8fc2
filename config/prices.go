package config

import (
	"slices"
	"strings"
)

// priceUnits are the names of prices without their suffixes, sorted.
func priceUnits() []string {
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

// isPrice reports whether name is a price: a unit with any number of suffixes
// for thresholds, sizes and service tiers.
func isPrice(name string) bool {
	if !strings.Contains(name, "cost") { // most names are not, and this is cheap
		return false
	}
	units := priceUnits()
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

// price reads one price. The digits stay those of the file: a price is compared
// and multiplied exactly, so it must not pass through a float.
func (d *decoder) price(f field) (Price, bool) {
	s, ok := d.text(f.value)
	if !ok {
		return Price{}, false
	}
	s = strings.TrimSpace(s)
	switch {
	case strings.HasPrefix(s, "-") && isDecimal(s[1:]):
		d.fail(f.value, "is negative: a price is 0 or more dollars a unit")
	case !isDecimal(s):
		d.fail(f.value, "%s is not a price: write dollars a unit as a decimal number, such as 0.0000025 or 2.5e-06", quote(f.value.text))
	default:
		return Price{f.name, s}, true
	}
	return Price{}, false
}

// isDecimal reports whether s is a decimal number without a sign, with or
// without a fraction and an exponent.
func isDecimal(s string) bool {
	s = strings.ToLower(s)
	mantissa, exponent, scientific := strings.Cut(s, "e")
	if scientific {
		if exponent != "" && (exponent[0] == '-' || exponent[0] == '+') {
			exponent = exponent[1:]
		}
		if !isDigits(exponent) || len(exponent) > 3 {
			return false
		}
	}
	whole, fraction, point := strings.Cut(mantissa, ".")
	return isDigits(whole) && (!point || isDigits(fraction)) && len(mantissa) <= 64
}

// isDigits reports whether s is digits and nothing else.
func isDigits(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool { return c < '0' || c > '9' })
}
