package azure_test

import (
	"testing"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/extproc/azure"
)

// An address of Foundry's gets the form that its version chooses, unless it has one.
func TestReadFoundry(t *testing.T) {
	t.Parallel()
	const resource, alone = "https://r.services.ai.azure.com", "https://m.eastus2.models.ai.azure.com"
	for _, c := range []struct{ base, version, want, wantVersion string }{
		{resource, "", resource + "/openai/v1", ""},
		{resource + "/", "v1", resource + "/openai/v1", "v1"},
		{resource, "2024-05-01-preview", resource + "/models", "2024-05-01-preview"},
		{resource + "/models", "", resource + "/models", "2024-05-01-preview"},
		{resource + "/models/chat/completions?api-version=2025-04-01", "", resource + "/models/chat/completions", "2025-04-01"},
		{resource + "/openai/v1/", "", resource + "/openai/v1/", ""},
		{resource + "/anthropic", "", resource + "/anthropic", ""},
		{resource + "/providers/cohere/v2/rerank", "", resource + "/providers/cohere/v2/rerank", ""},
		{alone, "", alone, "2024-05-01-preview"},
		{alone + "/v1/chat/completions", "2025-04-01", alone + "/v1/chat/completions", "2025-04-01"},
		{"http://127.0.0.1:8080", "", "http://127.0.0.1:8080/openai/v1", ""},
		{"", "", "", ""},
		{"://", "", "://", ""},
	} {
		base, s, err := azure.ReadFoundry(c.base, true, cloud.Settings(nil).With(cloud.AzureAPIVersion, c.version))
		if err != nil || base != c.want || s.Get(cloud.AzureAPIVersion) != c.wantVersion {
			t.Errorf("%q of version %q becomes %q of version %q (%v), want %q of %q", c.base, c.version, base, s.Get(cloud.AzureAPIVersion), err, c.want, c.wantVersion)
		}
	}
}
