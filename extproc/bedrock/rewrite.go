package bedrock

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// Rewrite writes a request for embeddings, pictures, a ranking or a count of tokens in the form of the model's own API.
func (Driver) Rewrite(r *driver.Original, t driver.Target) (driver.Rewritten, error) {
	n, err := parse(t.Model)
	if err != nil {
		return driver.Rewritten{}, err
	}
	o := r.Members()
	o.Remove("model")
	o.Remove("user") // a hint
	var body any
	switch f := n.familyOf(t); r.Endpoint { //nolint:exhaustive // Serves has no others
	case driver.Embeddings:
		body, err = embed(o, t, f)
	case driver.Images:
		body, err = draw(o, t, f)
	case driver.CountTokens:
		body = count(o)
	default:
		body, err = rank(o, t, &n)
	}
	if err != nil {
		return driver.Rewritten{}, err
	}
	out, err := json.Marshal(body)
	if err != nil {
		return driver.Rewritten{}, fault.From(err)
	}
	return driver.Rewritten{Body: out}, nil
}

// Restore writes embeddings and pictures in OpenAI's form, and a ranking in Cohere's.
func (Driver) Restore(r *driver.Original, body []byte, model string) (driver.Restored, error) {
	var out any
	var restored driver.Restored
	var err error
	switch r.Endpoint { //nolint:exhaustive // Serves has no others
	case driver.Embeddings:
		out, err = embedded(body, model)
	case driver.Images:
		out, err = drawn(r, body)
	case driver.CountTokens:
		out, err = counted(body)
	default:
		out, err = ranked(body)
	}
	if err != nil {
		return restored, err
	}
	restored.Body, err = json.Marshal(out, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return restored, driver.InvalidResponse("is not valid JSON of the expected shape")
	}
	return restored, nil
}

// take removes a member and returns its value; nil if there is none.
func take(o *splice.Object, name string) jsontext.Value {
	value := jsontext.Value(o.Get(name))
	o.Remove(name)
	return value
}

// takeText is take for a member that must be a text; empty if there is none.
func takeText(o *splice.Object, name string) (string, error) {
	value := take(o, name)
	if value == nil {
		return "", nil
	}
	var text string
	if value.Kind() != '"' || json.Unmarshal(value, &text) != nil {
		return "", fault.Field(name, "invalid_type", "%s must be a text.", name)
	}
	return text, nil
}

// rest rejects the members that are left, unless the deployment drops what its provider lacks.
func rest(o *splice.Object, t driver.Target) error {
	if t.DropParams {
		return nil
	}
	for name, value := range o.All() {
		if string(value) != "null" {
			return driver.Unsupported(name, vendor)
		}
	}
	return nil
}

// texts returns the inputs of a request for embeddings. Tokens are those of another vocabulary.
func texts(o *splice.Object) ([]string, error) {
	raw := take(o, "input")
	list := []jsontext.Value{raw}
	if raw.Kind() == '[' {
		list = nil
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, fault.From(err)
		}
	}
	out := make([]string, 0, len(list))
	for i, one := range list {
		var text string
		if one.Kind() != '"' || json.Unmarshal(one, &text) != nil {
			param := "input"
			if raw.Kind() == '[' {
				param = fmt.Sprintf("input[%d]", i)
			}
			return nil, fault.Field(param, driver.CodeUnsupported, "%s: %s embeds texts and no tokens; send the texts that they stand for.", param, vendor)
		}
		out = append(out, text)
	}
	return out, nil
}

// titanRequest is the body of Titan's embeddings.
type titanRequest struct {
	Text       string          `json:"inputText"`
	Dimensions jsontext.Value  `json:"dimensions,omitzero"`
	Normalize  jsontext.Value  `json:"normalize,omitzero"`
	Config     *titanDimension `json:"embeddingConfig,omitzero"` // of the model that embeds pictures as well
}

type titanDimension struct {
	Length jsontext.Value `json:"outputEmbeddingLength"`
}

// novaRequest is the body of Nova's embeddings.
type novaRequest struct {
	Task   string `json:"taskType"`
	Params struct {
		Purpose   string         `json:"embeddingPurpose"`
		Dimension jsontext.Value `json:"embeddingDimension,omitzero"`
		Text      struct {
			Truncation string `json:"truncationMode"`
			Value      string `json:"value"`
		} `json:"text"`
	} `json:"singleEmbeddingParams"`
}

