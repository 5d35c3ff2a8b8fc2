package jina

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// dataURL begins a text that is a picture.
const dataURL = `"data:image/`

// embed writes a request for embeddings.
func embed(o *splice.Object) error {
	o.Remove("encoding_format") // the gateway's own task
	raw := jsontext.Value(o.Get("input"))
	list := driver.Elements(raw)
	pictures := false
	for i, one := range list {
		if k := one.Kind(); k != '"' && k != '{' {
			param := "input"
			if raw.Kind() == '[' {
				param = fmt.Sprintf("input[%d]", i)
			}
			return fault.Field(param, driver.CodeUnsupported, "%s: %s embeds texts and no tokens; send the texts that they stand for.", param, vendor)
		}
		pictures = pictures || bytes.HasPrefix(one, []byte(dataURL))
	}
	if !pictures {
		return nil
	}
	out := []byte{'['}
	for i, one := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendInput(out, one)
	}
	o.Set("input", append(out, ']'))
	return nil
}

// appendInput appends an input as an object: among pictures all inputs are.
func appendInput(dst, one []byte) []byte {
	if one[0] != '"' {
		return append(dst, one...)
	}
	name := "text"
	if bytes.HasPrefix(one, []byte(dataURL)) {
		name = "image"
		if _, data, ok := bytes.Cut(one, []byte(";base64,")); ok {
			one = append([]byte{'"'}, data...)
		}
	}
	return append(append(append(dst, `{"`+name+`":`...), one...), '}')
}
