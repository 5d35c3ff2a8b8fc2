package openai

import (
	"strings"

	"github.com/modelgateway/modelgateway/extproc/driver"
)

// PassThrough returns the path behind the address without its version, with the deployment's key.
func (d Driver) PassThrough(t driver.Target, path string) (driver.Call, error) {
	base := driver.EndpointPath(t.BasePath, "")
	return driver.Call{Path: driver.RootOf(strings.TrimRight(base, "/"), "/v1") + path, Headers: driver.WithHeaders(credential(t), t.Headers)}, nil
}
