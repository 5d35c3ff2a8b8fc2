package bedrock_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/bedrock"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// original returns a request of an endpoint.
func original(t *testing.T, e driver.Endpoint, body string) *driver.Original {
	t.Helper()
	var facts splice.Request
	if err := splice.ScanModel([]byte(body), &facts); err != nil {
		t.Fatal(err)
	}
	return &driver.Original{Endpoint: e, Facts: &facts}
}

const (
	titan   = "amazon.titan-embed-text-v2:0"
	embedV4 = "us.cohere.embed-v4:0"
)

func TestRewrite(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		endpoint          driver.Endpoint
		model, body, want string // body, or ! and the field at fault
	}{
		{driver.Embeddings, titan, `{"model":"a","input":"x","dimensions":256,"encoding_format":"base64","user":"u","normalize":true,"tags":["t"]}`, `{"inputText":"x","dimensions":256,"normalize":true}`},
		{driver.Embeddings, titan, `{"model":"a","input":["x"]}`, `{"inputText":"x"}`},
		{driver.Embeddings, titan, `{"model":"a","input":["x","y"]}`, "! input"},
		{driver.Embeddings, titan, `{"model":"a","input":[1,2]}`, "! input[0]"},
		{driver.Embeddings, titan, `{"model":"a","input":"x","unheard_of":1}`, "! unheard_of"},
		{driver.Embeddings, "amazon.titan-embed-image-v1", `{"model":"a","input":"x","dimensions":384}`, `{"inputText":"x","embeddingConfig":{"outputEmbeddingLength":384}}`},
		{
			driver.Embeddings, "amazon.nova-2-multimodal-embeddings-v1:0", `{"model":"a","input":"x","dimensions":1024,"embeddingPurpose":"CLUSTERING"}`,
			`{"taskType":"SINGLE_EMBEDDING","singleEmbeddingParams":{"embeddingPurpose":"CLUSTERING","embeddingDimension":1024,"text":{"truncationMode":"END","value":"x"}}}`,
		},
		{
			driver.Embeddings, embedV4, `{"model":"a","input":["x","y"],"dimensions":512,"truncate":"RIGHT"}`,
			`{"texts":["x","y"],"input_type":"search_document","truncate":"RIGHT","output_dimension":512,"embedding_types":["float"]}`,
		},
		{driver.Embeddings, "cohere.embed-english-v3", `{"model":"a","input":"x","input_type":"search_query"}`, `{"texts":["x"],"input_type":"search_query","embedding_types":["float"]}`},
		{driver.Embeddings, embedV4, `{"model":"a","input":"x","input_type":1}`, "! input_type"},

		{
			driver.Images, "amazon.nova-canvas-v1:0", `{"model":"a","prompt":"p","n":2,"size":"1024x512","quality":"hd","response_format":"b64_json"}`,
			`{"taskType":"TEXT_IMAGE","textToImageParams":{"text":"p"},"imageGenerationConfig":{"numberOfImages":2,"width":1024,"height":512,"quality":"premium"}}`,
		},
		{
			driver.Images, "amazon.titan-image-generator-v2:0", `{"model":"a","prompt":"p","size":"auto","negative_prompt":"q","seed":7}`,
			`{"taskType":"TEXT_IMAGE","textToImageParams":{"text":"p","negativeText":"q"},"imageGenerationConfig":{"seed":7}}`,
		},
		{driver.Images, "stability.sd3-5-large-v1:0", `{"model":"a","prompt":"p","n":1,"size":"1792x1008","quality":"high","output_format":"png"}`, `{"prompt":"p","aspect_ratio":"16:9","output_format":"png"}`},
		{driver.Images, "stability.sd3-5-large-v1:0", `{"model":"a","prompt":"p","n":2}`, "! n"},
		{driver.Images, "stability.sd3-5-large-v1:0", `{"model":"a","prompt":"p","size":"100x90"}`, "! size"},
		{driver.Images, "amazon.nova-canvas-v1:0", `{"model":"a","prompt":"p","size":"large"}`, "! size"},
		{driver.Images, "amazon.nova-canvas-v1:0", `{"model":"a","prompt":"p","response_format":"url"}`, "! response_format"},
		{driver.Images, "amazon.nova-canvas-v1:0", `{"model":"a","prompt":1}`, "! prompt"},

		{
			driver.Rerank, "amazon.rerank-v1:0", `{"model":"a","query":"q","documents":["x",{"text":"y"},{"title":"z"}],"top_n":2,"return_documents":false}`,
			`{"queries":[{"type":"TEXT","textQuery":{"text":"q"}}],"sources":[{"type":"INLINE","inlineDocumentSource":{"type":"TEXT","textDocument":{"text":"x"}}},` +
				`{"type":"INLINE","inlineDocumentSource":{"type":"TEXT","textDocument":{"text":"y"}}},{"type":"INLINE","inlineDocumentSource":{"type":"JSON","jsonDocument":{"title":"z"}}}],` +
				`"rerankingConfiguration":{"type":"BEDROCK_RERANKING_MODEL","bedrockRerankingConfiguration":{"numberOfResults":2,` +
				`"modelConfiguration":{"modelArn":"arn:aws:bedrock:us-east-1::foundation-model/amazon.rerank-v1:0"}}}}`,
		},
		{driver.Rerank, "cohere.rerank-v3-5:0", `{"model":"a","query":"q","documents":"x"}`, "! documents"},
		{driver.Rerank, "cohere.rerank-v3-5:0", `{"model":"a","query":"q","documents":["x"],"rank_fields":["a"]}`, "! rank_fields"},
		{driver.CountTokens, "anthropic.claude-sonnet-4-20250514-v1:0", `{"model":"a","messages":[],"stream":true,"tags":["t"]}`, `{"input":{"invokeModel":{"body":"` + base64.StdEncoding.EncodeToString([]byte(`{"messages":[],"anthropic_version":"bedrock-2023-05-31","max_tokens":1}`)) + `"}}}`},
		{driver.CountTokens, sonnet, `{"max_tokens":9,"model":"a","service_tier":"auto"}`, `{"input":{"invokeModel":{"body":"` + base64.StdEncoding.EncodeToString([]byte(`{"max_tokens":9,"anthropic_version":"bedrock-2023-05-31"}`)) + `"}}}`},
	} {
		to := target(c.model)
		to.Features = bedrock.Features(c.model)
		got, err := bedrock.Driver{}.Rewrite(original(t, c.endpoint, c.body), to)
		field, fails := strings.CutPrefix(c.want, "! ")
		if e := fault.From(err); fails && (err == nil || e.Param != field || e.HTTPStatus() != 400) || !fails && err != nil {
			t.Errorf("%s: %v", c.body, err)
		} else if diff := cmp.Diff(c.want, string(got.Body)); !fails && diff != "" {
			t.Errorf("%s: (-want +got) %s", c.body, diff)
		}
		if fails && field == "unheard_of" {
			to.DropParams = true
			if _, err := (bedrock.Driver{}).Rewrite(original(t, c.endpoint, c.body), to); err != nil {
				t.Errorf("%s, dropped: %v", c.body, err)
			}
		}
	}
}

