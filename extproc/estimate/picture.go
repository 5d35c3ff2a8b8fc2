package estimate

import "strings"

// Tokens of pictures, by the rules that the vendors publish.
const (
	unknownPicture = 1600 // whose size is not known: the most that Anthropic charges

	// Anthropic scales pictures down to claudeSide, and to as many tokens as unknownPicture.
	claudeSide  = 1568
	claudePixel = 750 // pixels of a token

	// OpenAI scales pictures into a square of openaiSide, then the shorter side to openaiShort, and
	// charges for each tile of openaiTile.
	openaiSide    = 2048
	openaiShort   = 768
	openaiTile    = 512
	openaiPicture = 85
	openaiPerTile = 170
)

// Picture returns about how many tokens a model reads of a picture. The sides are in pixels, and 0
// if they are not known. detail is low, high or auto, or empty.
func Picture(model, detail string, width, height int) int64 {
	claude := strings.Contains(strings.ToLower(model), "claude")
	switch {
	case !claude && detail == "low":
		return openaiPicture
	case width < 1 || height < 1:
		return unknownPicture
	}
	w, h := float64(width), float64(height)
	if claude {
		w, h = shrink(w, h, claudeSide/max(w, h))
		return min(max(int64(w*h/claudePixel), 1), unknownPicture)
	}
	w, h = shrink(w, h, openaiSide/max(w, h))
	w, h = shrink(w, h, openaiShort/min(w, h))
	return openaiPicture + openaiPerTile*tiles(w)*tiles(h)
}

// shrink scales the sides if that makes them shorter.
func shrink(w, h, factor float64) (_, _ float64) {
	if factor >= 1 {
		return w, h
	}
	return w * factor, h * factor
}

// tiles returns how many tiles cover a side.
func tiles(side float64) int64 { return (max(int64(side), 1) + openaiTile - 1) / openaiTile }

// Document returns about how many tokens a model reads of a document or of sound, given the length
// of its data in base64; 0 if the data is elsewhere.
func Document(length int) int64 {
	if length == 0 {
		return unknownPicture
	}
	return max(int64(length)/bytesPerToken, 1)
}
