package estimate

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// unknownPicture stands for a picture whose size is not known: about the most that most models charge.
const unknownPicture = 1600

// A vendor charges for a picture by its tiles or by its patches, after scaling it down. The rules are those of
// https://platform.claude.com/docs/en/build-with-claude/vision (patches of 28 pixels, and two sizes of models),
// https://developers.openai.com/api/docs/guides/images-vision (tiles of 512 pixels, or patches of 32 with a factor) and
// https://ai.google.dev/gemini-api/docs/tokens (tiles of 768 pixels, one if the picture is small). Where they name no rule for
// a new model, that of its family counts.

// pictureRule is how a family of models counts the tokens of a picture.
type pictureRule struct {
	family []string // parts of the model's name, one of which it has

	// The picture is scaled into a square of longest pixels; then until its shorter side has shortest, if that is not 0.
	longest, shortest float64
	piece             float64 // pixels of the side of a tile or patch
	most              float64 // pieces of a picture; 0 if only longest and shortest bound them

	base   float64 // tokens of each picture
	tokens float64 // of each piece
	low    int64   // tokens with detail low; 0 if there is no such detail
}

// openaiTiles returns the rule of OpenAI's models with tiles: low detail is the base alone.
func openaiTiles(base, perTile float64, family ...string) pictureRule {
	return pictureRule{family: family, longest: 2048, shortest: 768, piece: 512, base: base, tokens: perTile, low: int64(base)}
}

// openaiPatches returns the rule of OpenAI's models with patches: low detail is a picture of 512 pixels.
func openaiPatches(most, factor float64, family ...string) pictureRule {
	return pictureRule{family: family, longest: 2048, piece: 32, most: most, tokens: factor, low: int64(math.Ceil(256 * factor))}
}

// pictureRules lists the rules. The first one counts whose family a model is of.
func pictureRules() []pictureRule {
	return []pictureRule{
		{family: []string{"claude"}, longest: 1568, piece: 28, most: 1568, tokens: 1},
		{family: []string{"gemini"}, longest: math.Inf(1), piece: 768, tokens: 258},
		openaiTiles(2833, 5667, "gpt-4o-mini"),
		openaiPatches(1536, 1.62, "gpt-4.1-mini", "gpt-5-mini", "gpt-5.4-mini"),
		openaiPatches(1536, 2.46, "gpt-4.1-nano", "gpt-5-nano", "gpt-5.4-nano"),
		openaiPatches(1536, 1.72, "o4-mini"),
		openaiTiles(75, 150, "o1", "o3"),
		openaiTiles(65, 129, "computer-use"),
		openaiPatches(1536, 1, "gpt-5.2", "gpt-5.3", "gpt-5-codex-mini", "gpt-5.1-codex-mini"),
		openaiTiles(70, 140, "gpt-5", "gpt-5.1"),
		openaiTiles(85, 170, ""),
	}
}

// The bounds of models that see more than the others of their family.
const (
	sharpClaude     = 2576 // pixels of the longer side, from Claude 4.7 on
	mostOfClaude    = 4784 // patches there
	mostOfGPT       = 2500 // patches, from GPT-5.4 on
	original        = "original"
	originalSide    = 6000 // pixels of the longer side with that detail
	originalPatches = 10_000
)

var (
	olderClaude = regexp.MustCompile(`claude-(?:instant|v?[123])|-4(?:[-.]([0-9]{1,2}))?(?:[^0-9]|$)`)
	laterGPT    = regexp.MustCompile(`gpt-([0-9]+)(?:\.([0-9]+))?(?:[^0-9.]|$)`)
)

// claudeSeesMore reports whether a model of Claude's has the larger bounds. Names without a version are of
// later models.
func claudeSeesMore(model string) bool {
	m := olderClaude.FindStringSubmatch(model)
	if m == nil {
		return true
	}
	minor, err := strconv.Atoi(m[1])
	return err == nil && minor >= 7
}

// isLaterGPT reports whether a model is GPT-5.4 or a later one.
func isLaterGPT(model string) bool {
	m := laterGPT.FindStringSubmatch(model)
	if m == nil {
		return false
	}
	major, _ := strconv.Atoi(m[1]) // digits
	minor, _ := strconv.Atoi(m[2]) // empty is 0
	return major > 5 || major == 5 && minor >= 4
}

// ruleOf returns the rule of a model.
func ruleOf(model, detail string) pictureRule {
	model = strings.ToLower(model)
	rules := pictureRules()
	rule := rules[slices.IndexFunc(rules, func(r pictureRule) bool {
		return slices.ContainsFunc(r.family, func(part string) bool { return isOf(model, part) })
	})]
	switch {
	case rule.family[0] == "claude" && claudeSeesMore(model):
		rule.longest, rule.most = sharpClaude, mostOfClaude
	case !isLaterGPT(model) || strings.Contains(model, "-mini") || strings.Contains(model, "-nano"):
	case detail == original:
		rule = openaiPatches(originalPatches, 1)
		rule.longest = originalSide
	default:
		rule = openaiPatches(mostOfGPT, 1)
	}
	return rule
}

// isOf reports whether a name has a part, from the beginning of a word to the end of one.
func isOf(model, part string) bool {
	if part == "" {
		return true
	}
	for from := 0; ; {
		i := strings.Index(model[from:], part)
		if i < 0 {
			return false
		}
		begin, end := from+i, from+i+len(part)
		if (begin == 0 || !isWord(model[begin-1])) && (end == len(model) || !isWord(model[end]) && model[end] != '.') {
			return true
		}
		from = end
	}
}

func isWord(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }

// Picture returns about how many tokens a model reads of a picture. The sides are in pixels, and 0
// if they are not known. detail is low, high, original or auto, or empty.
func Picture(model, detail string, width, height int) int64 {
	rule := ruleOf(model, detail)
	switch {
	case detail == "low" && rule.low > 0:
		return rule.low
	case width < 1 || height < 1:
		return unknownPicture
	}
	w, h := float64(width), float64(height)
	if rule.family != nil && rule.family[0] == "gemini" && max(w, h) <= 384 {
		return int64(rule.tokens)
	}
	w, h = shrink(w, h, rule.longest/max(w, h))
	if rule.shortest > 0 {
		w, h = shrink(w, h, rule.shortest/min(w, h))
	}
	pieces := math.Ceil(w/rule.piece) * math.Ceil(h/rule.piece)
	if rule.most > 0 {
		pieces = min(pieces, rule.most)
	}
	return max(int64(math.Ceil(rule.base+rule.tokens*pieces)), 1)
}

// shrink scales the sides if that makes them shorter.
func shrink(w, h, factor float64) (_, _ float64) {
	if factor >= 1 {
		return w, h
	}
	return w * factor, h * factor
}

// Document returns about how many tokens a model reads of a document or of sound, given the length
// of its data in base64; 0 if the data is elsewhere.
func Document(length int) int64 {
	if length == 0 {
		return unknownPicture
	}
	return max(int64(length)/bytesPerToken, 1)
}
