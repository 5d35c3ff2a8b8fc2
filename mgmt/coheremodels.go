package mgmt

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/dataplane"
	"github.com/modelgateway/modelgateway/mgmt/rest"
)

// isCohere reports whether a request outside the management API is in Cohere's language.
func isCohere(r *http.Request) bool { return dataplane.Language(sentPath(r)) == "cohere" }

// cohereModel is one model as Cohere's GET /v1/models shows it.
type cohereModel struct {
	Name      id.ModelName `json:"name"`
	Endpoints []string     `json:"endpoints"`
	FineTuned bool         `json:"finetuned"`
	Context   int64        `json:"context_length,omitzero"`
}

// cohereModels is a page of models.
type cohereModels struct {
	Models []cohereModel `json:"models"`
	Next   string        `json:"next_page_token,omitzero"`
}

// cohereModelOf describes a model by its deployments. Which of the endpoints a model has shows a request.
func cohereModelOf(name id.ModelName, deployments []*catalog.Deployment) cohereModel {
	out := cohereModel{Name: name, Endpoints: []string{"chat", "embed", "rerank"}}
	if about := anthropicModelOf(name, deployments); about.MaxInputTokens != nil {
		out.Context = *about.MaxInputTokens
	}
	return out
}

// The numbers of models on a page in Cohere's language.
const (
	coherePage     = 20
	mostCoherePage = 1000
)

// cohereModelPage returns the page of names, which are sorted, that a query selects. Its token is the last name of the page before.
func cohereModelPage(c *catalog.Catalog, names []id.ModelName, rawQuery string) (cohereModels, error) {
	query, err := rest.ParseQuery(rawQuery)
	if err != nil {
		return cohereModels{}, err
	}
	size, err := coherePageSize(query)
	if err != nil {
		return cohereModels{}, err
	}
	names, more := modelsBetween(names, id.ModelName(query.Get("page_token")), "", size)
	page := cohereModels{Models: make([]cohereModel, 0, len(names))}
	for _, name := range names {
		if g, ok := c.Group(name); ok {
			page.Models = append(page.Models, cohereModelOf(name, g.Deployments))
		}
	}
	if more && len(names) > 0 {
		page.Next = string(names[len(names)-1])
	}
	return page, nil
}

func coherePageSize(query url.Values) (int, error) {
	text := query.Get("page_size")
	if text == "" {
		return coherePage, nil
	}
	size, err := strconv.Atoi(text)
	if err != nil || size < 1 || size > mostCoherePage {
		return 0, fault.Field("page_size", "invalid_value", "page_size must be a whole number from 1 to %d.", mostCoherePage)
	}
	return size, nil
}
