package azure

import (
	"net/url"
	"strings"

	"github.com/modelgateway/modelgateway/extproc/driver"
)

// PassThrough returns the path at the resource, with its key or token. A path of the classic API gets the deployment's
// version, unless the caller names one.
func (Driver) PassThrough(t driver.Target, path string) (driver.Call, error) {
	root, _ := cutOpenAI(t.BasePath)
	call := driver.Call{Path: root + path, Headers: driver.WithHeaders(credential(t), t.Headers)}
	if strings.HasPrefix(path, "/openai/") && !strings.HasPrefix(path, "/openai/"+versionV1+"/") {
		version, v1 := versionOf(t)
		if v1 {
			version = classicVersion
		}
		call.Path += "?api-version=" + url.QueryEscape(version)
	}
	return call, nil
}
