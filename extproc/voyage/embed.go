package voyage

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// kind is what a model for embeddings reads. It begins the name of its endpoint.
type kind string

const (
	plain          kind = ""               // texts
	multimodal     kind = "multimodal"     // texts with pictures and videos
	contextualized kind = "contextualized" // texts that are parts of documents
)

// kindOf returns the kind of a model by its name.
func kindOf(model string) kind {
	switch {
	case strings.HasPrefix(model, "voyage-multimodal"):
		return multimodal
	case strings.HasPrefix(model, "voyage-context"):
		return contextualized
	}
	return plain
}

// path returns the path of the endpoint.
func (k kind) path() string { return "/" + string(k) + "embeddings" }

// embed writes a request for embeddings.
func embed(o *splice.Object, t driver.Target) error {
	k := kindOf(t.Model)
	driver.RenameMember(o, "dimensions", "output_dimension")
	if string(o.Get("encoding_format")) != `"base64"` {
		o.Remove("encoding_format") // numbers, as Voyage has them without a format
	}
	inputs, err := inputsOf(o, k)
	if err != nil || k == plain {
		return err
	}
	o.Remove("input")
	o.Set("inputs", inputs)
	return nil
}

// inputsOf checks the inputs, and returns them as models of other kinds than plain take them.
func inputsOf(o *splice.Object, k kind) ([]byte, error) {
	raw := jsontext.Value(o.Get("input"))
	list := driver.Elements(raw)
	out := []byte{'['}
	for i, one := range list {
		if i > 0 {
			out = append(out, ',')
		}
		content := one.Kind() == '{' && k == multimodal && splice.Lookup(one, "content") != nil
		switch {
		case content:
			out = append(out, one...)
		case one.Kind() != '"':
			return nil, notText(raw, i, k)
		case k == multimodal:
			out = append(append(append(out, `{"content":[{"type":"text","text":`...), one...), "}]}"...)
		default: // a document with one part
			out = append(append(append(out, '['), one...), ']')
		}
	}
	return append(out, ']'), nil
}

// notText is the error for an input that a model cannot embed.
func notText(raw jsontext.Value, i int, k kind) error {
	param := "input"
	if raw.Kind() == '[' {
		param = fmt.Sprintf("input[%d]", i)
	}
	if k == multimodal {
		return fault.Field(param, driver.CodeUnsupported, "%s: this model of %s embeds texts and objects with a content; send one of these.", param, vendor)
	}
	return fault.Field(param, driver.CodeUnsupported, "%s: %s embeds texts; send a text, or a list of texts.", param, vendor)
}

// flattened writes the embeddings of documents as those of their parts: each document has one.
func flattened(body []byte, model string) (driver.Restored, error) {
	var in struct {
		Data []struct {
			Data []struct {
				Vector jsontext.Value `json:"embedding"`
			} `json:"data"`
		} `json:"data"`
		Usage struct {
			Total driver.Count `json:"total_tokens"`
		} `json:"usage"`
		Error  jsontext.Value `json:"error"`
		Detail jsontext.Value `json:"detail"`
	}
	if f := driver.ReadResponse(body, &in); f != nil {
		return driver.Restored{}, f
	}
	switch {
	case driver.Given(in.Error), in.Data == nil && driver.Given(in.Detail):
		return driver.Restored{}, driver.FailureIn(body)
	case len(in.Data) == 0:
		return driver.Restored{}, driver.InvalidResponse("has no embeddings")
	}
	var out bytes.Buffer
	out.WriteString(`{"object":"list","data":[`)
	for i := range in.Data {
		parts := in.Data[i].Data
		if len(parts) != 1 || parts[0].Vector.Kind() != '[' && parts[0].Vector.Kind() != '"' {
			return driver.Restored{}, driver.InvalidResponse("has another number of embeddings than the request has inputs")
		}
		if i > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(&out, `{"object":"embedding","index":%d,"embedding":%s}`, i, parts[0].Vector)
	}
	out.WriteString(`],"model":` + string(splice.Quote(nil, model)))
	total := in.Usage.Total
	restored := driver.Restored{}
	switch {
	case driver.Counts{total}.Bad():
		restored.Usage.Bad = true
	case total.Given:
		n := strconv.FormatInt(total.N, 10)
		out.WriteString(`,"usage":{"prompt_tokens":` + n + `,"total_tokens":` + n + `}`)
	}
	out.WriteByte('}')
	restored.Body = out.Bytes()
	return restored, nil
}
