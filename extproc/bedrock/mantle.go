package bedrock

import (
	"net/http"
	"strings"
	"time"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/anthropic"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Mantle is the driver of Bedrock's endpoint that has OpenAI's and Anthropic's APIs and nothing else. Its ids of
// models have no versions after a colon.
type Mantle struct{}

// mantleService is the name that requests to Mantle are signed for.
const mantleService = "bedrock-mantle"

// Serves returns the language of a model: Anthropic's of Claude, and OpenAI's of others.
func (Mantle) Serves(t driver.Target, e driver.Endpoint) (wire.Dialect, bool) {
	n, err := parse(t.Model)
	if err != nil && t.Model != "" {
		return wire.OpenAI, e.IsChat() // Address says what is wrong
	}
	f := n.familyOf(t)
	switch {
	case e.IsChat() && (t.API == driver.ConverseAPI || t.API == driver.InvokeAPI || !n.take(t.API)):
		return "", false
	case f.isClaude():
		return anthropic.Driver{}.Serves(t, e)
	case !e.IsChat() || !f.converses():
		return "", false
	case n.route == routeOpenAI:
		return wire.OpenAI, true
	case n.route == routeResponses, f.responds, f.mantle && e == driver.Responses:
		return wire.Responses, true
	}
	return wire.OpenAI, true
}

// Codec returns the translator of a language.
func (Mantle) Codec(language wire.Dialect) driver.Codec {
	switch language { //nolint:exhaustive // the languages that Serves returns
	case wire.Anthropic:
		return messagesCodec{}
	case wire.Responses:
		return responsesCodec{}
	}
	return chatCodec{}
}

// messagesCodec translates to Anthropic's language.
type messagesCodec struct{ anthropic.Driver }

// Encode writes a request.
func (c messagesCodec) Encode(in *wire.Request, t driver.Target) ([]byte, error) {
	return c.Driver.Encode(in, withID(t))
}

// Address returns the endpoint of a language. Models that have responses alone have them under a path of their own.
func (m Mantle) Address(t driver.Target, op driver.Operation) (driver.Call, error) {
	language, ok := m.Serves(t, op.Endpoint)
	if !ok {
		return driver.Call{}, driver.NotServed(vendor)
	}
	n, err := checked(t)
	if err != nil {
		return driver.Call{}, err
	}
	root := mantleRoot(t.BasePath)
	var path string
	headers := ownHeaders(t)
	switch {
	case language == wire.Anthropic:
		call, err := anthropic.Driver{}.Address(driver.Target{BasePath: root + "/anthropic"}, op)
		if err != nil {
			return driver.Call{}, err
		}
		path, headers = call.Path, append(headers, call.Headers...)
	case n.familyOf(t).responds:
		path = root + "/openai/v1" + endpointOf(language)
	default:
		path = root + "/v1" + endpointOf(language)
	}
	return driver.Call{Path: path, Headers: driver.WithHeaders(headers, t.Headers), Bare: true}, nil
}

// endpointOf returns the end of the path of one of OpenAI's languages.
func endpointOf(language wire.Dialect) string {
	if language == wire.Responses {
		return string(driver.Responses)
	}
	return string(driver.Chat)
}

// mantleRoot returns a base path without what operators copy of an address: the endpoint of a language.
func mantleRoot(base string) string {
	base = strings.TrimRight(base, "/") + "/"
	for _, begin := range [...]string{"/anthropic/", "/openai/v1/", "/v1/"} {
		base, _, _ = strings.Cut(base, begin)
	}
	return strings.TrimRight(base, "/")
}

// InsteadOfModel returns the id of the model, if its name has more.
func (Mantle) InsteadOfModel(t driver.Target, _ driver.Endpoint, _ *driver.Asked) driver.Instead {
	return insteadOfModel(t)
}

// VendorHeader passes what clients of the languages send.
func (Mantle) VendorHeader(_, value string, _ driver.Endpoint) string { return value }

// Sign adds the signature of a call.
func (Mantle) Sign(c *driver.Call, t driver.Target, host string, at time.Time) error {
	return sign(c, t, host, mantleService, at)
}

// Classify reads errors in the shapes of OpenAI, Anthropic and AWS. That a model has another path is no error of the
// caller.
func (Mantle) Classify(status int, header func(string) string, body []byte) *wire.Failure {
	f := Driver{}.Classify(status, header, body)
	if status == http.StatusBadRequest && strings.Contains(f.Message, "supported on this route") {
		p := driver.Problem{Status: http.StatusNotFound, Message: f.Message}
		return p.Failure()
	}
	return f
}

// MantleBase returns the address of Mantle in a model's region.
func MantleBase(model string, s cloud.Settings) (string, error) {
	n, err := parse(model)
	if err != nil {
		return "", inModel(err)
	}
	region, err := regionOf(&n, s)
	if err != nil {
		return "", err
	}
	if region == "" {
		return "", regionMissing()
	}
	if of := partitionOf(region).name; of != "aws" && of != "aws-us-gov" {
		return "", fault.Field(cloud.AWSRegion, codeModel, "The address of %s's endpoint Mantle in the partition %s is not known; write it as api_base.", vendor, of)
	}
	return "https://bedrock-mantle." + region + ".api.aws", nil
}
