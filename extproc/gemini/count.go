package gemini

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
)

// counted is a request of countTokens as the Gemini API has it: what would be sent, with the model.
type counted struct {
	Of struct {
		request

		Model string `json:"model"`
	} `json:"generateContentRequest"`
}

// count writes a request for a count of tokens. Parameters that the provider lacks change no count, so they are left out.
func (c Codec) count(r *driver.Original, t driver.Target) ([]byte, error) {
	prompt, err := r.Prompt()
	if err != nil {
		return nil, err
	}
	prompt.MaxTokens, t.DropParams = nil, true
	in, err := c.build(prompt, t, false)
	if err != nil {
		return nil, err
	}
	in.ToolConfig, in.Safety, in.Labels, in.ServiceTier = nil, nil, nil, ""
	schema := &in.Generation // which is read; the rest is not
	in.Generation = generationConfig{MimeType: schema.MimeType, Schema: schema.Schema, JSONSchema: schema.JSONSchema}
	var out any = in
	if !c.Vertex {
		var whole counted
		whole.Of.request = *in
		if whole.Of.Model, err = ModelPath(t.Model); err != nil {
			return nil, err
		}
		out = &whole
	}
	body, err := json.Marshal(out)
	if err != nil {
		return nil, fault.From(err)
	}
	return body, nil
}

// restoreCount writes a count in the caller's form.
func restoreCount(r *driver.Original, body []byte) (driver.Restored, error) {
	var in struct {
		Total driver.Count   `json:"totalTokens"`
		Error jsontext.Value `json:"error"`
	}
	if f := driver.ReadResponse(body, &in); f != nil {
		return driver.Restored{}, f
	}
	switch {
	case driver.Given(in.Error):
		return driver.Restored{}, failureIn(body)
	case !in.Total.Given || driver.Counts{in.Total}.Bad():
		return driver.Restored{}, driver.InvalidResponse("has no count of tokens")
	}
	if r.Endpoint == driver.ContentsCount { // the caller's form is Google's
		return driver.Restored{Body: body}, nil
	}
	return driver.Restored{Body: driver.TokenCount(r.Endpoint, in.Total.N)}, nil
}