// cohereRequest is the body of Cohere's embeddings.
type cohereRequest struct {
	Texts     []string       `json:"texts"`
	InputType string         `json:"input_type"`
	Truncate  jsontext.Value `json:"truncate,omitzero"`
	MaxTokens jsontext.Value `json:"max_tokens,omitzero"`
	Dimension jsontext.Value `json:"output_dimension,omitzero"`
	Types     []string       `json:"embedding_types"`
}

// embed writes a request for embeddings. Amazon's models embed one text in a request.
func embed(o *splice.Object, t driver.Target, f *family) (any, error) {
	inputs, err := texts(o)
	if err != nil {
		return nil, err
	}
	take(o, "encoding_format") // the gateway's own task
	dimensions := take(o, "dimensions")
	if f.name != familyCohere && len(inputs) != 1 {
		return nil, fault.Field("input", driver.CodeUnsupported, "input: the model embeds one text in a request at %s; send a request for each of the %d texts.", vendor, len(inputs))
	}
	var out any
	switch f.name {
	case familyCohere:
		body := cohereRequest{Texts: inputs, Truncate: take(o, "truncate"), MaxTokens: take(o, "max_tokens"), Dimension: dimensions, Types: []string{"float"}}
		if body.InputType, err = takeText(o, "input_type"); body.InputType == "" {
			body.InputType = "search_document"
		}
		out = &body
	case familyNova:
		body := novaRequest{Task: "SINGLE_EMBEDDING"}
		if body.Params.Purpose, err = takeText(o, "embeddingPurpose"); body.Params.Purpose == "" {
			body.Params.Purpose = "GENERIC_INDEX"
		}
		body.Params.Dimension, body.Params.Text.Truncation, body.Params.Text.Value = dimensions, "END", inputs[0]
		out = &body
	case familyTitanPictures:
		body := titanRequest{Text: inputs[0]}
		if dimensions != nil {
			body.Config = &titanDimension{dimensions}
		}
		out = &body
	default:
		out = &titanRequest{Text: inputs[0], Dimensions: dimensions, Normalize: take(o, "normalize")}
	}
	if err != nil {
		return nil, err
	}
	return out, rest(o, t)
}

// looseEmbeddings is a response of any model for embeddings.
type looseEmbeddings struct {
	Vector     jsontext.Value `json:"embedding"`           // Titan's
	Tokens     driver.Count   `json:"inputTextTokenCount"` // Titan's
	Embeddings jsontext.Value `json:"embeddings"`          // Nova's, and Cohere's

	looseProblem
}

// embedded reads embeddings.
func embedded(body []byte, model string) (*driver.EmbeddingList, error) {
	var in looseEmbeddings
	if f := driver.ReadResponse(body, &in); f != nil {
		return nil, f
	}
	out := &driver.EmbeddingList{Object: "list", Data: []driver.Embedding{}, Model: model}
	vectors, err := in.vectors(body)
	if err != nil {
		return nil, err
	}
	for i, values := range vectors {
		if values.Kind() != '[' {
			return nil, driver.InvalidResponse("has an embedding without values")
		}
		out.Data = append(out.Data, driver.Embedding{Object: "embedding", Index: i, Values: values})
	}
	if in.Tokens.Given && !(driver.Counts{in.Tokens}).Bad() {
		out.Usage = &driver.EmbeddingsUsage{Prompt: in.Tokens.N, Total: in.Tokens.N}
	}
	return out, nil
}

// vectors returns the vectors in a response.
func (in *looseEmbeddings) vectors(body []byte) ([]jsontext.Value, error) {
	list := in.Embeddings
	switch {
	case driver.Given(in.Vector):
		return []jsontext.Value{in.Vector}, nil
	case list.Kind() == '{': // by type of number
		list = splice.Lookup(list, "float")
	case list.Kind() != '[' && driver.Given(in.Message):
		return nil, failureIn(driver.Text(in.Type), body)
	}
	var out []jsontext.Value
	if len(list) == 0 || json.Unmarshal(list, &out, jsontext.AllowInvalidUTF8(true)) != nil || len(out) == 0 {
		return nil, driver.InvalidResponse("has no embeddings")
	}
	for i := range out {
		if out[i].Kind() == '{' { // Nova's
			out[i] = splice.Lookup(out[i], "embedding")
		}
	}
	return out, nil
}

// rankRequest is the body of a ranking.
type rankRequest struct {
	Queries []rankQuery  `json:"queries"`
	Sources []rankSource `json:"sources"`
	Config  rankConfig   `json:"rerankingConfiguration"`
}

