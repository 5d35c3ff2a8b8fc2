package gemini

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/splice"
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

// Embeddings is a request for embeddings of texts, as every interface of Google's can have it.
type Embeddings struct {
	Texts      []string
	TaskType   jsontext.Value // nil if there is none, and so are the others
	Title      jsontext.Value
	Dimensions jsontext.Value
}

// ReadEmbeddings reads a request for embeddings in OpenAI's form, with what callers of Google's own form have added.
func ReadEmbeddings(r *driver.Original, t driver.Target) (Embeddings, error) {
	var google struct { // of callers of Google's own form, as package googleembed writes it
		TaskType string `json:"task_type"`
		Title    string `json:"title"`
	}
	if raw := r.Facts.Raw(splice.GoogleEmbedding); raw != nil && json.Unmarshal(raw, &google) != nil {
		return Embeddings{}, fault.Field("google_embedding", "invalid_type", "google_embedding must be an object with task_type and title.")
	}
	var in embeddingsRequest
	if err := json.Unmarshal(r.Members().Append(nil), &in); err != nil {
		return Embeddings{}, fault.New(fault.Malformed, "invalid_json", "The body is not a request for embeddings.")
	}
	if err := in.lacking(t); err != nil {
		return Embeddings{}, err
	}
	texts, err := in.texts()
	if err != nil {
		return Embeddings{}, err
	}
	out := Embeddings{Texts: texts, TaskType: given(in.TaskType), Title: given(in.Title), Dimensions: given(in.Dimensions)}
	if out.TaskType == nil {
		out.TaskType = given(in.OwnType)
	}
	if t := google.TaskType; t != "" {
		out.TaskType, _ = jsontext.AppendQuote(nil, t) // it has been read as JSON, so it is valid
	}
	if t := google.Title; t != "" {
		out.Title, _ = jsontext.AppendQuote(nil, t)
	}
	return out, nil
}

// embed writes a request for embeddings as batchEmbedContents.
func embed(r *driver.Original, t driver.Target) (driver.Rewritten, error) {
	in, err := ReadEmbeddings(r, t)
	if err != nil {
		return driver.Rewritten{}, err
	}
	model, err := ModelPath(t.Model)
	if err != nil {
		return driver.Rewritten{}, err
	}
	one := embedRequest{Model: model, TaskType: in.TaskType, Title: in.Title, Dimensions: in.Dimensions}
	var out struct {
		Requests []embedRequest `json:"requests"`
	}
	for _, text := range in.Texts {
		one.Content = content{Parts: []part{textPart(text)}}
		out.Requests = append(out.Requests, one)
	}
	body, err := json.Marshal(&out)
	return driver.Rewritten{Body: body}, err
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

// RestoreEmbeddings writes embeddings of batchEmbedContents in OpenAI's form.
func RestoreEmbeddings(body []byte, model string) (driver.Restored, error) {
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
	values := make([]jsontext.Value, len(in.Embeddings))
	for i := range in.Embeddings {
		values[i] = in.Embeddings[i].Values
	}
	var reported looseUsage
	reported.add(in.Usage)
	tokens := int64(-1)
	if u := reported.report(); u.Known() {
		tokens = u.Tokens.Input
	}
	return WriteEmbeddings(values, model, tokens)
}

// WriteEmbeddings writes embeddings in OpenAI's form. The tokens of the input are negative if they are not known.
func WriteEmbeddings(values []jsontext.Value, model string, tokens int64) (driver.Restored, error) {
	out := driver.EmbeddingList{Object: "list", Data: []driver.Embedding{}, Model: model}
	for i, one := range values {
		if one.Kind() != '[' {
			return driver.Restored{}, driver.InvalidResponse("has an embedding without values")
		}
		out.Data = append(out.Data, driver.Embedding{Object: "embedding", Index: i, Values: one})
	}
	if tokens >= 0 {
		out.Usage = &driver.EmbeddingsUsage{Prompt: tokens, Total: tokens}
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
