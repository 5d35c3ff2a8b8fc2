package anthropic

import "github.com/modelgateway/modelgateway/extproc/splice"

// FromVertex returns a request of Anthropic's clients for Vertex AI as one of Anthropic's own: the version of the API stands
// in the body there, and the model in the path.
func FromVertex(body []byte, model string) ([]byte, error) {
	if err := splice.Valid(body); err != nil {
		return nil, err
	}
	o := splice.ReadObject(body)
	o.Remove("anthropic_version")
	if model != "" {
		o.Set("model", splice.Quote(nil, model))
	}
	return o.Append(nil), nil
}
