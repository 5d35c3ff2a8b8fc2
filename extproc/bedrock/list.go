package bedrock

import (
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/driver"
)

// profiles begins the names of the pages of inference profiles, which follow the one of models.
const profiles = "profiles "

// ListHost returns the host of Bedrock's control plane in the region of a runtime. Addresses that are not AWS's stay as they are.
func (Driver) ListHost(host string) string {
	for _, runtime := range []string{"bedrock-runtime", "bedrock-agent-runtime"} {
		if rest, ok := strings.CutPrefix(host, runtime); ok && (strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "-fips.")) {
			return "bedrock" + rest
		}
	}
	return host
}

// ListModels returns the request for the models of Amazon Bedrock, and then for a page of the account's inference profiles.
func (Driver) ListModels(t driver.Target, page string) (driver.Call, error) {
	path := "/foundation-models"
	if token, ok := strings.CutPrefix(page, profiles); ok {
		path = "/inference-profiles" + driver.PageQuery("maxResults", "1000", "nextToken", token)
	}
	var headers []driver.Header
	if !t.APIKey.IsEmpty() {
		headers = append(headers, driver.Header{Name: "authorization", Value: vault.NewSecret("Bearer " + t.APIKey.Reveal())})
	}
	return driver.Call{Path: rooted(t.BasePath) + path, Headers: driver.WithHeaders(headers, t.Headers)}, nil
}

// ModelsOf reads models that need neither a profile nor provisioned throughput, or inference profiles.
func (Driver) ModelsOf(page string, body []byte) (models []string, next string, err error) {
	var in struct {
		Models []struct {
			ID    string   `json:"modelId"`
			Types []string `json:"inferenceTypesSupported"`
		} `json:"modelSummaries"`
		Profiles []struct {
			ID     string `json:"inferenceProfileId"`
			ARN    string `json:"inferenceProfileArn"`
			Type   string `json:"type"`
			Status string `json:"status"`
		} `json:"inferenceProfileSummaries"`
		Next string `json:"nextToken"`
	}
	if f := driver.ReadResponse(body, &in); f != nil {
		return nil, "", f
	}
	if !strings.HasPrefix(page, profiles) {
		for _, m := range in.Models {
			if slices.Contains(m.Types, "ON_DEMAND") && reachable(m.ID) {
				models = append(models, m.ID)
			}
		}
		return models, profiles, nil
	}
	for _, p := range in.Profiles {
		switch {
		case p.Status != "" && p.Status != "ACTIVE":
		case p.Type == "APPLICATION" && p.ARN != "": // its id tells no model, and neither does its ARN
			models = append(models, p.ARN)
		case reachable(p.ID):
			models = append(models, p.ID)
		}
	}
	if in.Next != "" {
		next = profiles + in.Next
	}
	return models, next, nil
}

// reachable reports whether a model has an operation that the gateway serves.
func reachable(model string) bool {
	t := driver.Target{Model: model}
	if _, err := parse(model); err != nil {
		return false
	}
	for _, e := range []driver.Endpoint{driver.Chat, driver.Embeddings, driver.Images, driver.Rerank} {
		if _, ok := (Driver{}).Serves(t, e); ok {
			return true
		}
	}
	return false
}
