package operation

import (
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/dataplane"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/texts"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// The paths of providers' own clients lead to operations, with the model that they name unescaped.
func TestNativePaths(t *testing.T) {
	t.Parallel()
	table := NewTable()
	const vertex = "/vertex_ai/v1/projects/p/locations/l/publishers/"
	for path, want := range map[string]struct {
		endpoint driver.Endpoint
		language wire.Dialect // of errors
		model    string
		streams  bool
		form     bool
	}{
		"/gemini/v1beta/models/a%2Fb:generateContent":       {driver.Contents, wire.Gemini, "a/b", false, false},
		"/v1beta/models/m:streamGenerateContent":            {driver.Contents, wire.Gemini, "m", true, false},
		"/bedrock/model/a%2Fb/converse":                     {driver.Converse, wire.Converse, "a/b", false, false},
		"/bedrock/model/m/converse-stream":                  {driver.Converse, wire.Converse, "m", true, false},
		"/bedrock/model/m/count-tokens":                     {driver.ConverseCount, wire.Converse, "m", false, false},
		"/v1beta/models/m:countTokens":                      {driver.ContentsCount, wire.Gemini, "m", false, false},
		"/v1beta/models/m:embedContent":                     {driver.Embeddings, wire.Gemini, "m", false, true},
		vertex + "google/models/m:predict":                  {driver.Embeddings, wire.Gemini, "m", false, true},
		vertex + "anthropic/models/c:streamRawPredict":      {driver.Messages, wire.Anthropic, "c", false, true},
		vertex + "anthropic/models/count-tokens:rawPredict": {driver.CountTokens, wire.Anthropic, "", false, true},
		"/bedrock/model/a%2Fb/invoke":                       {driver.Messages, wire.Anthropic, "a/b", false, true},
		"/bedrock/model/m/invoke-with-response-stream":      {driver.Messages, wire.Anthropic, "m", true, true},
		"/anthropic/v1/messages":                            {driver.Messages, wire.Anthropic, "", false, false},
		"/azure/openai/deployments/d/chat/completions":      {driver.Chat, wire.OpenAI, "d", false, false},
		"/cohere/v2/rerank":                                 {driver.Rerank, wire.Cohere, "", false, false},
		"/v2/rerank":                                        {driver.Rerank, wire.Cohere, "", false, false},
		"/v1/rerank":                                        {driver.Rerank, wire.OpenAI, "", false, false},
		"/cohere/v2/chat":                                   {driver.Turns, wire.Cohere, "", false, false},
		"/v2/chat":                                          {driver.Turns, wire.Cohere, "", false, false},
	} {
		m := table.At(path)
		if m.Operation == nil {
			t.Errorf("%s leads nowhere", path)
			continue
		}
		language := m.Language
		if m.Caller != nil {
			language = m.Caller
		}
		if m.Endpoint != want.endpoint || language.Name() != want.language || m.Model != want.model || m.PathStreams != want.streams || (m.Into != nil) != want.form {
			t.Errorf("%s: %s, %s, model %q, streams %v", path, m.Endpoint, language.Name(), m.Model, m.PathStreams)
		}
	}
	for _, path := range []string{"/chat", "/v1/chat", "/cohere/v1/chat", "/generateContent", "/embedContent", "/v1/generateContent", "predict/embeddings", "/gemini/v1beta/models/m:generateVideos"} {
		if m := table.At(path); m.Operation != nil {
			t.Errorf("%s leads to %s", path, m.CallType)
		}
	}
}

// Errors have the form of the client that sends to a path, also if nothing is there.
func TestErrorsHaveTheFormOfThePath(t *testing.T) {
	t.Parallel()
	table := NewTable()
	for path, sign := range map[string]string{
		"/gemini/v1beta/models/m:generateContent": `"status":"NOT_FOUND"`, "/gemini/v1beta/nothing": `"status":"NOT_FOUND"`, "/v1beta/models/m:embedContent": `"status":"NOT_FOUND"`,
		"/anthropic/v1/nothing": `"type":"not_found_error"`, "/vertex_ai/v1/projects/p/locations/l/publishers/anthropic/models/c:rawPredict": `"type":"not_found_error"`,
		"/bedrock/model/m/invoke": `"message":"The gateway does not support`, "/bedrock/model/m/converse": `"__type":"ResourceNotFoundException"`, "/bedrock/model/m/nothing": `"__type":"ResourceNotFoundException"`,
		"/cohere/v2/chat": `{"id":"req_1","message":"The gateway does not support`, "/cohere/v1/rerank": `{"id":"req_1","message":`, "/cohere/nothing": `{"id":"req_1","message":`,
		"/openai/v1/nothing": `"code":"unsupported_endpoint"`, "/nothing": `"code":"unsupported_endpoint"`,
	} {
		if body := string(table.At(path).ErrorBody(Unknown(path), path, "req_1")); !strings.Contains(body, sign) {
			t.Errorf("%s: %s", path, body)
		}
	}
	if e := Unknown("/cohere/v1/chat"); e.Kind != fault.NotFound || !strings.Contains(e.Detail, "/cohere/v2/chat") {
		t.Errorf("%v", e)
	}
}

func TestAsksForEvents(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]bool{"alt=sse": true, "key=a&alt=sse": true, "$alt=sse": true, "%24alt=sse": true, "": false, "alt=json": false, "xalt=sse": false} {
		if got := AsksForEvents(query); got != want {
			t.Errorf("%q: %v", query, got)
		}
	}
}

// Every row that names its model in the path alone has a reader.
func TestEveryNativeOperationHasItsReader(t *testing.T) {
	t.Parallel()
	table := NewTable()
	for _, o := range dataplane.Operations() {
		for _, template := range o.Templates() {
			path := strings.NewReplacer("{model}", "m", "{project}", "p", "{location}", "l").Replace(template)
			if m := table.At(path); m.Operation == nil || m.Scan == nil || m.Language == nil || (m.Texts == texts.Reader{}) {
				t.Errorf("%s lacks an operation or its reader", template)
			}
		}
	}
}
