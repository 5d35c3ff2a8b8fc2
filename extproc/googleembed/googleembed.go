package googleembed

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/googlecaller"
)

// Form is a form in which Google's clients request embeddings. Into and Outof rewrite it to OpenAI's and back.
type Form uint8

// The forms.
const (
	EmbedContent       Form = iota // one content
	BatchEmbedContents             // a list of the first
	Predict                        // instances of Vertex AI
)

// embedOptions are the options of one embedding, which some clients send in an object of their own.
type embedOptions struct {
	TaskType   string         `json:"taskType"`
	Title      string         `json:"title"`
	Dimensions *dialect.Whole `json:"outputDimensionality"`
}

// content is a content of texts.
type content struct {
	Parts []struct {
		Text *string `json:"text"`
	} `json:"parts"`
}

// callerEmbed is an EmbedContentRequest.
type callerEmbed struct {
	embedOptions

	Model   jsontext.Value `json:"model"` // the path's decides
	Content *content       `json:"content"`
	Config  embedOptions   `json:"embedContentConfig"`
	Extra   jsontext.Value `json:",embed"`
}

// callerInstances is a request of Vertex AI for predictions.
type callerInstances struct {
	Instances []struct {
		Content  *string `json:"content"`
		TaskType string  `json:"taskType"`
		Title    string  `json:"title"`
	} `json:"instances"`
	Parameters embedOptions `json:"parameters"`
}

// embeddingInputs is OpenAI's request, with what Google alone has in a member of its own.
type embeddingInputs struct {
	Model      string         `json:"model"`
	Input      []string       `json:"input"`
	Dimensions *dialect.Whole `json:"dimensions,omitzero"`
	Google     *googleOptions `json:"google_embedding,omitzero"`
}

type googleOptions struct {
	TaskType string `json:"task_type,omitzero"`
	Title    string `json:"title,omitzero"`
}

// Into returns the request for embeddings in OpenAI's form.
func (e Form) Into(body []byte, model string) ([]byte, error) {
	body, err := googlecaller.CamelCased(body)
	if err != nil {
		return nil, err
	}
	out := embeddingInputs{Model: model}
	switch e {
	case EmbedContent:
		var in callerEmbed
		if err := json.Unmarshal(body, &in); err != nil {
			return nil, dialect.Reject(err, "")
		}
		if err := out.add(&in, "", 0); err != nil {
			return nil, err
		}
	case BatchEmbedContents:
		var in struct {
			Requests []callerEmbed `json:"requests"`
		}
		if err := json.Unmarshal(body, &in); err != nil {
			return nil, dialect.Reject(err, "")
		}
		if len(in.Requests) == 0 {
			return nil, fault.Field("requests", dialect.CodeMissing, "requests is missing; send at least one.")
		}
		for i := range in.Requests {
			if err := out.add(&in.Requests[i], fmt.Sprintf("requests[%d].", i), i); err != nil {
				return nil, err
			}
		}
	case Predict:
		if err := out.predict(body); err != nil {
			return nil, err
		}
	}
	return json.Marshal(&out)
}

// add adds a content. The options of all must be the same, as one request of OpenAI's has them once.
func (b *embeddingInputs) add(in *callerEmbed, at string, i int) error {
	if in.Content == nil || len(in.Content.Parts) == 0 {
		return fault.Field(at+"content", dialect.CodeMissing, "%scontent is missing; send a content with a text.", at)
	}
	texts := make([]string, 0, len(in.Content.Parts))
	for j := range in.Content.Parts {
		p := &in.Content.Parts[j]
		if p.Text == nil {
			param := fmt.Sprintf("%scontent.parts[%d]", at, j)
			return fault.Field(param, dialect.CodeValue, "%s must be a text.", param)
		}
		texts = append(texts, *p.Text)
	}
	b.Input = append(b.Input, strings.Join(texts, "\n"))
	options := in.embedOptions
	if options == (embedOptions{}) {
		options = in.Config
	}
	return b.options(options, at, i)
}

