package googleembed_test

import (
	"errors"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/googleembed"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// The forms of embeddings become OpenAI's, and come back.
func TestEmbeddingForms(t *testing.T) {
	t.Parallel()
	const reply = `{"data":[{"embedding":[1,2]},{"embedding":[3]}],"usage":{"prompt_tokens":7}}`
	for _, c := range []struct {
		form               googleembed.Form
		body, want, answer string
	}{
		{
			googleembed.EmbedContent, `{"model":"models/x","content":{"parts":[{"text":"a"},{"text":"b"}]},"task_type":"RETRIEVAL_QUERY","outputDimensionality":8}`,
			`{"model":"m","input":["a\nb"],"dimensions":8,"google_embedding":{"task_type":"RETRIEVAL_QUERY"}}`,
			`{"embedding":{"values":[1,2]},"usageMetadata":{"promptTokenCount":7}}`,
		},
		{
			googleembed.EmbedContent, `{"content":{"parts":[{"text":"a"}]},"embedContentConfig":{"title":"t","taskType":"CLUSTERING"}}`,
			`{"model":"m","input":["a"],"google_embedding":{"task_type":"CLUSTERING","title":"t"}}`,
			`{"embedding":{"values":[1,2]},"usageMetadata":{"promptTokenCount":7}}`,
		},
		{
			googleembed.BatchEmbedContents, `{"requests":[{"content":{"parts":[{"text":"a"}]}},{"content":{"parts":[{"text":"b"}]}}]}`,
			`{"model":"m","input":["a","b"]}`,
			`{"embeddings":[{"values":[1,2]},{"values":[3]}],"usageMetadata":{"promptTokenCount":7}}`,
		},
		{
			googleembed.Predict, `{"instances":[{"content":"a","task_type":"CLUSTERING"},{"content":"b","task_type":"CLUSTERING"}],"parameters":{"outputDimensionality":3}}`,
			`{"model":"m","input":["a","b"],"dimensions":3,"google_embedding":{"task_type":"CLUSTERING"}}`,
			`{"predictions":[{"embeddings":{"statistics":{"truncated":false,"token_count":0},"values":[1,2]}},{"embeddings":{"statistics":{"truncated":false,"token_count":0},"values":[3]}}]}`,
		},
	} {
		got, err := c.form.Into([]byte(c.body), "m")
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v", c.body, got, err)
		}
		if answer, err := c.form.Outof([]byte(reply)); err != nil || string(answer) != c.answer {
			t.Errorf("%s: %s, %v", c.body, answer, err)
		}
	}
}

// Each error of an embedding names its field.
func TestEmbeddingFormsReject(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]struct {
		form  googleembed.Form
		param string
	}{
		`{}`:                              {googleembed.EmbedContent, "content"},
		`{"content":{"parts":[]}}`:        {googleembed.EmbedContent, "content"},
		`{"content":{"parts":[{"x":1}]}}`: {googleembed.EmbedContent, "content.parts[0]"},
		`{"content":{"parts":[{"text":"a"}]},"outputDimensionality":0}`: {googleembed.EmbedContent, "outputDimensionality"},
		`{"requests":[]}`: {googleembed.BatchEmbedContents, "requests"},
		`{"requests":[{"content":{"parts":[{"text":"a"}]}},{}]}`:                                               {googleembed.BatchEmbedContents, "requests[1].content"},
		`{"requests":[{"content":{"parts":[{"text":"a"}]}},{"content":{"parts":[{"text":"b"}]},"title":"t"}]}`: {googleembed.BatchEmbedContents, "requests[1]"},
		`{"instances":[]}`:               {googleembed.Predict, "instances"},
		`{"instances":[{"prompt":"a"}]}`: {googleembed.Predict, "instances[0].content"},
	} {
		_, err := want.form.Into([]byte(body), "m")
		if e := (*fault.Error)(nil); !errors.As(err, &e) || e.Param != want.param || e.Detail == "" {
			t.Errorf("%s: %v, want an error of %s", body, err, want.param)
		}
	}
}

// FuzzEmbeddings checks that a request for embeddings is either rejected with a reason or becomes JSON.
func FuzzEmbeddings(f *testing.F) {
	f.Add([]byte(`{"content":{"parts":[{"text":"a"}]},"task_type":"CLUSTERING"}`))
	f.Add([]byte(`{"requests":[{"content":{"parts":[{"text":"a"}]},"outputDimensionality":3}]}`))
	f.Add([]byte(`{"instances":[{"content":"a","title":"t"}],"parameters":{"outputDimensionality":"3"}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, form := range []googleembed.Form{googleembed.EmbedContent, googleembed.BatchEmbedContents, googleembed.Predict} {
			out, err := form.Into(body, "m")
			if e := (*fault.Error)(nil); err != nil && (!errors.As(err, &e) || e.Kind != fault.Malformed || e.Detail == "") {
				t.Fatalf("%s: %v", body, err)
			}
			if err == nil && (!jsontext.Value(out).IsValid() || string(splice.Lookup(out, "model")) != `"m"`) {
				t.Fatalf("%s became %s", body, out)
			}
			if out, err := form.Outof(body); err == nil && !jsontext.Value(out).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
				t.Fatalf("%s became %s", body, out)
			}
		}
	})
}
