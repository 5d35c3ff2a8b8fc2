package gemini

import (
	"strings"

	"github.com/modelgateway/modelgateway/extproc/driver"
)

// PassThrough returns the path behind the address without its version, with the deployment's key.
func (Driver) PassThrough(t driver.Target, path string) (driver.Call, error) {
	var headers []driver.Header
	if !t.APIKey.IsEmpty() {
		headers = append(headers, driver.Header{Name: "x-goog-api-key", Value: t.APIKey})
	}
	return driver.Call{Path: Root(t.BasePath) + path, Headers: driver.WithHeaders(headers, t.Headers)}, nil
}

// Root returns what is before the version in a base path.
func Root(base string) string {
	segments := strings.Split(strings.TrimRight(base, "/"), "/")
	for i, segment := range segments {
		if isVersion(segment) {
			segments = segments[:i]
			break
		}
	}
	return strings.Join(segments, "/")
}
