package mgmt

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	"github.com/modelgateway/modelgateway/mgmt/rest"
	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// Every route leads to its operation with the parameters in its path, whatever other patterns
// the path matches.
func TestRoutesLeadToTheirOperations(t *testing.T) {
	s, _ := newFake(t)
	s.operations.Rules = lax{}
	var reached string
	var got proto.Message
	for name, op := range s.operations.All {
		replace(t, s, name, func(_ context.Context, in proto.Message) (proto.Message, error) {
			reached, got = name, in
			return op.Output.New().Interface(), nil
		})
	}
	for _, r := range surface.Routes() {
		if _, ok := s.operations.All[r.RPC]; !ok {
			continue
		}
		path, values := r.Path, map[string]string{}
		_, names := rest.Pattern(r.Path)
		for _, name := range names {
			value := "a.b:c@d"
			if strings.Contains(path, "{"+name+"=**}") {
				value = "vendor/some-model:v2"
			}
			values[name] = value
			path = strings.NewReplacer("{"+name+"}", value, "{"+name+"=**}", value).Replace(path)
		}
		body := ""
		if r.Body {
			body = "{}"
		}
		reached = ""
		if a := ask(t, s, r.Method+" "+path, body, nil); a.status != http.StatusOK || reached != r.RPC {
			t.Errorf("%s %s reached %q, not %s: %d %s", r.Method, path, reached, r.RPC, a.status, a.body)
			continue
		}
		for name, value := range values {
			m := got.ProtoReflect()
			if has := m.Get(m.Descriptor().Fields().ByName(protoreflect.Name(name))).String(); has != value {
				t.Errorf("%s %s: %s is %q", r.Method, path, name, has)
			}
		}
		if r.Method == http.MethodGet { // HEAD is GET without the body
			if a := ask(t, s, http.MethodHead+" "+path, "", nil); a.status != http.StatusOK {
				t.Errorf("HEAD %s: %d", path, a.status)
			}
		}
	}
}

// A path that exists with other methods lists them; no client is redirected.
func TestMethodsThatAPathDoesNotTake(t *testing.T) {
	s, _ := newFake(t)
	for target, allow := range map[string]string{
		"DELETE /fallbacks":   "[GET POST]",
		"PUT /fallback":       "[GET POST]",
		"GET /key/generate":   "[POST]",
		"POST /key/info":      "[GET]",
		"DELETE /team/x":      "[PATCH]",
		"POST /openapi.json":  "[GET]",
		"PATCH /cluster/nope": "[]",
		"GET /fallbacks/":     "[]",
		"GET /guardrail/":     "[]",
	} {
		a := ask(t, s, target, "", nil)
		want := http.StatusMethodNotAllowed
		if allow == "[]" {
			want = http.StatusNotFound
		}
		if a.status != want || want == http.StatusMethodNotAllowed && fmt.Sprint(a.header.Values("Allow")) != allow {
			t.Errorf("%s: %d %v", target, a.status, a.header.Values("Allow"))
		}
	}
}

// TestUnknownPaths checks that the response to a misspelt path names the nearest one, and that
// the response to a known endpoint of other APIs says that it is not supported.
func TestUnknownPaths(t *testing.T) {
	s, _ := newFake(t)
	for target, want := range map[string]struct{ code, nearest, says string }{
		"POST /v1/chat/completion":           {"not_found", "/v1/chat/completions", "Did you mean /v1/chat/completions?"},
		"POST /v2/chat/completions":          {"not_found", "/v1/chat/completions", "/v2/chat/completions"},
		"POST /key/generat":                  {"not_found", "/key/generate", "/key/generat."},
		"GET /modle/info":                    {"not_found", "/model/info", "Did you mean"},
		"GET /nothing/like/it":               {"not_found", "", "GET /openapi.json"},
		"GET /" + strings.Repeat("x", 4000):  {"not_found", "", "…"},
		"GET /fallbacks/":                    {"not_found", "/fallbacks", "/fallbacks/"},
		"POST /v1/batches":                   {"unsupported_endpoint", "", "/v1/chat/completions"},
		"POST /batches":                      {"unsupported_endpoint", "", "/batches"},
		"GET /v1/files/file-1/content":       {"unsupported_endpoint", "", "/v1/files/file-1/content"},
		"POST /v1/assistants":                {"unsupported_endpoint", "", "/v1/assistants"},
		"POST /v1/threads/runs":              {"unsupported_endpoint", "", "/v1/chat/completions"},
		"POST /openai/deployments/x/batches": {"unsupported_endpoint", "", "/openai/deployments/x"},
		"POST /openai/v1/batches":            {"unsupported_endpoint", "", "/openai/v1/responses"},
	} {
		a := ask(t, s, target, "", nil)
		var body struct {
			Error map[string]any `json:"error"`
		}
		if err := json.Unmarshal([]byte(a.body), &body); err != nil {
			t.Fatal(err)
		}
		failed := body.Error
		details, _ := failed["details"].(map[string]any)
		if text := fmt.Sprint(failed["message"]); a.status != http.StatusNotFound || failed["code"] != want.code || !strings.Contains(text, want.says) || len(text) > 700 {
			t.Errorf("%.80s: %d %v %s", target, a.status, failed["code"], text)
		}
		if near, _ := details["nearest"].(string); near != want.nearest {
			t.Errorf("%.80s: nearest is %q", target, near)
		}
		if _, ok := details["supported"]; ok != (want.code == "unsupported_endpoint") {
			t.Errorf("%.80s: %v", target, details)
		}
	}
}

