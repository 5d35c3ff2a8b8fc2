package azure

import (
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
)

// listVersion is the last version whose data plane lists a resource's deployments. The lists of models of newer ones have
// what could be deployed, by names that requests cannot use.
const listVersion = "2022-12-01"

// ListModels returns the request for the deployments of a resource.
func (Driver) ListModels(t driver.Target, _ string) (driver.Call, error) {
	root, _ := cutOpenAI(t.BasePath)
	return deployments(t, root), nil
}

// deployments returns the request for the deployments of a resource.
func deployments(t driver.Target, root string) driver.Call {
	return driver.Call{Path: root + "/openai/deployments?api-version=" + listVersion, Headers: driver.WithHeaders(credential(t), t.Headers)}
}

// ModelsOf reads the deployments that are ready.
func (Driver) ModelsOf(_ string, body []byte) (models []string, next string, err error) {
	var in struct {
		Data []struct {
			ID     string `json:"id"`
			Status string `json:"status"`
		} `json:"data"`
	}
	if f := driver.ReadResponse(body, &in); f != nil {
		return nil, "", f
	}
	for _, d := range in.Data {
		if d.ID != "" && (d.Status == "" || d.Status == "succeeded") {
			models = append(models, d.ID)
		}
	}
	return models, "", nil
}

// ListModels returns the request for the deployments of a resource.
func (Foundry) ListModels(t driver.Target, _ string) (driver.Call, error) {
	form, root := formOf(t.BasePath)
	if form == "" {
		return driver.Call{}, fault.New(fault.Unsupported, driver.CodeEndpoint, "The address is the endpoint of one model, which has no list of models. Send the address of the resource.")
	}
	return deployments(t, root), nil
}

// ModelsOf reads the deployments that are ready.
func (Foundry) ModelsOf(page string, body []byte) (models []string, next string, err error) {
	return Driver{}.ModelsOf(page, body)
}
