package driver

import (
	"net/url"
	"strings"

	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Lister is a Driver whose provider lists the models that an account can reach. Implementations are safe
// for concurrent use and do not block.
type Lister interface {
	// ListModels returns the request for a page of the list, which is a GET. page is what the page before it
	// named as the next one; empty for the first.
	ListModels(t Target, page string) (Call, error)
	// ModelsOf reads a page that was requested by its name: the models by the names that deployments have, and the
	// next page; empty if this is the last one. The error is a *wire.Failure.
	ModelsOf(page string, body []byte) (models []string, next string, err error)
}

// ListedElsewhere is a Lister whose list is at another host than its models.
type ListedElsewhere interface {
	// ListHost returns the host of the list for that of a deployment, which may have a port.
	ListHost(host string) string
}

// ReadModels reads a list of OpenAI's form, which most providers have: objects with an id under data. Anthropic's
// says that there is more, and the last id then names the next page. Some providers send the list without the object around it.
func ReadModels(body []byte) (models []string, next string, err error) {
	type model struct {
		ID string `json:"id"`
	}
	var page struct {
		Data    []model `json:"data"`
		HasMore bool    `json:"has_more"`
		LastID  string  `json:"last_id"`
	}
	if strings.HasPrefix(strings.TrimSpace(string(body[:min(len(body), 64)])), "[") {
		if DecodeLoose(body, &page.Data) != nil {
			return nil, "", notAList()
		}
	} else if f := ReadResponse(body, &page); f != nil {
		return nil, "", f
	}
	for _, m := range page.Data {
		if m.ID == "" {
			return nil, "", notAList()
		}
		models = append(models, m.ID)
	}
	if page.HasMore {
		next = page.LastID
	}
	return models, next, nil
}

func notAList() *wire.Failure { return InvalidResponse("is not a list of models") }

// PageQuery returns a query with the size of a page and the name of the page, if it is not the first.
func PageQuery(size, most, cursor, page string) string {
	q := url.Values{size: {most}}
	if page != "" {
		q.Set(cursor, page)
	}
	return "?" + q.Encode()
}
