package openai

import (
	"strings"

	"github.com/modelgateway/modelgateway/extproc/driver"
)

// ListModels returns the request for the list, which has one page.
func (d Driver) ListModels(t driver.Target, _ string) (driver.Call, error) {
	call, err := d.Address(t, driver.Operation{Endpoint: driver.Chat})
	if d.Responses != nil {
		call.Path = strings.TrimSuffix(call.Path, string(driver.Responses)) // of a model without chats
	}
	call.Path = strings.TrimSuffix(call.Path, string(driver.Chat)) + "/models"
	return call, err
}

// ModelsOf reads the list.
func (Driver) ModelsOf(_ string, body []byte) (models []string, next string, err error) {
	return driver.ReadModels(body)
}