// take replaces the method of an operation by one that keeps its request.
func take(t *testing.T, s *Server, name string, to *proto.Message) {
	t.Helper()
	out := s.operations.All[name].Output
	replace(t, s, name, func(_ context.Context, in proto.Message) (proto.Message, error) {
		*to = in
		return out.New().Interface(), nil
	})
}

func TestParametersInTwoPlaces(t *testing.T) {
	s, _ := newFake(t)
	var got proto.Message
	take(t, s, gatewayv1.KeyService_RegenerateKey_FullMethodName, &got)
	take(t, s, gatewayv1.FallbackService_GetFallback_FullMethodName, &got)
	const key = "sk-0123456789abcdef"
	for _, c := range []struct{ target, body, want string }{
		{"POST /key/" + key + "/regenerate", ``, ""},
		{"POST /key/" + key + "/regenerate", `{}`, ""},
		{"POST /key/" + key + "/regenerate", `{"key":null}`, ""},
		{"POST /key/" + key + "/regenerate", `{"key":"` + key + `"}`, ""},
		{"POST /key/" + key + "/regenerate", `{"key":"sk-another-one-0123"}`, "invalid_value key"},
		{"POST /key/regenerate?key=" + key, `{"key":"` + key + `"}`, ""},
		{"POST /key/regenerate?key=" + key, `{"key":"sk-another-one-0123"}`, "invalid_value key"},
		{"POST /key/regenerate?key=" + key, `{}`, "unknown_parameter key"},
		{"POST /key/regenerate?key=" + key + "&key=" + key, `{"key":"` + key + `"}`, "invalid_value key"},
		{"GET /fallbacks/a/b?model=a/b", ``, ""},
		{"GET /fallbacks/a/b?model=a", ``, "invalid_value model"},
	} {
		a := ask(t, s, c.target, c.body, nil)
		if c.want == "" && a.status != http.StatusOK || c.want != "" && (a.status != http.StatusUnprocessableEntity || a.refusal(t) != c.want) {
			t.Errorf("%s %s: %d %s", c.target, c.body, a.status, a.body)
		}
		if in, ok := got.(*gatewayv1.RegenerateKeyRequest); ok && c.want == "" && in.GetKey() != key {
			t.Errorf("%s %s: %v", c.target, c.body, in)
		}
	}
}

