package estimate

import "testing"

// Pictures cost what the vendors' pages say that they cost.
func TestPictures(t *testing.T) {
	for _, test := range []struct {
		model, detail string
		width, height int
		want          int64
	}{
		{"claude-sonnet-4-5", "", 200, 200, 64},
		{"claude-sonnet-4-5-20250929", "", 1000, 1000, 1296},
		{"claude-sonnet-4-20250514", "low", 1000, 1000, 1296},
		{"claude-3-7-sonnet-20250219", "", 8000, 8000, 1568},
		{"anthropic.claude-opus-4-6-v1", "", 3000, 2000, 1568},
		{"claude-opus-4-7", "", 1000, 1000, 1296},
		{"claude-opus-4-7-20260416", "", 3000, 2000, 4784},
		{"claude-fable-5", "", 3000, 2000, 4784},
		{"gemini-2.5-flash", "", 384, 300, 258},
		{"google/gemini-2.5-pro", "", 385, 300, 258},
		{"gemini-2.5-flash", "", 1536, 769, 1032},
		{"gpt-4o", "", 1024, 1024, 765},
		{"gpt-4o", "high", 2048, 4096, 1105},
		{"gpt-4o", "low", 4096, 8192, 85},
		{"gpt-4.1", "", 1024, 1024, 765},
		{"gpt-4o-mini", "", 1024, 1024, 25501},
		{"gpt-4o-mini-2024-07-18", "low", 1024, 1024, 2833},
		{"o3", "", 1024, 1024, 675},
		{"o1-2024-12-17", "low", 1024, 1024, 75},
		{"gpt-5", "", 1024, 1024, 630},
		{"openai/gpt-5.1", "", 1024, 1024, 630},
		{"gpt-5.2", "", 1024, 1024, 1024},
		{"gpt-4.1-mini", "", 1024, 1024, 1659},
		{"gpt-5-mini", "", 4000, 1474, 2489},
		{"gpt-4.1-nano-2025-04-14", "", 1024, 1024, 2520},
		{"o4-mini", "", 1024, 1024, 1762},
		{"o4-mini", "low", 1024, 1024, 441},
		{"gpt-5.4", "", 4096, 4096, 2500},
		{"gpt-5.4", "original", 4096, 4096, 10_000},
		{"gpt-6-astra", "high", 1024, 1024, 1024},
		{"gpt-5.4-mini", "", 1024, 1024, 1659},
		{"a-model-of-nobody", "", 1024, 1024, 765},
		{"gpt-4o", "", 0, 1024, 1600},
		{"claude-opus-4-7", "low", 0, 0, 1600},
		{"gpt-4o", "low", 0, 0, 85},
		{"claude-sonnet-4-5", "", 1, 1, 1},
		{"gpt-4o", "", 1, 100_000, 85 + 4*170},
	} {
		if got := Picture(test.model, test.detail, test.width, test.height); got != test.want {
			t.Errorf("%s, detail %q, %d x %d: %d tokens, want %d", test.model, test.detail, test.width, test.height, got, test.want)
		}
	}
}

// A larger picture never costs less, and none is free.
func TestLargerPicturesCostMore(t *testing.T) {
	for _, model := range []string{"claude-sonnet-4-5", "claude-opus-4-8", "gemini-2.5-pro", "gpt-5-mini", "gpt-5.4"} {
		last := int64(0)
		for side := 1; side < 10_000; side += 37 {
			got := Picture(model, "", side, side)
			if got < max(last, 1) {
				t.Errorf("%s: %d tokens for %d pixels, %d for fewer", model, got, side, last)
			}
			last = got
		}
	}
}
