package gemini

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/modelgateway/modelgateway/extproc/driver"
)

// numbered finds the version in names such as gemini-2.5-pro and gemini-3-flash-preview.
var numbered = regexp.MustCompile(`gemini-(\d+)(?:\.(\d+))?`)

// Features returns the features of a Gemini model. A model of Google's without a version in its
// name, such as gemini-flash-latest, counts as a current one.
func Features(model string) driver.Features {
	if strings.Contains(model, "gemma") || strings.Contains(model, "learnlm") {
		return driver.Features{NoReasoning: true}
	}
	version := versionOf(model)
	speaks := strings.Contains(model, "-tts") || strings.Contains(model, "audio")
	return driver.Features{
		// JSON Schema as it is came with 2.5, and so did thinking. Models that speak do not think.
		JSONSchema:  version >= 205,
		NoReasoning: version < 205 || speaks,
		// From 3 on calls have ids and signatures, and levels replace budgets.
		SignedCalls:      version >= 300,
		AdaptiveThinking: version >= 300,
		Speaks:           speaks,
		// The Pro models always think, and from 3.7 on the others too.
		AlwaysThinks: version >= 307 || version >= 205 && strings.Contains(model, "-pro"),
	}
}

// versionOf returns the version of a model: 205 for 2.5, and 1000 for one without a version in its name.
func versionOf(model string) int {
	m := numbered.FindStringSubmatch(model)
	if m == nil {
		return 1000
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2]) // empty is 0
	return major*100 + minor
}
