package vertex

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/gemini"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// codeNoDeployment is the code of the failure of a model that the project or the location does not have.
const codeNoDeployment = "upstream_deployment_not_found"

// Classify reads errors of Google's shape, and of the shapes of those whose models it serves.
func (Driver) Classify(status int, header func(string) string, body []byte) *wire.Failure {
	var in struct {
		Type    string         `json:"type"`
		Message jsontext.Value `json:"message"`
		Error   struct {
			Message jsontext.Value `json:"message"`
			Status  string         `json:"status"`
		} `json:"error"`
	}
	_ = driver.DecodeLoose(unlisted(body), &in) // what could be read so far suffices
	said := strings.ToLower(driver.Text(in.Error.Message))
	about := strings.Contains(said, "publisher model") || strings.Contains(said, "endpoint")
	switch {
	case in.Type == "error" || driver.Text(in.Message) != "": // Anthropic's, and Mistral's
		return driver.Classify(status, header, body)
	case status == http.StatusNotFound && (said == "" || about), status == http.StatusBadRequest && in.Error.Status == "FAILED_PRECONDITION" && about:
		// The caller's model is there: the gateway's configuration is wrong, or the location does not have the model.
		return &wire.Failure{
			Status: status, Kind: fault.Unavailable, Code: codeNoDeployment, Type: "upstream_error", ProviderType: in.Error.Status,
			Message: "The provider does not have the model in this project and location.", Retryable: true, CoolDown: true,
		}
	}
	return gemini.Driver{}.Classify(status, header, unlisted(body))
}

// unlisted returns the first element of a list, in which streams without alt=sse and some errors come.
func unlisted(body []byte) []byte {
	body = bytes.TrimSpace(body)
	var list []jsontext.Value
	if len(body) > 0 && body[0] == '[' && driver.DecodeLoose(body, &list) == nil && len(list) > 0 {
		return list[0]
	}
	return body
}
