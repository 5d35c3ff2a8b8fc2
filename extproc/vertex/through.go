package vertex

import (
	"net/url"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/gemini"
)

// PassThrough returns the path behind the address without its version, with the deployment's token or key. A project and
// a location in the path must be those of the deployment: its account may reach others.
func (Driver) PassThrough(t driver.Target, path string) (driver.Call, error) {
	text, err := url.PathUnescape(path)
	if err != nil {
		return driver.Call{}, driver.NoSuchPlace("project")
	}
	segments := strings.Split(strings.TrimPrefix(text, "/"), "/")
	for _, place := range [...]struct {
		at                        int // the segment that says what the next one names
		collection, setting, what string
	}{
		{1, "projects", cloud.VertexProject, "project"},
		{3, "locations", cloud.VertexLocation, "location"},
	} {
		if len(segments) > place.at && segments[place.at] == place.collection &&
			(len(segments) == place.at+1 || segments[place.at+1] != t.Settings.Get(place.setting)) {
			return driver.Call{}, driver.NoSuchPlace(place.what)
		}
	}
	return driver.Call{Path: gemini.Root(t.BasePath) + path, Headers: driver.WithHeaders(credential(t), t.Headers)}, nil
}
