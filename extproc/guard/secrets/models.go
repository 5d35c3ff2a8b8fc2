package secrets

import "bytes"

// keyForm is the form of a provider's keys: characters of a set after a prefix.
type keyForm struct {
	prefix      string
	set         charset
	least, most int // how many
}

// formOf returns the form of keys of model providers that begin with a character. Each is as the provider issues it; where
// the length has changed over the years, it is a range.
func formOf(first byte) (keyForm, bool) {
	switch first {
	case 'A':
		return keyForm{"AIza", inToken, 35, 35}, true // Google
	case 'c':
		return keyForm{"csk-", inAlnum, 40, 64}, true // Cerebras
	case 'd':
		return keyForm{"dapi", inAnyHex, 32, 32}, true // Databricks
	case 'f':
		return keyForm{"fw_", inAlnum, 22, 40}, true // Fireworks
	case 'g':
		return keyForm{"gsk_", inAlnum, 48, 56}, true // Groq
	case 'h':
		return keyForm{"hf_", inAlnum, 34, 40}, true // Hugging Face
	case 'n':
		return keyForm{"nvapi-", inToken, 60, 80}, true // NVIDIA
	case 'p':
		return keyForm{"pplx-", inAlnum, 40, 64}, true // Perplexity
	case 'r':
		return keyForm{"r8_", inAlnum, 37, 40}, true // Replicate
	case 'x':
		return keyForm{"xai-", inAlnum, 64, 100}, true // xAI
	}
	return keyForm{}, false
}

// modelKey looks for keys of model providers.
func (f *finder) modelKey() (match, bool) {
	i := f.start
	switch {
	case f.has("sk-"):
		return f.secretKey()
	case f.has("sk_"): // ElevenLabs
		return match{who: modelProvider, start: i, end: i + 51, score: form}, f.exactly(i+3, inHex, 48) && varied(f.text[i+3:i+51])
	case f.has("ABSK", "bedrock-api-key-"): // Amazon Bedrock: of a user, and of a session
		end := f.from(i+len("ABSK"), inBase64)
		if f.has("bedrock") {
			end = f.from(i+len("bedrock-api-key-"), inBase64)
		}
		return match{who: modelProvider, start: i, end: end, score: form, goes: inBase64}, end-i >= 100 && varied(f.text[i:end])
	}
	k, ok := formOf(f.text[i])
	if !ok || !f.has(k.prefix) {
		return match{}, false
	}
	from := i + len(k.prefix)
	end := f.from(from, k.set)
	body := f.text[from:end]
	if k.prefix == "dapi" && f.end >= end+2 && f.text[end] == '-' && hasDigit(f.text[end+1:end+2]) { // a token that was made again
		end += 2
	}
	if len(body) < k.least || len(body) > k.most || f.follows(end, inToken) || !varied(body) || k.prefix != "hf_" && !hasDigit(body) {
		return match{}, false
	}
	return f.is(modelProvider, end, form)
}

// What makes a value that begins with sk- a key, in bytes: the length of a sequence of letters and digits, or of the whole if it has
// small and capital letters and digits. Words with hyphens between them have neither.
const (
	shortestBody = 16
	shortestKey  = 60
)

// secretKey looks for keys that begin with sk-: those of OpenAI and Anthropic, and of the many that follow OpenAI, as this gateway
// does.
func (f *finder) secretKey() (match, bool) {
	end := f.upTo(inToken)
	body := f.text[f.start+len("sk-") : end]
	if len(body) < shortestText {
		return match{}, false
	}
	found := match{who: modelProvider, start: f.start, end: end, score: form, goes: inToken}
	if len(body) >= shortestKey && mixed(body) && varied(body) {
		return found, true
	}
	for part := range bytes.FieldsFuncSeq(body, func(c rune) bool { return c == '-' || c == '_' }) {
		if len(part) >= shortestBody && hasDigit(part) && varied(part) {
			return found, true
		}
	}
	return match{}, false
}

func hasDigit(text []byte) bool { return bytes.ContainsAny(text, "0123456789") }