type rankQuery struct {
	Type string   `json:"type"`
	Text rankText `json:"textQuery"`
}

type rankText struct {
	Text jsontext.Value `json:"text"`
}

type rankSource struct {
	Type   string       `json:"type"`
	Inline rankDocument `json:"inlineDocumentSource"`
}

type rankDocument struct {
	Type string         `json:"type"`
	Text *rankText      `json:"textDocument,omitzero"`
	JSON jsontext.Value `json:"jsonDocument,omitzero"`
}

type rankConfig struct {
	Type    string `json:"type"`
	Bedrock struct {
		Most  jsontext.Value `json:"numberOfResults,omitzero"`
		Model struct {
			ARN    string         `json:"modelArn"`
			Fields jsontext.Value `json:"additionalModelRequestFields,omitzero"`
		} `json:"modelConfiguration"`
	} `json:"bedrockRerankingConfiguration"`
}

// rank writes a ranking, which names the model by its ARN.
func rank(o *splice.Object, t driver.Target, n *name) (any, error) {
	var out rankRequest
	var err error
	if out.Config.Bedrock.Model.ARN, err = modelARN(n, t); err != nil {
		return nil, err
	}
	out.Config.Type = "BEDROCK_RERANKING_MODEL"
	out.Config.Bedrock.Most = take(o, "top_n")
	if most := take(o, "max_tokens_per_doc"); most != nil {
		out.Config.Bedrock.Model.Fields = slicesOf(`{"max_tokens_per_doc":`, most, `}`)
	}
	take(o, "return_documents") // the gateway's callers have the documents
	out.Queries = []rankQuery{{"TEXT", rankText{take(o, "query")}}}
	var list []jsontext.Value
	if err := json.Unmarshal(take(o, "documents"), &list); err != nil {
		return nil, fault.Field("documents", "invalid_type", "documents must be a list.")
	}
	for _, d := range list {
		source := rankSource{Type: "INLINE"}
		if source.Inline.Type = "TEXT"; d.Kind() == '{' {
			text := jsontext.Value(splice.Lookup(d, "text"))
			if text == nil {
				source.Inline.Type, source.Inline.JSON = "JSON", d
			}
			d = text
		}
		if source.Inline.JSON == nil {
			source.Inline.Text = &rankText{d}
		}
		out.Sources = append(out.Sources, source)
	}
	return &out, rest(o, t)
}

func slicesOf(before string, value jsontext.Value, after string) jsontext.Value {
	return append(append([]byte(before), value...), after...)
}

// modelARN returns the ARN of a model.
func modelARN(n *name, t driver.Target) (string, error) {
	if _, err := parseARN(n.id); err == nil {
		return n.id, nil
	}
	region, err := regionOf(n, t.Settings)
	if err != nil {
		return "", err
	}
	if region == "" {
		return "", fault.New(fault.Unavailable, codeModel, "The deployment has no region of AWS, which a ranking needs; set aws_region_name.")
	}
	return "arn:" + partitionOf(region).name + ":bedrock:" + region + "::foundation-model/" + n.id, nil
}

// ranking is Cohere's.
type ranking struct {
	Results []rankResult `json:"results"`
}

type rankResult struct {
	Index int64          `json:"index"`
	Score jsontext.Value `json:"relevance_score"`
}

// ranked reads a ranking.
func ranked(body []byte) (*ranking, error) {
	var in struct {
		Results []struct {
			Index driver.Count   `json:"index"`
			Score jsontext.Value `json:"relevanceScore"`
		} `json:"results"`

		looseProblem
	}
	if f := driver.ReadResponse(body, &in); f != nil {
		return nil, f
	}
	if in.Results == nil {
		if driver.Given(in.Message) {
			return nil, failureIn(driver.Text(in.Type), body)
		}
		return nil, driver.InvalidResponse("has no results")
	}
	out := &ranking{Results: []rankResult{}}
	for _, r := range in.Results {
		if (driver.Counts{r.Index}).Bad() || r.Score.Kind() != '0' {
			return nil, driver.InvalidResponse("has a result without an index or a score")
		}
		out.Results = append(out.Results, rankResult{r.Index.N, r.Score})
	}
	return out, nil
}

// sizeOf reads a size such as 1024x768.
func sizeOf(size string) (width, height int, ok bool) {
	before, after, ok := bytes.Cut([]byte(size), []byte("x"))
	width, err := strconv.Atoi(string(before))
	height, other := strconv.Atoi(string(after))
	return width, height, ok && err == nil && other == nil && width > 0 && height > 0
}
