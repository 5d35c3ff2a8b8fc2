package guard_test

import (
	"slices"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/extproc/guard/secrets"
)

// TestDetectorsAreThoseOfSettings: each detector that a guardrail can have exists.
func TestDetectorsAreThoseOfSettings(t *testing.T) {
	for _, k := range guardrails.Kinds() {
		for _, s := range k.Settings {
			if k.Name == "detect_secret" && s.Name == "detectors" && !slices.Equal(s.Values, secrets.Detectors()) {
				t.Errorf("settings have %v, and there are %v", s.Values, secrets.Detectors())
			}
		}
	}
}
