package bedrock

import "github.com/modelgateway/modelgateway/extproc/driver"

// ListModels returns the request for the list, which has OpenAI's form.
func (Mantle) ListModels(t driver.Target, _ string) (driver.Call, error) {
	return driver.Call{Path: mantleRoot(t.BasePath) + "/v1/models", Headers: driver.WithHeaders(ownHeaders(t), t.Headers)}, nil
}

// ModelsOf reads a page of the list.
func (Mantle) ModelsOf(_ string, body []byte) (models []string, next string, err error) {
	return driver.ReadModels(body)
}
