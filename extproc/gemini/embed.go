package gemini

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
)

// embeddingsRequest is OpenAI's request for embeddings, with what Google's has besides.
type embeddingsRequest struct {
	Input      jsontext.Value `json:"input"`
	Dimensions jsontext.Value `json:"dimensions"`
	TaskType   jsontext.Value `json:"task_type"`
	OwnType    jsontext.Value `json:"taskType"`
	Title      jsontext.Value `json:"title"`
	Model      jsontext.Value `json:"model"`           // of the deployment instead
	Format     jsontext.Value `json:"encoding_format"` // the gateway's own task
	User       jsontext.Value `json:"user"`            // a hint
	Extra      jsontext.Value `json:",embed"`
}

// embedRequest is an element of batchEmbedContents.
type embedRequest struct {
	Model      string         `json:"model"`
	Content    content        `json:"content"`
	TaskType   jsontext.Value `json:"taskType,omitzero"`
	Title      jsontext.Value `json:"title,omitzero"`
	Dimensions jsontext.Value `json:"outputDimensionality,omitzero"`
}

// Rewrite writes a request for embeddings as batchEmbedContents.
func (Driver) Rewrite(r *driver.Original, t driver.Target) (driver.Rewritten, error) {
	body, err := rewritten(r.Members().Append(nil), t)
	return driver.Rewritten{Body: body}, err
}

func rewritten(body []byte, t driver.Target) ([]byte, error) {
	var in embeddingsRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, fault.New(fault.Malformed, "invalid_json", "The body is not a request for embeddings.")
	}
	if err := in.lacking(t); err != nil {
		return nil, err
	}
	texts, err := in.texts()
	if err != nil {
		return nil, err
	}
	model, err := modelPath(t.Model)
	if err != nil {
		return nil, err
	}
	one := embedRequest{Model: model, TaskType: given(in.TaskType), Title: given(in.Title), Dimensions: given(in.Dimensions)}
	if one.TaskType == nil {
		one.TaskType = given(in.OwnType)
	}
	var out struct {
		Requests []embedRequest `json:"requests"`
	}
	for _, text := range texts {
		one.Content = content{Parts: []part{textPart(text)}}
		out.Requests = append(out.Requests, one)
	}
	return json.Marshal(&out)
}

// given returns a raw member, nil if it is absent or null.
func given(v jsontext.Value) jsontext.Value {
	if len(v) == 0 || v.Kind() == 'n' {
		return nil
	}
	return v
}

// lacking rejects members that Google's request lacks.
func (r *embeddingsRequest) lacking(t driver.Target) error {
	if len(r.Extra) == 0 || t.DropParams {
		return nil
	}
	var more map[string]jsontext.Value
	if err := json.Unmarshal(r.Extra, &more); err != nil {
		return fault.From(err)
	}
	first := ""
	for name := range more {
		if first == "" || name < first {
			first = name
		}
	}
	if len(more) == 0 {
		return nil
	}
	return driver.Unsupported(first, vendor)
}

// texts returns the inputs. Tokens are those of another vocabulary.
func (r *embeddingsRequest) texts() ([]string, error) {
	list := []jsontext.Value{r.Input}
	if r.Input.Kind() == '[' {
		list = nil
		if err := json.Unmarshal(r.Input, &list); err != nil {
			return nil, fault.From(err)
		}
	}
	out := make([]string, 0, len(list))
	for i, one := range list {
		var text string
		if one.Kind() != '"' || json.Unmarshal(one, &text) != nil {
			param := "input"
			if r.Input.Kind() == '[' {
				param = fmt.Sprintf("input[%d]", i)
			}
			return nil, fault.Field(param, driver.CodeUnsupported, "%s: %s embeds texts and no tokens; send the texts that they stand for.", param, vendor)
		}
		out = append(out, text)
	}
	return out, nil
}

// looseEmbeddings is a BatchEmbedContentsResponse.
type looseEmbeddings struct {
	Embeddings []struct {
		Values jsontext.Value `json:"values"`
	} `json:"embeddings"`
	Usage jsontext.Value `json:"usageMetadata"`
	Error jsontext.Value `json:"error"`
}

// embeddings is OpenAI's list of embeddings.
type embeddings struct {
	Object string           `json:"object"`
	Data   []embedding      `json:"data"`
	Model  string           `json:"model"`
	Usage  *embeddingsUsage `json:"usage,omitzero"`
}

type embedding struct {
	Object string         `json:"object"`
	Index  int            `json:"index"`
	Values jsontext.Value `json:"embedding"`
}

type embeddingsUsage struct {
	Prompt int64 `json:"prompt_tokens"`
	Total  int64 `json:"total_tokens"`
}

// Restore writes embeddings in OpenAI's form.
func (Driver) Restore(_ *driver.Original, body []byte, model string) (driver.Restored, error) {
	var in looseEmbeddings
	if f := driver.ReadResponse(body, &in); f != nil {
		return driver.Restored{}, f
	}
	switch {
	case driver.Given(in.Error):
		return driver.Restored{}, failureIn(body)
	case in.Embeddings == nil:
		return driver.Restored{}, driver.InvalidResponse("has no embeddings")
	}
	out := embeddings{Object: "list", Data: []embedding{}, Model: model}
	for i := range in.Embeddings {
		values := in.Embeddings[i].Values
		if values.Kind() != '[' {
			return driver.Restored{}, driver.InvalidResponse("has an embedding without values")
		}
		out.Data = append(out.Data, embedding{"embedding", i, values})
	}
	var reported looseUsage
	reported.add(in.Usage)
	if u := reported.report(); u.Known() {
		out.Usage = &embeddingsUsage{u.Tokens.Input, u.Tokens.Input}
	}
	restored, err := written(&out)
	return driver.Restored{Body: restored}, err
}

// written writes a response that has been read.
func written(v any) ([]byte, error) {
	out, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, driver.InvalidResponse("is not valid JSON of the expected shape")
	}
	return out, nil
}
