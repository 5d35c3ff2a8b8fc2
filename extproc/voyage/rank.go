package voyage

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// rank writes a request for a ranking.
func rank(o *splice.Object, t driver.Target) error {
	if err := driver.RejectMembers(o, t, vendor, "rank_fields", "max_chunks_per_doc", "max_tokens_per_doc"); err != nil {
		return err
	}
	o.Remove("priority") // a hint
	driver.RenameMember(o, "top_n", "top_k")
	return textDocuments(o)
}

// textDocuments writes documents that are objects with a text as that text.
func textDocuments(o *splice.Object) error {
	var list []jsontext.Value
	if err := json.Unmarshal(o.Get("documents"), &list); err != nil {
		return nil //nolint:nilerr // a single text: Voyage rejects it
	}
	changed := false
	for i, d := range list {
		if d.Kind() == '"' {
			continue
		}
		text := jsontext.Value(splice.Lookup(d, "text"))
		if text.Kind() != '"' {
			param := fmt.Sprintf("documents[%d]", i)
			return fault.Field(param, driver.CodeUnsupported, "%s: %s ranks texts; send a text, or an object with a text.", param, vendor)
		}
		list[i], changed = text, true
	}
	if !changed {
		return nil
	}
	raw, err := json.Marshal(list)
	if err != nil {
		return fault.From(err)
	}
	o.Set("documents", raw)
	return nil
}
