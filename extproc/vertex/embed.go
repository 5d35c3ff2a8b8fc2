package vertex

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/gemini"
)

// batches reports whether a model takes its texts by batchEmbedContents. Older ones take them by predict.
func batches(name string) bool {
	return strings.Contains(name, "gemini") && !strings.HasPrefix(name, "gemini-embedding-001") && !strings.HasPrefix(name, "gemini-embedding-exp")
}

// instance is a text in a request of predict.
type instance struct {
	Content  string         `json:"content"`
	TaskType jsontext.Value `json:"task_type,omitzero"`
	Title    jsontext.Value `json:"title,omitzero"`
}

// batched is a text in a request of batchEmbedContents.
type batched struct {
	Content struct {
		Role  string     `json:"role"`
		Parts []textPart `json:"parts"`
	} `json:"content"`
	Config embedConfig `json:"embedContentConfig,omitzero"`
}

type textPart struct {
	Text string `json:"text"`
}

type embedConfig struct {
	TaskType   jsontext.Value `json:"taskType,omitzero"`
	Title      jsontext.Value `json:"title,omitzero"`
	Dimensions jsontext.Value `json:"outputDimensionality,omitzero"`
}

// SpeechIn returns the media type of responses with speech in them.
func (Driver) SpeechIn() string { return gemini.Driver{}.SpeechIn() }

// SpeechStream returns what turns the events of a response with speech into OpenAI's.
func (Driver) SpeechStream(r *driver.Original) driver.SpeechStream {
	return gemini.Driver{}.SpeechStream(r)
}

// Rewrite writes a request in the form of the model.
func (Driver) Rewrite(r *driver.Original, t driver.Target) (driver.Rewritten, error) {
	if r.Endpoint != driver.Embeddings {
		_, t.Model = familyOf(t.Model)
		return gemini.Codec{Vertex: true}.Rewrite(r, t)
	}
	in, err := gemini.ReadEmbeddings(r, t)
	if err != nil {
		return driver.Rewritten{}, err
	}
	var body []byte
	if _, name := familyOf(t.Model); batches(name) {
		var out struct {
			Requests []batched `json:"requests"`
		}
		for _, text := range in.Texts {
			one := batched{Config: embedConfig{in.TaskType, in.Title, in.Dimensions}}
			one.Content.Role, one.Content.Parts = "user", []textPart{{text}}
			out.Requests = append(out.Requests, one)
		}
		body, err = json.Marshal(&out)
	} else {
		var out struct {
			Instances  []instance  `json:"instances"`
			Parameters embedConfig `json:"parameters,omitzero"`
		}
		out.Parameters.Dimensions = in.Dimensions
		for _, text := range in.Texts {
			out.Instances = append(out.Instances, instance{text, in.TaskType, in.Title})
		}
		body, err = json.Marshal(&out)
	}
	return driver.Rewritten{Body: body}, err
}

// predictions is a response of predict.
type predictions struct {
	Predictions []struct {
		Embeddings struct {
			Values     jsontext.Value `json:"values"`
			Statistics struct {
				Tokens driver.Count `json:"token_count"`
			} `json:"statistics"`
		} `json:"embeddings"`
	} `json:"predictions"`
	Error jsontext.Value `json:"error"`
}

// Restore writes a response in OpenAI's form.
func (Driver) Restore(r *driver.Original, body []byte, model string) (driver.Restored, error) {
	body = unlisted(body)
	if r.Endpoint != driver.Embeddings {
		return gemini.Codec{Vertex: true}.Restore(r, body, model)
	}
	var in predictions
	if f := driver.ReadResponse(body, &in); f != nil {
		return driver.Restored{}, f
	}
	if in.Predictions == nil {
		return gemini.RestoreEmbeddings(body, model) // of batchEmbedContents, or an error
	}
	values, tokens, known := make([]jsontext.Value, len(in.Predictions)), int64(0), true
	for i := range in.Predictions {
		of := &in.Predictions[i].Embeddings
		values[i] = of.Values
		tokens += of.Statistics.Tokens.N
		known = known && of.Statistics.Tokens.Given && !driver.Counts{of.Statistics.Tokens}.Bad()
	}
	if !known {
		tokens = -1
	}
	return gemini.WriteEmbeddings(values, model, tokens)
}
