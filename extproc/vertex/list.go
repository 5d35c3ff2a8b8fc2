package vertex

import (
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/extproc/driver"
)

// publishers lists those whose models the gateway reaches without an endpoint of the project's. Each has pages of its own.
func publishers() []string {
	return []string{"google", "anthropic", "mistralai", "deepseek-ai", "meta", "openai", "qwen"}
}

// ListModels returns the request for a page of a publisher's models. Only the API's beta version lists them.
func (Driver) ListModels(t driver.Target, page string) (driver.Call, error) {
	publisher, token := pageOf(page)
	root := strings.TrimSuffix(within(driver.Target{BasePath: t.BasePath}), "/"+apiVersion)
	root = strings.TrimSuffix(root, "/v1beta1")
	path := root + "/v1beta1/publishers/" + publisher + "/models" + driver.PageQuery("pageSize", "100", "pageToken", token)
	return driver.Call{Path: path, Headers: driver.WithHeaders(credential(t), t.Headers)}, nil
}

// pageOf returns the publisher of a page, and its token.
func pageOf(page string) (publisher, token string) {
	if page == "" {
		return publishers()[0], ""
	}
	publisher, token, _ = strings.Cut(page, " ")
	return publisher, token
}

// ModelsOf reads a page. The next one may be the first of another publisher.
func (Driver) ModelsOf(page string, body []byte) (models []string, next string, err error) {
	var in struct {
		Models []struct {
			Name string `json:"name"`
		} `json:"publisherModels"`
		Next string `json:"nextPageToken"`
	}
	if f := driver.ReadResponse(body, &in); f != nil {
		return nil, "", f
	}
	publisher, _ := pageOf(page)
	for _, m := range in.Models {
		if name := listed(publisher, m.Name[strings.LastIndexByte(m.Name, '/')+1:]); name != "" {
			models = append(models, name)
		}
	}
	if in.Next != "" {
		return models, publisher + " " + in.Next, nil
	}
	if i := slices.Index(publishers(), publisher); i >= 0 && i+1 < len(publishers()) {
		next = publishers()[i+1]
	}
	return models, next, nil
}

// listed returns the name of a publisher's model in deployments; empty if the gateway does not reach it. The
// publishers list what a project can deploy to machines of its own as well.
func listed(publisher, name string) string {
	switch of, _ := familyOf(name); publisher {
	case "google":
		for _, kind := range []string{"gemini-", "gemini-embedding-", "text-embedding-", "text-multilingual-embedding-", "textembedding-", "imagen-"} {
			if strings.HasPrefix(name, kind) {
				return name
			}
		}
	case "anthropic":
		if of == claude {
			return name
		}
	case "mistralai":
		if of == mistrals {
			return name
		}
	default: // those that Google serves
		if strings.HasSuffix(name, "-maas") {
			return publisher + "/" + name
		}
	}
	return ""
}
