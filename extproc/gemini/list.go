package gemini

import (
	"strings"

	"github.com/modelgateway/modelgateway/extproc/driver"
)

// ListModels returns the request for a page of the list.
func (Driver) ListModels(t driver.Target, page string) (driver.Call, error) {
	var headers []driver.Header
	if !t.APIKey.IsEmpty() {
		headers = append(headers, driver.Header{Name: "x-goog-api-key", Value: t.APIKey})
	}
	path := versioned(t.BasePath) + "/models" + driver.PageQuery("pageSize", "1000", "pageToken", page)
	return driver.Call{Path: path, Headers: driver.WithHeaders(headers, t.Headers)}, nil
}

// ModelsOf reads a page of the list.
func (Driver) ModelsOf(_ string, body []byte) (models []string, next string, err error) {
	var page struct {
		Models []struct {
			Name string `json:"name"`
		} `json:"models"`
		Next string `json:"nextPageToken"`
	}
	if f := driver.ReadResponse(body, &page); f != nil {
		return nil, "", f
	}
	for _, m := range page.Models {
		models = append(models, strings.TrimPrefix(m.Name, "models/"))
	}
	return models, page.Next, nil
}
