package mistral

import (
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/extproc/driver"
)

// ListModels returns the request for the list, which has one page.
func (d Driver) ListModels(t driver.Target, _ string) (driver.Call, error) {
	call, err := d.Address(t, driver.Operation{Endpoint: driver.Chat})
	call.Path = strings.TrimSuffix(call.Path, string(driver.Chat)) + "/models"
	return call, err
}

// ModelsOf reads the list, which has a model once for each of its names.
func (Driver) ModelsOf(_ string, body []byte) (models []string, next string, err error) {
	models, next, err = driver.ReadModels(body)
	slices.Sort(models)
	return slices.Compact(models), next, err
}
