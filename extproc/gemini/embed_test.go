package gemini_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/gemini"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Requests for embeddings become Google's, or are refused at the member that it cannot take. Google's
// SDK would send the same.
func TestEmbeddingsAreRewritten(t *testing.T) {
	const one = `{"requests":[{"model":"models/gemini-embedding-001","content":{"parts":[{"text":"a"}]}}]}`
	var cases []judged
	for _, c := range []struct {
		body  string
		drop  bool
		want  string
		param string
	}{
		{`{"model":"fast","input":"a"}`, false, one, ""},
		{`{"model":"fast","input":["a"],"encoding_format":"base64","user":"u","dimensions":null}`, false, one, ""},
		{
			`{"model":"fast","input":["a","b"],"dimensions":256,"task_type":"RETRIEVAL_DOCUMENT","title":"T"}`, false,
			`{"requests":[{"model":"models/gemini-embedding-001","content":{"parts":[{"text":"a"}]},"taskType":"RETRIEVAL_DOCUMENT","title":"T","outputDimensionality":256},` +
				`{"model":"models/gemini-embedding-001","content":{"parts":[{"text":"b"}]},"taskType":"RETRIEVAL_DOCUMENT","title":"T","outputDimensionality":256}]}`, "",
		},
		{`{"model":"fast","input":"a","taskType":"CLUSTERING"}`, false, strings.Replace(one, `]}}`, `]},"taskType":"CLUSTERING"}`, 1), ""},
		{`{"model":"fast","input":[1,2]}`, false, "", "input[0]"},
		{`{"model":"fast","input":["a",[1,2]]}`, false, "", "input[1]"},
		{`{"model":"fast","input":"a","b":1,"a":2}`, false, "", "a"},
		{`{"model":"fast","input":"a","b":1}`, true, one, ""},
	} {
		var facts splice.Request
		if err := splice.ScanModel([]byte(c.body), &facts); err != nil {
			t.Fatal(err)
		}
		to, err := gemini.Driver{}.Rewrite(&driver.Original{Endpoint: driver.Embeddings, Facts: &facts}, driver.Target{Model: "gemini-embedding-001", DropParams: c.drop})
		got := to.Body
		if string(got) != c.want || (err != nil) != (c.param != "") || err != nil && fault.From(err).Param != c.param {
			t.Errorf("%s: %s (%v)", c.body, got, err)
		}
		if err == nil {
			cases = append(cases, judged{c.body, "embedding", string(got)})
		}
	}
	for i, v := range judge(t, append(cases, judged{"wrong", "embedding", strings.Replace(one, `"content"`, `"dimensions":1,"content"`, 1)})) {
		if rejected := len(v.Problems) > 0; rejected != (i == len(cases)) {
			t.Errorf("%s: %v", v.Name, v.Problems)
		}
	}
}

// FuzzRestore checks that what is no list of embeddings fails, and never panics.
func FuzzRestore(f *testing.F) {
	for _, s := range []string{`{"embeddings":[{"values":[1]}],"usageMetadata":{"promptTokenCount":-1}}`, `{"embeddings":[{}]}`, `{"error":{"code":400}}`, `[]`, ``} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		restored, err := gemini.Driver{}.Restore(&driver.Original{Endpoint: driver.Embeddings}, body, "m")
		out := restored.Body
		if f := (*wire.Failure)(nil); err != nil && !errors.As(err, &f) {
			t.Errorf("%v is no failure", err)
		}
		if err == nil && !strings.HasPrefix(string(out), `{"object":"list","data":[`) {
			t.Errorf("%s: %s", body, out)
		}
	})
}
