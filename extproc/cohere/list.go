package cohere

import (
	"strings"

	"github.com/modelgateway/modelgateway/extproc/driver"
)

// ListModels returns the request for a page of the list.
func (d Driver) ListModels(t driver.Target, page string) (driver.Call, error) {
	call, err := d.Address(t, driver.Operation{Endpoint: driver.Chat})
	call.Path = strings.TrimSuffix(call.Path, pathOf(driver.Chat)) + "/v1/models" + driver.PageQuery("page_size", "1000", "page_token", page)
	return call, err
}

// ModelsOf reads a page of the list.
func (Driver) ModelsOf(_ string, body []byte) (models []string, next string, err error) {
	var page struct {
		Models []struct {
			Name string `json:"name"`
		} `json:"models"`
		Next string `json:"next_page_token"`
	}
	if f := driver.ReadResponse(body, &page); f != nil {
		return nil, "", f
	}
	for _, m := range page.Models {
		models = append(models, m.Name)
	}
	return models, page.Next, nil
}
