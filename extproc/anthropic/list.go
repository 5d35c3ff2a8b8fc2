package anthropic

import (
	"strings"

	"github.com/modelgateway/modelgateway/extproc/driver"
)

// ListModels returns the request for a page of the list.
func (d Driver) ListModels(t driver.Target, page string) (driver.Call, error) {
	call, err := d.Address(t, driver.Operation{Endpoint: driver.Chat})
	call.Path = strings.TrimSuffix(call.Path, string(driver.Messages)) + "/models" + driver.PageQuery("limit", "1000", "after_id", page)
	return call, err
}

// ModelsOf reads a page of the list.
func (Driver) ModelsOf(_ string, body []byte) (models []string, next string, err error) {
	return driver.ReadModels(body)
}
