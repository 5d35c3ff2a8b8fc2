package bootstrap

import (
	"bytes"
	_ "embed"
	"fmt"
	"text/template"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/envoy/contract"
)

// page is the template. It is YAML and not JSON because of its comments, which stay in the file
// that Envoy reads.
//
//go:embed envoy.yaml.tmpl
var page string

// Render renders the bootstrap of one Envoy as YAML. Errors are *fault.Error and name the field
// of c. Equal configurations give equal bytes.
func Render(c Config) ([]byte, error) {
	c = c.withDefaults()
	if err := c.check(); err != nil {
		return nil, err
	}
	local, err := replies()
	if err != nil {
		return nil, err
	}
	t, err := template.New("envoy").Option("missingkey=error").Funcs(template.FuncMap{"q": quote}).Parse(page)
	if err != nil {
		return nil, fmt.Errorf("parse bootstrap template: %w", err)
	}
	var out bytes.Buffer
	err = t.Execute(&out, fields{
		Config: c, Replies: local,
		Processor: contract.ClusterProcessor, Bodies: contract.ClusterBodies, Processors: []string{contract.ClusterProcessor, contract.ClusterBodies}, Gateway: contract.ClusterGateway, GRPC: contract.ClusterGRPC,
		Listener: contract.Listener, RouteConfig: contract.RouteConfig,
		Management: contract.ListenerManagement, GRPCPath: contract.GRPCPath,
		FilterProcessor: contract.FilterProcessor, RequestID: contract.AttrRequestID,
		MetadataPlan: contract.MetadataPlan, AttemptLog: contract.AttemptLog,
		StreamEndModule: contract.StreamEndModule, FilterStreamEnd: contract.FilterStreamEnd,
		FilterStreamCut:    contract.FilterStreamCut,
		AttachModule:       contract.AttachModule,
		FilterAttach:       contract.FilterAttach,
		FilterLink:         contract.FilterLink,
		Links:              contract.ListenerLinks,
		FilterPlainID:      contract.FilterPlainID,
		ResponseAttributes: contract.ResponseAttributes(),
		AttemptHeaders:     contract.AttemptHeaders(),
	})
	if err != nil {
		return nil, fmt.Errorf("render bootstrap: %w", err)
	}
	return out.Bytes(), nil
}

// fields are the variables of the template.
type fields struct {
	Config

	Replies                  []reply
	Processor, Gateway, GRPC string
	Bodies                   string
	Processors               []string
	Listener, RouteConfig    string
	Management, GRPCPath     string
	FilterProcessor          string
	RequestID                string
	MetadataPlan, AttemptLog string
	StreamEndModule          string
	FilterStreamEnd          string
	FilterStreamCut          string
	FilterPlainID            string
	AttachModule, Links      string
	FilterAttach, FilterLink string
	ResponseAttributes       []string
	AttemptHeaders           []string
}

// quote converts any text to one YAML scalar. JSON strings are valid double-quoted YAML
// scalars. Invalid UTF-8 is an error, because a changed path would be another path.
func quote(v any) (string, error) {
	text, ok := v.(string)
	if !ok {
		d, isDuration := v.(time.Duration)
		if !isDuration {
			return "", fmt.Errorf("cannot quote a %T", v)
		}
		text = seconds(d)
	}
	b, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		return "", fmt.Errorf("not UTF-8 text: %w", err)
	}
	return string(b), nil
}
