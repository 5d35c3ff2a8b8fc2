package responses

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// A namespace groups tools under a name, and a call names both. The other languages have none: the
// canonical name of such a tool begins with that of its namespace.

const (
	toolNamespace = "namespace"
	afterSpace    = "__" // between the two names; all languages allow it in the name of a tool
)

// namespace reads the tools of a namespace.
func (r *request) namespace(a *wire.Request, t *toolBody, path string) error {
	if t.Name == "" {
		return fault.Field(path+".name", dialect.CodeMissing, "%s.name is missing; name the namespace.", path)
	}
	var inner []toolBody
	path += ".tools"
	if err := json.Unmarshal(dialect.Present(t.Tools), &inner); err != nil {
		if dialect.Present(t.Tools) == nil {
			return fault.Field(path, dialect.CodeMissing, "%s is missing; send the tools of the namespace.", path)
		}
		return dialect.Reject(err, path)
	}
	for i := range inner {
		one, at := &inner[i], fmt.Sprintf("%s[%d]", path, i)
		if one.Type != toolFunction && one.Type != toolCustom {
			return fault.Field(at+".type", driver.CodeUnsupported, "%s.type: this model has no tool of that type; use function or custom.", at)
		}
		if one.Name != "" {
			one.Name = inNamespace(t.Name, one.Name)
		}
		if err := r.tool(a, one, at); err != nil {
			return err
		}
	}
	return nil
}

// inNamespace returns the canonical name of a tool.
func inNamespace(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + afterSpace + name
}

// outOfNamespace is the reverse, with the namespaces of the request that a response repeats.
func outOfNamespace(echo jsontext.Value, canonical string) (namespace, name string) {
	if len(echo) == 0 || !strings.Contains(canonical, afterSpace) {
		return "", canonical
	}
	var sent struct {
		Tools []struct {
			Type string `json:"type"`
			Name string `json:"name"`
		} `json:"tools"`
	}
	if json.Unmarshal(echo, &sent) != nil {
		return "", canonical
	}
	name = canonical
	for _, t := range sent.Tools {
		rest, found := strings.CutPrefix(canonical, t.Name+afterSpace)
		switch {
		case t.Type != toolNamespace && t.Name == canonical:
			return "", canonical
		case t.Type == toolNamespace && found && rest != "" && len(t.Name) > len(namespace):
			namespace, name = t.Name, rest
		}
	}
	return namespace, name
}