// options takes the options of the i-th content.
func (b *embeddingInputs) options(o embedOptions, at string, i int) error {
	if err := dialect.In(o.Dimensions, 1, 1<<20, at+"outputDimensionality"); err != nil {
		return err
	}
	var google *googleOptions
	if own := (googleOptions{o.TaskType, o.Title}); own != (googleOptions{}) {
		google = &own
	}
	if i == 0 {
		b.Dimensions, b.Google = o.Dimensions, google
		return nil
	}
	if differ(b.Dimensions, o.Dimensions) || differ(b.Google, google) {
		return fault.Field(strings.TrimSuffix(at, "."), dialect.CodeValue, "%s must have the options of the first one: taskType, title and outputDimensionality.", strings.TrimSuffix(at, "."))
	}
	return nil
}

func differ[T comparable](a, b *T) bool {
	return (a == nil) != (b == nil) || a != nil && *a != *b
}

// predict reads the form of Vertex AI.
func (b *embeddingInputs) predict(body []byte) error {
	var in callerInstances
	if err := json.Unmarshal(body, &in); err != nil {
		return dialect.Reject(err, "")
	}
	if len(in.Instances) == 0 {
		return fault.Field("instances", dialect.CodeMissing, "instances is missing; send at least one with a content.")
	}
	for i := range in.Instances {
		one, at := &in.Instances[i], fmt.Sprintf("instances[%d]", i)
		if one.Content == nil {
			return fault.Field(at+".content", dialect.CodeMissing, "%s.content is missing; the gateway serves predictions of embeddings only.", at)
		}
		b.Input = append(b.Input, *one.Content)
		if err := b.options(embedOptions{one.TaskType, one.Title, in.Parameters.Dimensions}, at+".", i); err != nil {
			return err
		}
	}
	return nil
}

type embeddingValues struct {
	Values jsontext.Value `json:"values"`
}

type embeddingTokens struct {
	Prompt int64 `json:"promptTokenCount"`
}

// prediction is an embedding as Vertex AI has it.
type prediction struct {
	Embeddings struct {
		Statistics struct {
			Truncated bool  `json:"truncated"`
			Tokens    int64 `json:"token_count"`
		} `json:"statistics"`
		Values jsontext.Value `json:"values"`
	} `json:"embeddings"`
}

// Outof returns OpenAI's response with embeddings in the form of the caller.
func (e Form) Outof(body []byte) ([]byte, error) {
	var in struct {
		Data []struct {
			Embedding jsontext.Value `json:"embedding"`
		} `json:"data"`
		Usage struct {
			Prompt int64 `json:"prompt_tokens"`
		} `json:"usage"`
	}
	if err := json.Unmarshal(body, &in, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)); err != nil {
		return nil, err
	}
	values := make([]embeddingValues, 0, len(in.Data))
	for i := range in.Data {
		values = append(values, embeddingValues{in.Data[i].Embedding})
	}
	tokens := embeddingTokens{in.Usage.Prompt}
	switch e {
	case EmbedContent:
		if len(values) == 0 {
			return nil, fault.New(fault.Upstream, "invalid_provider_response", "The provider responded without an embedding.")
		}
		return written(&struct {
			Embedding embeddingValues `json:"embedding"`
			Usage     embeddingTokens `json:"usageMetadata"`
		}{values[0], tokens})
	case BatchEmbedContents:
		return written(&struct {
			Embeddings []embeddingValues `json:"embeddings"`
			Usage      embeddingTokens   `json:"usageMetadata"`
		}{values, tokens})
	case Predict:
	}
	var out struct {
		Predictions []prediction `json:"predictions"`
	}
	for i := range values {
		var one prediction
		one.Embeddings.Values = values[i].Values
		if len(values) == 1 { // the provider counts all together
			one.Embeddings.Statistics.Tokens = in.Usage.Prompt
		}
		out.Predictions = append(out.Predictions, one)
	}
	return written(&out)
}

// written writes a response.
func written(v any) ([]byte, error) { return json.Marshal(v, jsontext.AllowInvalidUTF8(true)) }
