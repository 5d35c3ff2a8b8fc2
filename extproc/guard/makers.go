package guard

import (
	"time"

	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/guard/engine"
	"github.com/modelgateway/modelgateway/extproc/guard/injection"
	"github.com/modelgateway/modelgateway/extproc/guard/names"
	"github.com/modelgateway/modelgateway/extproc/guard/pii"
	"github.com/modelgateway/modelgateway/extproc/guard/remote"
	"github.com/modelgateway/modelgateway/extproc/guard/secrets"
	"github.com/modelgateway/modelgateway/extproc/guard/words"
)

// Outside is what engines that ask a service need.
type Outside struct {
	Client *remote.Client
	Open   vault.Open // opens the secrets of guardrails
}

// Makers returns what makes the engines, by the names of cluster/guardrails. A new engine is a package, and a
// row here.
func Makers(o Outside) map[string]Maker {
	return map[string]Maker{
		"http":             o.checker,
		"presidio_remote":  o.presidio,
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

// service returns how the service of an engine is called.
func (o Outside) service(e *guardrails.Engine) (remote.Service, error) {
	key, err := o.Open(e.SealedKey, e.SecretContext(guardrails.KeySecret))
	return remote.Service{
		URL: e.APIBase, Key: key, Timeout: time.Duration(e.TimeoutMillis) * time.Millisecond, Parallel: int(e.MaxParallel),
	}, err
}

func (o Outside) presidio(e *guardrails.Engine) (engine.Engine, error) {
	s, err := o.service(e)
	if err != nil {
		return nil, err
	}
	return o.Client.NewPresidio(&remote.Presidio{
		Service: s, Language: e.Language, Entities: e.Entities, AllowList: e.AllowList, Threshold: e.Threshold,
	}), nil
}

func (o Outside) checker(e *guardrails.Engine) (engine.Engine, error) {
	s, err := o.service(e)
	if err != nil {
		return nil, err
	}
	secret, err := o.Open(e.SealedSecret, e.SecretContext(guardrails.SigningSecret))
	if err != nil {
		return nil, err
	}
	return o.Client.NewChecker(&remote.Checker{Service: s, Secret: secret}), nil
}
