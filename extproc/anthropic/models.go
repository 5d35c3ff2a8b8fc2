package anthropic

import (
	"regexp"
	"strconv"

	"github.com/modelgateway/modelgateway/extproc/driver"
)

// generation is a Claude model's family and version, as in claude-opus-4-5-20251101
// and claude-3-7-sonnet-20250219.
type generation struct {
	family string
	major  int
	minor  int
}

// Features returns the features of a Claude model. A model with an unknown
// name counts as a current one: new models are more often successors of the
// latest model than of the first.
func Features(model string) driver.Features {
	g, ok := parseGeneration(model)
	if !ok {
		return driver.Features{JSONSchema: true, OneSampling: true}
	}
	version := g.major*100 + g.minor
	return driver.Features{
		// Structured outputs came with Sonnet 4.5, Haiku 4.5 and Opus 4.1.
		JSONSchema: version >= 405 || g.family == "opus" && version >= 401,
		// Adaptive thinking and the effort levels above high came with the 4.6 models.
		AdaptiveThinking: version >= 406,
		HighEfforts:      version >= 406 && g.family == "opus",
		// Thinking came with Sonnet 3.7.
		NoReasoning: version < 307,
		// From Opus 4.1, Sonnet 4.5 and Haiku 4.5 on a temperature next to a top_p is rejected. See
		// https://platform.claude.com/docs/en/about-claude/models/migrating-to-claude-4.
		OneSampling: version >= 405 || g.family == "opus" && version >= 401,
		// From 4.7 on temperature, top_p and top_k are rejected.
		NoSampling: version >= 407,
	}
}

// The two orders of names.
var (
	newer = regexp.MustCompile(`claude-(opus|sonnet|haiku)-(\d{1,2})(?:[-.](\d{1,2})(?:\D|$))?`)
	older = regexp.MustCompile(`claude-(\d)(?:[-.](\d))?-(opus|sonnet|haiku)`)
)

// parseGeneration reads both orders of names: family-major-minor since version 4,
// major-minor-family before.
func parseGeneration(name string) (generation, bool) {
	if m := newer.FindStringSubmatch(name); m != nil {
		return generation{m[1], number(m[2]), number(m[3])}, true
	}
	if m := older.FindStringSubmatch(name); m != nil {
		return generation{m[3], number(m[1]), number(m[2])}, true
	}
	return generation{}, false
}

func number(s string) int {
	n, _ := strconv.Atoi(s) // empty is 0
	return n
}
