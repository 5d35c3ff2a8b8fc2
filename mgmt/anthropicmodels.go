package mgmt

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/dataplane"
	"github.com/modelgateway/modelgateway/mgmt/rest"
)

// headerAnthropicVersion is the header that all clients of Anthropic's API send.
const headerAnthropicVersion = "anthropic-version"

// isAnthropic reports whether a request outside the management API is in Anthropic's language.
func isAnthropic(r *http.Request) bool {
	switch dataplane.Language(sentPath(r)) {
	case "anthropic":
		return true
	case "":
		return r.Header.Get(headerAnthropicVersion) != ""
	}
	return false
}

// anthropicModel is one model as Anthropic's GET /v1/models shows it. All members are required there.
type anthropicModel struct {
	Type           string       `json:"type"` // always model
	ID             id.ModelName `json:"id"`
	DisplayName    id.ModelName `json:"display_name"`
	CreatedAt      time.Time    `json:"created_at"` // the epoch: the release is not known
	Lifecycle      string       `json:"lifecycle"`
	DeprecatedAt   *time.Time   `json:"deprecated_at"`
	RetiresAt      *time.Time   `json:"retires_at"`
	Line           *string      `json:"line"`         // null: aliases have no line of Claude's models
	Capabilities   *struct{}    `json:"capabilities"` // null: they are not known
	MaxInputTokens *int64       `json:"max_input_tokens"`
	MaxTokens      *int64       `json:"max_tokens"`
}

// anthropicModels is a page of models.
type anthropicModels struct {
	Data    []anthropicModel `json:"data"`
	HasMore bool             `json:"has_more"`
	FirstID *id.ModelName    `json:"first_id"`
	LastID  *id.ModelName    `json:"last_id"`
}

// anthropicModelOf describes a model by its deployments. Of different limits the smallest one holds: a
// request within it fits each of the deployments.
func anthropicModelOf(name id.ModelName, deployments []*catalog.Deployment) anthropicModel {
	info := anthropicModel{Type: "model", ID: name, DisplayName: name, CreatedAt: time.Unix(0, 0).UTC(), Lifecycle: "active"}
	least := func(known *int64, limit int64) *int64 {
		if limit <= 0 || known != nil && *known <= limit {
			return known
		}
		return &limit
	}
	for _, d := range deployments {
		info.MaxInputTokens = least(info.MaxInputTokens, d.MaxInputTokens)
		info.MaxTokens = least(info.MaxTokens, d.MaxOutputTokens)
	}
	return info
}

// The numbers of models on a page in Anthropic's language.
const (
	anthropicPage     = 20
	mostAnthropicPage = 1000
)

// modelPage returns the page of names, which are sorted, that a query selects.
func modelPage(c *catalog.Catalog, names []id.ModelName, rawQuery string) (anthropicModels, error) {
	query, err := rest.ParseQuery(rawQuery)
	if err != nil {
		return anthropicModels{}, err
	}
	limit, err := cursorLimit(query)
	if err != nil {
		return anthropicModels{}, err
	}
	active, err := wantsActive(query)
	if err != nil {
		return anthropicModels{}, err
	}
	if !active {
		names = nil
	}
	names, more := modelsBetween(names, id.ModelName(query.Get("after_id")), id.ModelName(query.Get("before_id")), limit)
	page := anthropicModels{Data: make([]anthropicModel, 0, len(names)), HasMore: more}
	for _, name := range names {
		if g, ok := c.Group(name); ok {
			page.Data = append(page.Data, anthropicModelOf(name, g.Deployments))
		}
	}
	if n := len(page.Data); n > 0 {
		page.FirstID, page.LastID = &page.Data[0].ID, &page.Data[n-1].ID
	}
	return page, nil
}

// cursorLimit reads the number of models on a page, and checks that the page has one end.
func cursorLimit(query url.Values) (int, error) {
	if query.Get("after_id") != "" && query.Get("before_id") != "" {
		return 0, fault.Field("before_id", "invalid_value", "before_id and after_id exclude each other. Send one of them.")
	}
	text := query.Get("limit")
	if text == "" {
		return anthropicPage, nil
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 || limit > mostAnthropicPage {
		return 0, fault.Field("limit", "invalid_value", "limit must be a whole number from 1 to %d.", mostAnthropicPage)
	}
	return limit, nil
}

// wantsActive reports whether a query selects active models, which are all that the gateway has.
func wantsActive(query url.Values) (bool, error) {
	stages := slices.Concat(query["lifecycle[]"], query["lifecycle"])
	for _, stage := range stages {
		if !slices.Contains([]string{"active", "deprecated", "retired"}, stage) {
			return false, fault.Field("lifecycle", "invalid_value", "lifecycle must be active, deprecated or retired.")
		}
	}
	return len(stages) == 0 || slices.Contains(stages, "active"), nil
}

// modelsBetween returns at most limit of the sorted names: those after one name, else those just before
// another, else the first. A name that is gone still has its place in the order, so a client that
// reads page by page goes on. more says whether there are more names in that direction.
func modelsBetween(names []id.ModelName, after, before id.ModelName, limit int) (page []id.ModelName, more bool) {
	at := func(name id.ModelName) (int, bool) {
		return slices.BinarySearchFunc(names, name, func(a, b id.ModelName) int { return strings.Compare(string(a), string(b)) })
	}
	if before != "" {
		end, _ := at(before)
		return names[max(end-limit, 0):end], end > limit
	}
	begin := 0
	if after != "" {
		place, found := at(after)
		if begin = place; found {
			begin++
		}
	}
	end := min(begin+limit, len(names))
	return names[begin:end], end < len(names)
}
