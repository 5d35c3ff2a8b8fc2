package guard_test

import (
	"testing"

	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/extproc/guard/names"
	"github.com/modelgateway/modelgateway/extproc/guard/pii"
)

// TestPresidioFindsWhatItsSettingsOffer: each entity and each region that a guardrail can have is one that the engine
// knows, and the settings offer all that it knows.
func TestPresidioFindsWhatItsSettingsOffer(t *testing.T) {
	t.Parallel()
	offered := map[string]bool{}
	for _, kind := range guardrails.Kinds() {
		if kind.Name != "presidio" {
			continue
		}
		for _, setting := range kind.Settings {
			for _, value := range setting.Values {
				var err error
				switch setting.Name {
				case "entities":
					offered[value] = true
					_, err = pii.New(pii.Settings{Entities: []string{value}, Names: names.New()})
				case "regions":
					_, err = pii.New(pii.Settings{Regions: []string{value}})
				}
				if err != nil {
					t.Errorf("%s %s: %v", setting.Name, value, err)
				}
			}
		}
	}
	for _, entity := range pii.Entities() {
		if !offered[entity] {
			t.Errorf("%s is found, and no setting offers it", entity)
		}
	}
}