// A null, and an empty list or object, clears a field if the message can clear; elsewhere null
// is the same as a missing field.
func TestClears(t *testing.T) {
	s, _ := newFake(t)
	var got proto.Message
	for _, name := range []string{
		gatewayv1.KeyService_UpdateKey_FullMethodName, gatewayv1.KeyService_BulkUpdateKeys_FullMethodName,
		gatewayv1.ModelService_UpdateModel_FullMethodName, gatewayv1.ConfigService_UpdateConfig_FullMethodName,
		gatewayv1.ConfigService_UpdateConfigField_FullMethodName, gatewayv1.KeyService_GenerateKey_FullMethodName,
	} {
		take(t, s, name, &got)
	}
	for _, c := range []struct{ target, body, want string }{
		{"POST /key/update", `{"key":"k","models":[],"key_alias":null,"metadata":{},"aliases":{},"max_budget":0}`, `{"key":"k","clear":["aliases","key_alias","metadata","models"],"max_budget":0}`},
		{"POST /key/update", `{"key":"k","clear":["tags"],"models":null,"if_revision":null}`, `{"key":"k","clear":["tags","models"]}`},
		{"POST /key/update", `{"key":"k","clear":null}`, `{"key":"k"}`},
		{"POST /key/update", `{"key":"k","clear":[]}`, `{"key":"k"}`},
		{"POST /key/bulk_update", `{"keys":[{"key":"k","models":[]},{"key":"l"}]}`, `{"keys":[{"key":"k","clear":["models"]},{"key":"l"}]}`},
		{"POST /model/update", `{"model_id":"m","gateway_params":{"rpm":null,"tpm":5,"extra_headers":{}},"model_info":null}`, `{"model_id":"m","gateway_params":{"tpm":5},"clear":["gateway_params.extra_headers","gateway_params.rpm","model_info"]}`},
		{"POST /config/update", `{"router_settings":{"fallbacks":[],"timeout":null}}`, `{"router_settings":{"fallbacks":[]}}`},
		{"POST /config/field/update", `{"field_name":"timeout","field_value":null}`, `{"field_name":"timeout","field_value":null}`},
		{"POST /key/generate", `{"models":[],"key_alias":null,"metadata":{}}`, `{"metadata":{}}`},

		{"POST /key/update", `{"key":"k","clear":["nope"]}`, "unknown_field clear[0]"},
		{"POST /key/update", `{"key":"k","clear":["tags","clear"]}`, "unknown_field clear[1]"},
		{"POST /key/update", `{"key":"k","clear":["if_revision"]}`, "unknown_field clear[0]"},
		{"POST /key/update", `{"key":"k","clear":["metadata.x"]}`, "unknown_field clear[0]"},
		{"POST /key/update", `{"key":"k","clear":["tags"],"tags":["a"]}`, "invalid_value clear[0]"},
		{"POST /key/update", `{"key":"k","clear":"tags"}`, "invalid_type clear"},
		{"POST /key/bulk_update", `{"keys":[{"key":"k","clear":["nope"]}]}`, "unknown_field keys[0].clear[0]"},
		{"POST /model/update", `{"model_id":"m","clear":["gateway_params.nope"]}`, "unknown_field clear[0]"},
		{"POST /model/update", `{"model_id":"m","clear":["model_name.x"]}`, "unknown_field clear[0]"},
		{"POST /model/update", `{"model_id":"m","clear":["gateway_params.rpm"],"gateway_params":{"rpm":1}}`, "invalid_value clear[0]"},
	} {
		got = nil
		a := ask(t, s, c.target, c.body, nil)
		if !strings.HasPrefix(c.want, "{") {
			if a.status != http.StatusUnprocessableEntity || a.refusal(t) != c.want {
				t.Errorf("%s %s: %d %s, want %s", c.target, c.body, a.status, a.body, c.want)
			}
			continue
		}
		if got == nil {
			t.Errorf("%s %s: %d %s", c.target, c.body, a.status, a.body)
			continue
		}
		want := got.ProtoReflect().New().Interface()
		if err := protojson.Unmarshal([]byte(c.want), want); err != nil {
			t.Fatal(err)
		}
		if !proto.Equal(got, want) {
			t.Errorf("%s %s: %v, want %v", c.target, c.body, got, want)
		}
	}
}

