// Package tokens counts tokens where no provider has: to reserve a request's
// cost before it is sent, and to settle a stream whose provider reports nothing.
//
// It runs OpenAI's real tokenizers. For OpenAI's models a count of plain text is
// exact up to ExactBytes. For other vendors it is an estimate with o200k_base,
// the newest public vocabulary: Llama, Mistral, Qwen and Gemini are usually within
// 15 percent on English text. Anthropic publishes no vocabulary for its current
// models; Claude splits text finer, so that the count is too low, by published
// comparisons by 10 to 30 percent and most for code and for languages other than
// English. It is not scaled up here: a factor would be wrong in its own way for
// each model generation, and what Anthropic reports replaces the estimate anyway.
//
// No input is expensive. Past ExactBytes the text is sampled: sixteen windows
// spread evenly over it are counted and the result is scaled by its length. Long runs of
// white space, on which the tokenizer's regular expression takes quadratic
// time (30 s for 256 KiB), are cut where the vocabulary's longest tokens end.
// The dearest 64 KiB that was found (bytes that are no UTF-8) takes about 35 ms,
// prose 8 ms, on one core of a small machine.
//
// A vocabulary is unpacked when it is first needed and stays: about 7 MB and 15 ms
// for o200k_base, half of that for cl100k_base.
package tokens
