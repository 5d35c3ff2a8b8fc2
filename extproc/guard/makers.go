package guard

import (
	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/extproc/guard/engine"
	"github.com/modelgateway/modelgateway/extproc/guard/injection"
	"github.com/modelgateway/modelgateway/extproc/guard/names"
	"github.com/modelgateway/modelgateway/extproc/guard/pii"
	"github.com/modelgateway/modelgateway/extproc/guard/secrets"
	"github.com/modelgateway/modelgateway/extproc/guard/words"
)

// Makers returns what makes the engines, by the names of cluster/guardrails. A new engine is a package, and a
// row here.
func Makers() map[string]Maker {
	return map[string]Maker{
		"content_filter":   contentFilter,
		"detect_secret":    detectSecret,
		"presidio":         presidio,
		"prompt_injection": promptInjection,
	}
}

func presidio(e *guardrails.Engine) (engine.Engine, error) {
	s := pii.Settings{Names: names.New(), Entities: e.Entities, Threshold: e.Threshold, Regions: e.Regions, AllowList: e.AllowList}
	for _, r := range e.Recognizers {
		s.Recognizers = append(s.Recognizers, pii.Recognizer(r))
	}
	return pii.New(s)
}

func contentFilter(e *guardrails.Engine) (engine.Engine, error) {
	return words.New(words.Settings{Keywords: e.BannedKeywords, Patterns: e.BannedPatterns, WholeWords: e.Match == "word"})
}

func detectSecret(e *guardrails.Engine) (engine.Engine, error) {
	return secrets.New(secrets.Settings{Detectors: e.Detectors})
}

func promptInjection(e *guardrails.Engine) (engine.Engine, error) {
	return injection.New(injection.Settings{Threshold: e.Threshold})
}
