package voyage

import (
	"fmt"

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
	raw := jsontext.Value(o.Get("documents"))
	if raw.Kind() != '[' {
		return nil // a single text: Voyage rejects it
	}
	changed := false
	out := []byte{'['}
	for i, d := range driver.Elements(raw) {
		if d.Kind() != '"' {
			if d, changed = splice.Lookup(d, "text"), true; d.Kind() != '"' {
				param := fmt.Sprintf("documents[%d]", i)
				return fault.Field(param, driver.CodeUnsupported, "%s: %s ranks texts; send a text, or an object with a text.", param, vendor)
			}
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, d...)
	}
	if changed {
		o.Set("documents", append(out, ']'))
	}
	return nil
}