func TestRestore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		endpoint   driver.Endpoint
		body, want string // body, or ! and the failure's code
	}{
		{
			driver.Embeddings, `{"embedding":[0.5,-1e-3],"embeddingsByType":{"float":[0.5]},"inputTextTokenCount":3}`,
			`{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5,-1e-3]}],"model":"m","usage":{"prompt_tokens":3,"total_tokens":3}}`,
		},
		{driver.Embeddings, `{"embedding":[1],"inputTextTokenCount":-3}`, `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[1]}],"model":"m"}`},
		{
			driver.Embeddings, `{"embeddings":{"float":[[1],[2]]},"id":"x","response_type":"embeddings_by_type"}`,
			`{"object":"list","data":[{"object":"embedding","index":0,"embedding":[1]},{"object":"embedding","index":1,"embedding":[2]}],"model":"m"}`,
		},
		{driver.Embeddings, `{"embeddings":[[1]],"response_type":"embeddings_floats"}`, `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[1]}],"model":"m"}`},
		{driver.Embeddings, `{"embeddings":[{"embeddingType":"TEXT","embedding":[1]}]}`, `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[1]}],"model":"m"}`},
		{driver.Embeddings, `{"embeddings":[{}]}`, "! upstream_invalid_response"},
		{driver.Embeddings, `{}`, "! upstream_invalid_response"},
		{driver.Embeddings, `<html>`, "! upstream_invalid_response"},
		{driver.Embeddings, `{"message":"slow down","__type":"ThrottlingException"}`, "! upstream_rate_limited"},
		{driver.Images, `{"images":["AAAA","BBBB"],"error":null}`, `{"created":0,"data":[{"b64_json":"AAAA"},{"b64_json":"BBBB"}]}`},
		{driver.Images, `{"seeds":[1],"finish_reasons":[null],"images":["AAAA"]}`, `{"created":0,"data":[{"b64_json":"AAAA"}]}`},
		{driver.Images, `{"seeds":[1],"finish_reasons":["Filter reason: prompt"],"images":[null]}`, "! content_filter"},
		{driver.Images, `{"images":[],"error":"All of the generated images have been blocked by our content filters."}`, "! content_filter"},
		{driver.Images, `{"images":[]}`, "! upstream_invalid_response"},
		{driver.Rerank, `{"results":[{"index":1,"relevanceScore":0.75},{"index":0,"relevanceScore":1e-5}]}`, `{"results":[{"index":1,"relevance_score":0.75},{"index":0,"relevance_score":1e-5}]}`},
		{driver.Rerank, `{"results":[{"index":1}]}`, "! upstream_invalid_response"},
		{driver.Rerank, `{"results":[{"index":-1,"relevanceScore":1}]}`, "! upstream_invalid_response"},
		{driver.Rerank, `{"message":"no"}`, "! upstream_error"},
		{driver.CountTokens, `{"inputTokens":17}`, `{"input_tokens":17}`},
		{driver.CountTokens, `{"inputTokens":-1}`, "! upstream_invalid_response"},
		{driver.CountTokens, `{}`, "! upstream_invalid_response"},
		{driver.CountTokens, `{"message":"slow down","__type":"ThrottlingException"}`, "! upstream_rate_limited"},
	} {
		got, err := bedrock.Driver{}.Restore(&driver.Original{Endpoint: c.endpoint}, []byte(c.body), "m")
		code, fails := strings.CutPrefix(c.want, "! ")
		if !fails {
			if diff := cmp.Diff(c.want, string(got.Body)); diff != "" || err != nil {
				t.Errorf("%s: %v (-want +got) %s", c.body, err, diff)
			}
			continue
		}
		var f *wire.Failure
		if !errors.As(err, &f) || fault.From(f.Fault()).Code != code && (code != "upstream_error" || f.Code != "") {
			t.Errorf("%s: %v", c.body, err)
		}
	}
}