// If-Match is if_revision, and an operation that cannot be conditional rejects a condition.
func TestPreconditions(t *testing.T) {
	s, _ := newFake(t)
	var got proto.Message
	for _, name := range []string{
		gatewayv1.KeyService_UpdateKey_FullMethodName, gatewayv1.KeyService_GenerateKey_FullMethodName, gatewayv1.KeyService_ListKeys_FullMethodName,
	} {
		take(t, s, name, &got)
	}
	const update = `{"key":"k","blocked":true}`
	for _, c := range []struct {
		target, body string
		match        []string
		want         string
	}{
		{"POST /key/update", update, nil, "0"},
		{"POST /key/update", update, []string{`"42"`}, "42"},
		{"POST /key/update", update, []string{`W/"42"`}, "42"},
		{"POST /key/update", update, []string{`*`}, "0"},
		{"POST /key/update", `{"key":"k","if_revision":42}`, []string{`"42"`}, "42"},
		{"POST /key/update", `{"key":"k","if_revision":42}`, []string{`*`}, "42"},
		{"GET /key/list", ``, []string{`"42"`}, "0"},
		{"POST /key/update", `{"key":"k","if_revision":41}`, []string{`"42"`}, "invalid_value If-Match"},
		{"POST /key/update", update, []string{`42`}, "invalid_value If-Match"},
		{"POST /key/update", update, []string{`"42", "43"`}, "invalid_value If-Match"},
		{"POST /key/update", update, []string{`"42"`, `"43"`}, "invalid_value If-Match"},
		{"POST /key/update", update, []string{`"0"`}, "invalid_value If-Match"},
		{"POST /key/update", update, []string{`"-1"`}, "invalid_value If-Match"},
		{"POST /key/update", update, []string{`"99999999999999999999"`}, "invalid_value If-Match"},
		{"POST /key/update", update, []string{``}, "invalid_value If-Match"},
		{"POST /key/generate", `{}`, []string{`"42"`}, "unsupported_parameter If-Match"},
	} {
		got = nil
		a := ask(t, s, c.target, c.body, func(r *http.Request) { r.Header["If-Match"] = c.match })
		if got == nil {
			if a.status != http.StatusUnprocessableEntity || a.refusal(t) != c.want || !strings.Contains(a.body, `"loc":["header","If-Match"]`) {
				t.Errorf("%s %s %v: %d %s, want %s", c.target, c.body, c.match, a.status, a.body, c.want)
			}
			continue
		}
		in, _ := got.(interface{ GetIfRevision() float64 })
		if has := "0"; in != nil && fmt.Sprint(in.GetIfRevision()) != c.want || in == nil && has != c.want {
			t.Errorf("%s %s %v: %v, want %s", c.target, c.body, c.match, got, c.want)
		}
	}
}

// A response that is one record has its revision as ETag.
func TestAnswersHaveAnETag(t *testing.T) {
	s, _ := newFake(t)
	answers := map[string]proto.Message{
		gatewayv1.KeyService_GetKey_FullMethodName:       &gatewayv1.GetKeyResponse{Key: "x", Info: &gatewayv1.KeyRecord{Revision: 42}},
		gatewayv1.KeyService_UpdateKey_FullMethodName:    &gatewayv1.KeyRecord{Revision: 43},
		gatewayv1.KeyService_BlockKey_FullMethodName:     &gatewayv1.KeyRecord{},
		gatewayv1.KeyService_GetKeys_FullMethodName:      &gatewayv1.GetKeysResponse{Info: []*gatewayv1.KeyRecord{{Revision: 44}}},
		gatewayv1.ConfigService_GetConfig_FullMethodName: &gatewayv1.GetConfigResponse{Revision: 45},
	}
	for name, answer := range answers {
		replace(t, s, name, func(context.Context, proto.Message) (proto.Message, error) { return answer, nil })
	}
	for target, want := range map[string]string{
		"GET /key/info": `"42"`, `POST /key/update {"key":"k"}`: `"43"`, `POST /key/block {"key":"k"}`: "", `POST /v2/key/info {"keys":["k"]}`: "", "GET /config": `"45"`,
	} {
		path, body, _ := strings.Cut(target, " {")
		if body != "" {
			body = "{" + body
		}
		a := ask(t, s, path, body, nil)
		if a.status != http.StatusOK || a.header.Get("ETag") != want || a.header.Get(operation.HeaderRevision) != "41" {
			t.Errorf("%s: %d %v %s", target, a.status, a.header, a.body)
		}
	}
}

// The response lists several problems together, the first one as the error.
func TestSeveralProblems(t *testing.T) {
	s, _ := newFake(t)
	replace(t, s, gatewayv1.KeyService_GetKey_FullMethodName, func(context.Context, proto.Message) (proto.Message, error) {
		return nil, &manyError{[]error{fault.Field("a", "x", "A."), fault.Field("b", "y", "B.")}}
	})
	a := ask(t, s, "GET /key/info", "", nil)
	want := `"detail":[{"type":"x","loc":["query","a"],"msg":"A."},{"type":"y","loc":["query","b"],"msg":"B."}]`
	if a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, want) || !strings.Contains(a.body, `"message":"A."`) {
		t.Errorf("%d %s", a.status, a.body)
	}
}

type manyError struct{ all []error }

func (e *manyError) Error() string   { return "several" }
func (e *manyError) Unwrap() []error { return e.all }
