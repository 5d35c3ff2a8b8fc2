package anthropic

import (
	"github.com/modelgateway/modelgateway/extproc/driver"
)

// PassThrough returns the path behind the address without its version, with the deployment's key. The caller's version
// of the API goes before the gateway's.
func (Driver) PassThrough(t driver.Target, path string) (driver.Call, error) {
	version := driver.Plain("anthropic-version", apiVersion)
	version.IfAbsent = true
	headers := []driver.Header{version}
	if !t.APIKey.IsEmpty() {
		headers = append(headers, driver.Header{Name: "x-api-key", Value: t.APIKey})
	}
	base := driver.RootOf(driver.EndpointPath(t.BasePath, ""), "/v1")
	return driver.Call{Path: base + path, Headers: driver.WithHeaders(headers, t.Headers)}, nil
}
