package vertex

import (
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
)

// apiVersion is the version of the API unless the base path has another.
const apiVersion = "v1"

// globalHost serves the location global, and keys of the express mode.
const globalHost = "aiplatform.googleapis.com"

// codeMissing and codeInvalid are the codes of errors about settings.
const (
	codeMissing = "missing_required_parameter"
	codeInvalid = "invalid_value"
)

// Base returns the address of a location.
func Base(_ string, s cloud.Settings) (string, error) {
	switch location := s.Get(cloud.VertexLocation); location {
	case "", "global":
		return "https://" + globalHost, nil
	case "us", "eu":
		return "https://aiplatform." + location + ".rep.googleapis.com", nil
	default:
		return "https://" + location + "-" + globalHost, nil
	}
}

// Read checks project and location, and takes the project from the key of a service account if the settings do not name it. An
// API key needs neither.
func Read(apiBase string, keyed bool, s cloud.Settings) (string, cloud.Settings, error) {
	project, location := s.Get(cloud.VertexProject), s.Get(cloud.VertexLocation)
	if project == "" {
		project = projectOf(s.Get(cloud.VertexCredentials))
		s = s.With(cloud.VertexProject, project)
	}
	switch {
	case !isLabel(location, ""):
		return "", nil, fault.Field(cloud.VertexLocation, codeInvalid, "vertex_location is no location of Google Cloud; write one such as europe-west4, global, us or eu")
	case !isLabel(project, ".:"):
		return "", nil, fault.Field(cloud.VertexProject, codeInvalid, "vertex_project is no id of a project of Google Cloud; write one such as my-project-123")
	case keyed && (project == "" || location == ""):
		return apiBase, s, nil
	case project == "":
		return "", nil, fault.Field(cloud.VertexProject, codeMissing, "vertex_project is missing, and vertex_credentials is not the key of a service account with a project_id; write the id of the project")
	case location == "":
		return "", nil, fault.Field(cloud.VertexLocation, codeMissing, "vertex_location is missing; write the location of the model, such as europe-west4, global, us or eu")
	}
	return apiBase, s, nil
}

// projectOf returns the project in the key of a service account; empty if there is none, or if a file has it.
func projectOf(credential string) string {
	var in struct {
		Project string `json:"project_id"`
	}
	if !strings.HasPrefix(strings.TrimSpace(credential), "{") || json.Unmarshal([]byte(credential), &in, jsontext.AllowDuplicateNames(true)) != nil {
		return ""
	}
	return in.Project
}

// isLabel reports whether a text can be a label of a host and a segment of a path. It may be empty.
func isLabel(text, also string) bool {
	return strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789-"+also) == "" && strings.Trim(text, ".") == text
}

// resource returns the path of a model within a project's location: a publisher's, or an endpoint of the project's.
func resource(of family, name string) (string, error) {
	publisher := ""
	switch of {
	case open:
		return "/endpoints/openapi", nil
	case tuned, own:
		return "/endpoints/" + name, nil
	case google:
		publisher = "google"
	case claude:
		publisher = "anthropic"
	case mistrals:
		publisher = "mistralai"
	}
	if strings.Trim(name, ".") == "" || strings.Contains(name, "/") {
		return "", fault.New(fault.Unsupported, "invalid_model", "The deployment's model is not a name of a model of %s.", vendor)
	}
	return "/publishers/" + publisher + "/models/" + segment(name), nil
}

// segment escapes a name as one segment of a path, in which a colon would begin the method.
func segment(name string) string {
	return strings.NewReplacer(":", "%3A", ";", "%3B").Replace(url.PathEscape(name))
}

// within returns the path of the project's location, or of the version alone for a key without a project. Operators like
// to configure the whole address of a model; what is before the project counts as the base path.
func within(t driver.Target) string {
	base := strings.TrimRight(t.BasePath, "/") + "/"
	for _, part := range []string{"/projects/", "/publishers/"} {
		before, _, _ := strings.Cut(base, part)
		base = strings.TrimRight(before, "/") + "/"
	}
	base = strings.TrimRight(base, "/")
	if last := base[strings.LastIndexByte(base, '/')+1:]; last != apiVersion && last != "v1beta1" {
		base += "/" + apiVersion
	}
	project, location := t.Settings.Get(cloud.VertexProject), t.Settings.Get(cloud.VertexLocation)
	if project == "" || location == "" {
		return base
	}
	return base + "/projects/" + project + "/locations/" + location
}
