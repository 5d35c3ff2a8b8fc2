package gemini

import "strings"

// voiceOf returns the name of a voice: one of Google's for each of OpenAI's, of a similar character. Any other name is Google's own.
func voiceOf(name string) string {
	switch strings.ToLower(name) {
	case "alloy":
		return "Kore"
	case "ash":
		return "Orus"
	case "ballad":
		return "Algieba"
	case "cedar":
		return "Charon"
	case "coral":
		return "Aoede"
	case "echo":
		return "Puck"
	case "fable":
		return "Fenrir"
	case "marin":
		return "Sulafat"
	case "nova":
		return "Zephyr"
	case "onyx":
		return "Algenib"
	case "sage":
		return "Despina"
	case "shimmer":
		return "Achernar"
	case "verse":
		return "Sadaltager"
	}
	return name
}
