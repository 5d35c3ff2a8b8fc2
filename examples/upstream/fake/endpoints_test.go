package fake_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/examples/upstream/fake"
)

func TestEmbeddings(t *testing.T) {
	p := start(t, fake.Options{})
	type list struct {
		Data []struct {
			Index     int             `json:"index"`
			Embedding json.RawMessage `json:"embedding"`
		} `json:"data"`
		Usage *struct {
			Prompt int `json:"prompt_tokens"`
		} `json:"usage"`
	}
	embed := func(more string) list {
		t.Helper()
		var out list
		if r, body, err := p.ask(t, "/v1/embeddings", `{"model":"e",`+more+`}`); err != nil || r.StatusCode != http.StatusOK || json.Unmarshal([]byte(body), &out) != nil {
			t.Fatalf("%v %s", err, body)
		}
		return out
	}
	floats := embed(`"input":["red fox","red fox jumps","blue whale"],"dimensions":64`)
	packed := embed(`"input":["red fox","red fox jumps","blue whale"],"dimensions":64,"encoding_format":"base64"`)
	var vectors [][]float32
	for i, d := range floats.Data {
		var v []float32
		if err := json.Unmarshal(d.Embedding, &v); err != nil || len(v) != 64 || d.Index != i {
			t.Fatal(err, d)
		}
		var text string
		if err := json.Unmarshal(packed.Data[i].Embedding, &text); err != nil {
			t.Fatal(err)
		}
		raw, err := base64.StdEncoding.DecodeString(text)
		again := make([]float32, 64)
		if _, err2 := binary.Decode(raw, binary.LittleEndian, again); err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		for k := range v {
			if v[k] != again[k] {
				t.Errorf("%v in base64 is %v", v, again)
			}
		}
		vectors = append(vectors, v)
	}
	closeness := func(a, b []float32) (sum float64) {
		for i := range a {
			sum += float64(a[i] * b[i])
		}
		return sum
	}
	if near, far := closeness(vectors[0], vectors[1]), closeness(vectors[0], vectors[2]); near <= far || math.Abs(closeness(vectors[0], vectors[0])-1) > 1e-6 {
		t.Errorf("near %v, far %v", near, far)
	}
	for input, want := range map[string]int{`"abcdefgh"`: 1, `[1,2,3]`: 1, `[[1,2],[3]]`: 2} {
		if got := embed(`"input":` + input); len(got.Data) != want || got.Usage.Prompt < 2 {
			t.Errorf("%s: %+v", input, got)
		}
	}
	for _, body := range []string{`{"model":"e","input":[]}`, `{"input":"a"}`, `{"model":"e","input":[{}]}`, `[`} {
		if r, got, _ := p.ask(t, "/v1/embeddings", body); r.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %s", body, got)
		}
	}
}

func TestRerank(t *testing.T) {
	p := start(t, fake.Options{})
	for path, version := range map[string]string{"/v1/rerank": `"version":"1"`, "/v2/rerank": `"version":"2"`} {
		r, body, err := p.ask(t, path, `{"model":"r","query":"red fox","top_n":2,"return_documents":true,"documents":["a whale",{"text":"the red fox"},"a fox"]}`)
		if err != nil || r.StatusCode != http.StatusOK ||
			!strings.Contains(body, `"results":[{"index":1,"relevance_score":1,"document":{"text":"the red fox"}},{"index":2,"relevance_score":0.5`) ||
			!strings.Contains(body, version) || !strings.Contains(body, `"search_units":1`) {
			t.Errorf("%v %s", err, body)
		}
	}
	if r, body, _ := p.ask(t, "/v2/rerank", `{"model":"r","query":"x","documents":[]}`); r.StatusCode != http.StatusBadRequest || !strings.HasPrefix(body, `{"message":"`) {
		t.Errorf("%d %s", r.StatusCode, body)
	}
}

func TestCompletions(t *testing.T) {
	p := start(t, fake.Options{})
	_, body, err := p.ask(t, "/v1/completions", `{"model":"m","prompt":["red fox","blue whale"]}`)
	if err != nil || !strings.Contains(body, "heard: red fox") || !strings.Contains(body, "heard: blue whale") || !strings.Contains(body, `"object":"text_completion"`) || !strings.Contains(body, `"usage"`) {
		t.Errorf("%v %s", err, body)
	}
	_, body, err = p.ask(t, "/v1/completions", `{"model":"m","prompt":"red fox","max_tokens":3,"stream":true,"stream_options":{"include_usage":true}}`)
	events := data(body)
	if err != nil || len(events) != 6 || !strings.Contains(events[3], `"finish_reason":"length"`) || !strings.Contains(events[4], `"completion_tokens":3`) || events[5] != "[DONE]" {
		t.Errorf("%v %s", err, body)
	}
	if r, body, _ := p.ask(t, "/v1/completions", `{"model":"m"}`); r.StatusCode != http.StatusBadRequest {
		t.Errorf("%d %s", r.StatusCode, body)
	}
}

// Counts are those that the response to the same request reports.
func TestCounts(t *testing.T) {
	p := start(t, fake.Options{})
	for _, c := range []struct{ count, create, body string }{
		{"/v1/messages/count_tokens", messages, `{"model":"m","max_tokens":9,"system":"Be brief.","messages":[{"role":"user","content":"hello there"}]}`},
		{"/v1/responses/input_tokens", responses, `{"model":"m","instructions":"Be brief.","input":"hello there"}`},
	} {
		_, counted, err := p.ask(t, c.count, c.body)
		_, created, err2 := p.ask(t, c.create, c.body)
		var count struct {
			Input int `json:"input_tokens"`
		}
		var made struct {
			Usage struct {
				Input int `json:"input_tokens"`
			} `json:"usage"`
		}
		if err != nil || err2 != nil || json.Unmarshal([]byte(counted), &count) != nil || json.Unmarshal([]byte(created), &made) != nil || count.Input == 0 || count.Input != made.Usage.Input {
			t.Errorf("%v %v %s %s", err, err2, counted, created)
		}
	}
	if r, body, _ := p.ask(t, "/v1/messages/count_tokens", `{"model":"m"}`); r.StatusCode != http.StatusBadRequest || !strings.Contains(body, "messages") {
		t.Errorf("%d %s", r.StatusCode, body)
	}
}
