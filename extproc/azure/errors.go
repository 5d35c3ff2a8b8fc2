package azure

import (
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// codeNoDeployment is the code of the failure of a deployment that the resource does not have.
const codeNoDeployment = "upstream_deployment_not_found"

// Classify reads errors of Azure's shape, which is mostly OpenAI's.
func (Driver) Classify(status int, header func(string) string, body []byte) *wire.Failure {
	return classify(status, header, body)
}

// classify finds what Azure's words mean where their status does not tell.
func classify(status int, header func(string) string, body []byte) *wire.Failure {
	var in struct {
		Error struct {
			Code  jsontext.Value `json:"code"`
			Inner struct {
				Code jsontext.Value `json:"code"`
			} `json:"inner_error"` // of pictures, in place of innererror
			Message jsontext.Value `json:"message"`
		} `json:"error"`
	}
	_ = driver.DecodeLoose(body, &in) // what could be read so far suffices
	code := driver.Text(in.Error.Code)
	switch {
	case status == http.StatusNotFound && (code == "DeploymentNotFound" || code == "404"), status == http.StatusGone && code != "",
		code == "unknown_model", code == "UnknownModel":
		// The caller's model is there: the gateway's configuration is wrong, or the model was retired.
		return &wire.Failure{
			Status: status, Kind: fault.Unavailable, Code: codeNoDeployment, Type: "upstream_error", ProviderCode: code,
			Message: "The provider has no such deployment, or not this version of its API.", Retryable: true, CoolDown: true,
		}
	case status == http.StatusBadRequest && (code == "contentFilter" || driver.Text(in.Error.Inner.Code) == "ResponsibleAIPolicyViolation"):
		p := driver.Problem{Status: status, Code: "content_filter", Message: driver.Text(in.Error.Message), Param: "prompt"}
		return p.Failure()
	}
	return driver.Classify(status, header, body)
}
