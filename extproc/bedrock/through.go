package bedrock

import (
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/driver"
)

// PassThrough returns the path at the deployment's address, with its API key. Sign signs it otherwise.
func (Driver) PassThrough(t driver.Target, path string) (driver.Call, error) {
	var headers []driver.Header
	if !t.APIKey.IsEmpty() {
		headers = []driver.Header{{Name: "authorization", Value: vault.NewSecret("Bearer " + t.APIKey.Reveal())}}
	}
	return driver.Call{Path: rooted(t.BasePath) + path, Headers: driver.WithHeaders(headers, t.Headers)}, nil
}
