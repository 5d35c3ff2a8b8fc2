// Package tokens counts tokens where no provider has: to reserve the cost of a request before
// it is sent, and to settle a stream whose provider reports nothing.
//
// It runs OpenAI's real tokenizers. For OpenAI's models a count of plain text is exact up to
// ExactBytes. For other vendors it is an estimate with o200k_base, the newest public
// vocabulary: Llama, Mistral, Qwen and Gemini are usually within 15 percent on English text.
// Anthropic publishes no vocabulary for its current models. Claude splits text into smaller
// tokens, so the count is too low: by published comparisons by 10 to 30 percent, most for code
// and for languages other than English. It is not scaled up: a factor would be wrong for each
// model generation, and Anthropic's report replaces the estimate anyway.
//
// No input is expensive. Beyond ExactBytes the text is sampled: sixteen evenly spread windows
// are counted and the result is scaled by the length. The tokenizer's regular expression takes
// quadratic time on long runs of white space (30 s for 256 KiB). They are cut at the length of
// the vocabulary's longest tokens. The most expensive known 64 KiB (invalid UTF-8) take about
// 35 ms, prose 8 ms, on one core of a small machine.
//
// A vocabulary is unpacked at its first use and stays in memory: about 7 MB and 15 ms for
// o200k_base, half of that for cl100k_base.
package tokens
