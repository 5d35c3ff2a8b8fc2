package discover_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/discover"
	"github.com/modelgateway/modelgateway/extproc/provider"
)

const key = "sk-canary"

// account returns a deployment whose provider is a server.
func account(t *testing.T, of string, handler http.HandlerFunc) *catalog.Deployment {
	t.Helper()
	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)
	base := srv.URL
	if of == "openai" {
		base += "/v1"
	}
	endpoint, path, err := catalog.ParseBase(base)
	if err != nil {
		t.Fatal(err)
	}
	return &catalog.Deployment{ID: "d", Provider: of, Model: "any", Endpoint: endpoint, BasePath: path, APIKey: vault.NewSecret(key)}
}

func finder(private bool) *discover.Finder {
	return discover.New(discover.Config{Providers: provider.Providers(), Private: private, Now: time.Now})
}

func TestModels(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		of     string
		header string            // with the credential
		pages  map[string]string // by path and query
		want   []string
	}{
		"openai": {
			"openai", "authorization",
			map[string]string{"/v1/models": `{"object":"list","data":[{"id":"gpt-4o"},{"id":"gpt-4.1"},{"id":"gpt-4o"}]}`},
			[]string{"gpt-4.1", "gpt-4o"},
		},
		"a list alone": {
			"together_ai", "authorization", map[string]string{"/models": ` [{"id":"meta/llama"}]`}, []string{"meta/llama"},
		},
		"ollama": {
			"ollama", "authorization", map[string]string{"/v1/models": `{"data":[{"id":"llama3:8b"}]}`}, []string{"llama3:8b"},
		},
		"mistral": {
			"mistral", "authorization", map[string]string{"/v1/models": `{"data":[{"id":"b"},{"id":"a"},{"id":"b"}]}`}, []string{"a", "b"},
		},
		"anthropic": {
			"anthropic", "x-api-key",
			map[string]string{
				"/v1/models?limit=1000":                   `{"data":[{"id":"claude-b"}],"has_more":true,"last_id":"claude-b"}`,
				"/v1/models?after_id=claude-b&limit=1000": `{"data":[{"id":"claude-a"}],"has_more":false,"last_id":"claude-a"}`,
			},
			[]string{"claude-a", "claude-b"},
		},
		"gemini": {
			"gemini", "x-goog-api-key",
			map[string]string{
				"/v1beta/models?pageSize=1000":             `{"models":[{"name":"models/gemini-2.5-pro"}],"nextPageToken":"n"}`,
				"/v1beta/models?pageSize=1000&pageToken=n": `{"models":[{"name":"models/gemini-2.5-flash"}]}`,
			},
			[]string{"gemini-2.5-flash", "gemini-2.5-pro"},
		},
		"elevenlabs": {
			"elevenlabs", "xi-api-key",
			map[string]string{"/v1/models": `[{"model_id":"eleven_v3","can_do_text_to_speech":true},{"model_id":"eleven_english_sts_v2","can_do_text_to_speech":false}]`},
			[]string{"eleven_v3"},
		},
		"deepgram": {
			"deepgram", "authorization",
			map[string]string{"/v1/models": `{"stt":[{"name":"nova-3","canonical_name":"nova-3-general","batch":true},{"name":"flux","canonical_name":"flux-general-en","batch":false}],
				"tts":[{"name":"thalia","canonical_name":"aura-2-thalia-en"}]}`},
			[]string{"aura-2-thalia-en", "nova-3-general"},
		},
		"bedrock with an API key": {
			"bedrock", "authorization",
			map[string]string{
				"/foundation-models":                  `{"modelSummaries":[{"modelId":"amazon.nova-lite-v1:0","inferenceTypesSupported":["ON_DEMAND"]}]}`,
				"/inference-profiles?maxResults=1000": `{"inferenceProfileSummaries":[]}`,
			},
			[]string{"amazon.nova-lite-v1:0"},
		},
		"azure with a key": {
			"azure", "api-key", map[string]string{"/openai/deployments?api-version=2022-12-01": `{"data":[{"id":"chat","status":"succeeded"}]}`}, []string{"chat"},
		},
		"cohere": {
			"cohere", "authorization",
			map[string]string{
				"/v1/models?page_size=1000":              `{"models":[{"name":"command-a"}],"next_page_token":"2"}`,
				"/v1/models?page_size=1000&page_token=2": `{"models":[{"name":"embed-v4"}]}`,
			},
			[]string{"command-a", "embed-v4"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := account(t, c.of, func(w http.ResponseWriter, r *http.Request) {
				page, ok := c.pages[r.URL.String()]
				if !ok || r.Method != http.MethodGet || !strings.HasSuffix(r.Header.Get(c.header), key) {
					http.Error(w, "no such page", http.StatusTeapot)
					return
				}
				_, _ = fmt.Fprint(w, page)
			})
			got, err := finder(true).Models(context.Background(), d)
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("the models are %v, error %v; want %v", got, err, c.want)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = fmt.Fprint(w, body)
		}
	}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		private bool
		code    string
	}{
		"the credential is rejected": {answer(401, `{"error":{"message":"Incorrect API key `+key+`"}}`), true, "upstream_auth_error"},
		"no such path":               {answer(404, `{"error":{"message":"Not found"}}`), true, "upstream_error"},
		"overloaded":                 {answer(503, ""), true, "upstream_error"},
		"no JSON":                    {answer(200, "<html>"), true, "upstream_invalid_response"},
		"no ids":                     {answer(200, `{"data":[{"name":"a"}]}`), true, "upstream_invalid_response"},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/v2/models", http.StatusFound)
		}, true, "upstream_invalid_response"},
		"a body without end": {func(w http.ResponseWriter, _ *http.Request) {
			for range 17 {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
		}, true, "upstream_invalid_response"},
		"a private address": {answer(200, `{"data":[]}`), false, "address_not_allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := finder(c.private).Models(context.Background(), account(t, "openai", c.handler))
			e := fault.From(err)
			if err == nil || e.Code != c.code || strings.Contains(err.Error(), key) || strings.Contains(e.Message(), "127.0.0.1") {
				t.Errorf("%v, error %v; want %s", got, err, c.code)
			}
			if e != nil && e.Kind == fault.Malformed {
				t.Error("the caller is blamed for a request that the gateway made")
			}
		})
	}
}

// Pages that never end are cut.
func TestEndlessPages(t *testing.T) {
	t.Parallel()
	n := 0
	d := account(t, "anthropic", func(w http.ResponseWriter, _ *http.Request) {
		n++
		_, _ = fmt.Fprintf(w, `{"data":[{"id":"m%d"}],"has_more":true,"last_id":"m%d"}`, n, n)
	})
	got, err := finder(true).Models(context.Background(), d)
	if err != nil || len(got) != n || n > 100 {
		t.Errorf("%d models of %d pages, error %v", len(got), n, err)
	}
}

func TestProvidersWithoutAList(t *testing.T) {
	t.Parallel()
	for _, of := range []string{"nobody", "voyage", "jina_ai"} {
		_, err := finder(true).Models(context.Background(), &catalog.Deployment{Provider: of})
		if fault.KindOf(err) != fault.Unsupported || !strings.HasPrefix(fault.From(err).Message(), of+" does not list its models; its documentation has their names") {
			t.Errorf("the error of %s is %v", of, err)
		}
	}
}
