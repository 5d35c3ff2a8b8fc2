package mgmt

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/dataplane"
	"github.com/modelgateway/modelgateway/mgmt/rest"
)

// headerGoogleClient is the header that all clients of Google's APIs send.
const headerGoogleClient = "x-goog-api-client"

// isGoogle reports whether a request outside the management API is of a client of Google's APIs.
func isGoogle(r *http.Request) bool {
	switch dataplane.Language(sentPath(r)) {
	case "gemini":
		return true
	case "":
		return r.Header.Get(headerGoogleClient) != "" || r.Header.Get("x-goog-api-key") != ""
	}
	return false
}

// googleModel is one model as Google's GET /v1beta/models shows it.
type googleModel struct {
	Name        string   `json:"name"` // models/ and the name
	Version     string   `json:"version"`
	DisplayName string   `json:"displayName"`
	Description string   `json:"description"`
	MostInput   int64    `json:"inputTokenLimit,omitzero"`
	MostOutput  int64    `json:"outputTokenLimit,omitzero"`
	Methods     []string `json:"supportedGenerationMethods"`
}

// googleModels is a page of models.
type googleModels struct {
	Models []googleModel `json:"models"`
	Next   string        `json:"nextPageToken,omitzero"`
}

// googlePublisherModels is a page of models as Vertex AI shows it.
type googlePublisherModels struct {
	Models []googleModel `json:"publisherModels"`
	Next   string        `json:"nextPageToken,omitzero"`
}

// googleModelOf describes a model by its deployments. Which of the methods a model has shows a request.
func googleModelOf(name id.ModelName, deployments []*catalog.Deployment) googleModel {
	about := anthropicModelOf(name, deployments)
	out := googleModel{
		Name: "models/" + string(name), Version: "001", DisplayName: string(name), Description: "A model of the gateway.",
		Methods: []string{"generateContent", "countTokens", "embedContent", "batchEmbedContents"},
	}
	if about.MaxInputTokens != nil {
		out.MostInput = *about.MaxInputTokens
	}
	if about.MaxTokens != nil {
		out.MostOutput = *about.MaxTokens
	}
	return out
}

// The numbers of models on a page in Google's language.
const (
	googlePage     = 50
	mostGooglePage = 1000
)

// googleModelPage returns the page of names, which are sorted, that a query selects. Its token is the last name of
// the page before, so a client that reads page by page goes on although a model has gone.
func googleModelPage(c *catalog.Catalog, names []id.ModelName, rawQuery string) (googleModels, error) {
	query, err := rest.ParseQuery(rawQuery)
	if err != nil {
		return googleModels{}, err
	}
	size, err := googlePageSize(query)
	if err != nil {
		return googleModels{}, err
	}
	names, more := modelsBetween(names, id.ModelName(query.Get("pageToken")), "", size)
	page := googleModels{Models: make([]googleModel, 0, len(names))}
	for _, name := range names {
		if g, ok := c.Group(name); ok {
			page.Models = append(page.Models, googleModelOf(name, g.Deployments))
		}
	}
	if more && len(names) > 0 {
		page.Next = string(names[len(names)-1])
	}
	return page, nil
}

func googlePageSize(query url.Values) (int, error) {
	text := query.Get("pageSize")
	if text == "" {
		return googlePage, nil
	}
	size, err := strconv.Atoi(text)
	if err != nil || size < 0 {
		return 0, fault.Field("pageSize", "invalid_value", "pageSize must be a whole number from 1 to %d.", mostGooglePage)
	}
	if size == 0 {
		size = googlePage
	}
	return min(size, mostGooglePage), nil
}

// usualPath returns a request for models in a provider's form as one at the usual path. What the provider's clients
// are answered with follows from the path that they have sent.
func usualPath(r *http.Request) *http.Request {
	usual, ok := dataplane.Models(r.URL.Path)
	if !ok || r.Method != http.MethodGet && r.Method != http.MethodHead || usual == r.URL.Path || "/v1"+r.URL.Path == usual {
		return r
	}
	out := r.Clone(context.WithValue(r.Context(), sentPathKey{}, r.URL.Path))
	out.URL.Path, out.URL.RawPath = usual, ""
	return out
}

type sentPathKey struct{}

// sentPath returns the path that the caller has sent.
func sentPath(r *http.Request) string {
	if path, ok := r.Context().Value(sentPathKey{}).(string); ok {
		return path
	}
	return r.URL.Path
}

// onVertex reports whether a path is one of Vertex AI.
func onVertex(path string) bool { return strings.Contains(path, "/publishers/") }
