package azure

import (
	"net/url"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
)

// Values of api_version that choose the API v1.
const (
	versionV1      = "v1"
	versionLatest  = "latest"
	versionPreview = "preview" // with the features of v1 that are not generally available
)

// classicVersion is the version of a classic address that has none.
const classicVersion = "2024-10-21"

// place is where the requests of a deployment go.
type place struct {
	root       string // before /openai; without a slash at its end
	deployment string // escaped, in the path; empty if the body names it
	version    string // in the query; empty for none
}

// Read moves a version from the query of an address to the settings.
func Read(apiBase string, _ bool, s cloud.Settings) (string, cloud.Settings, error) {
	base, version := cloud.CutVersion(apiBase)
	return base, s.With(cloud.AzureAPIVersion, version), nil
}

// isV1 reports whether a version is one of the API v1.
func isV1(version string) bool {
	return version == "" || version == versionV1 || version == versionLatest || version == versionPreview
}

// versionOf returns the version of a deployment's API. That of the API v1 is empty or preview. A path that has one of
// the forms of an address goes before the setting.
func versionOf(t driver.Target) (version string, v1 bool) {
	version = t.Settings.Get(cloud.AzureAPIVersion)
	_, rest := cutOpenAI(t.BasePath)
	classic := strings.HasPrefix(rest, "deployments/")
	switch {
	case !classic && isV1(version), strings.HasPrefix(rest+"/", versionV1+"/"):
		if version != versionPreview {
			version = ""
		}
		return version, true
	case isV1(version):
		return classicVersion, false
	}
	return version, false
}

// placeOf reads the path of a deployment's address. Operators write as much of it as they like, up to
// the whole address of an endpoint.
func placeOf(t driver.Target) (place, error) {
	root, rest := cutOpenAI(t.BasePath)
	version, v1 := versionOf(t)
	if v1 {
		return place{root: root, version: version}, nil
	}
	named, ok := strings.CutPrefix(rest, "deployments/")
	deployment, _, _ := strings.Cut(named, "/")
	if !ok || deployment == "" {
		if strings.Trim(t.Model, ".") == "" || strings.Contains(t.Model, "/") {
			return place{}, fault.New(fault.Unsupported, "invalid_model", "The deployment's model is not a name of a deployment of %s.", vendor)
		}
		deployment = url.PathEscape(t.Model)
	}
	return place{root: root, deployment: deployment, version: version}, nil
}

// cutOpenAI cuts a path before and after the segment openai, the last one if there are several. A path
// without it is all before it.
func cutOpenAI(path string) (root, rest string) {
	const segment = "/openai/"
	path = strings.TrimRight(path, "/") + "/"
	i := strings.LastIndex(path, segment)
	if i < 0 {
		return strings.TrimRight(path, "/"), ""
	}
	return path[:i], strings.TrimRight(path[i+len(segment):], "/")
}

// path returns the path of an endpoint.
func (p place) path(e driver.Endpoint) string {
	path := p.root + "/openai"
	switch {
	case p.deployment == "":
		path += "/v1"
	case e != driver.Responses: // whose model is in the body
		path += "/deployments/" + p.deployment
	}
	if path += string(e); p.version != "" {
		path += "?api-version=" + url.QueryEscape(p.version)
	}
	return path
}
