package elevenlabs

import "strings"

// voiceOf returns the id of a voice. OpenAI's names are those of LiteLLM's table, so that its
// callers keep their voices. Any other name is an id.
func voiceOf(name string) string {
	switch strings.ToLower(name) {
	case "alloy":
		return "21m00Tcm4TlvDq8ikWAM"
	case "amber":
		return "5Q0t7uMcjvnagumLfvZi"
	case "ash":
		return "AZnzlk1XvdvUeBnXmlld"
	case "august":
		return "D38z5RcWu1voky8WS1ja"
	case "blue":
		return "2EiwWnXFnvU5JabPnv8n"
	case "coral":
		return "9BWtsMINqrJLrRacOk9x"
	case "lily":
		return "EXAVITQu4vr4xnSDxMaL"
	case "onyx":
		return "29vD33N1CtxCmqQRPOHJ"
	case "sage":
		return "CwhRBWXzGAHq8TQ4Fs17"
	case "verse":
		return "CYw3kZ02Hs0563khs1Fj"
	}
	return name
}
