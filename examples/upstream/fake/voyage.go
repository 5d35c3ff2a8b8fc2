package fake

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// voyageEmbedding is a request to Voyage's …/embeddings. Other members are rejected.
type voyageEmbedding struct {
	Model      string          `json:"model"`
	Input      json.RawMessage `json:"input"`
	InputType  *string         `json:"input_type"`
	Truncation *bool           `json:"truncation"`
	Dimension  int             `json:"output_dimension"`
	Type       *string         `json:"output_dtype"`
	Encoding   *string         `json:"encoding_format"`
}

// jinaEmbedding is a request to Jina's …/embeddings. Other members are rejected.
type jinaEmbedding struct {
	Model        string          `json:"model"`
	Input        json.RawMessage `json:"input"`
	Task         *string         `json:"task"`
	Dimensions   int             `json:"dimensions"`
	LateChunking *bool           `json:"late_chunking"`
	Truncate     *bool           `json:"truncate"`
	Normalized   *bool           `json:"normalized"`
	Type         *string         `json:"embedding_type"`
}

// strictly decodes a body that has no other members than v.
func strictly(body []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// embedVoyage serves Voyage's POST …/embeddings.
func (s *Server) embedVoyage(x *exchange) {
	var q voyageEmbedding
	err := strictly(x.body, &q)
	if err == nil && q.Encoding != nil && *q.Encoding != "base64" {
		err = fmt.Errorf("argument 'encoding_format' is %q", *q.Encoding)
	}
	s.vectors(x, err, &wantedVectors{q.Model, q.Input, q.Dimension, q.Encoding != nil})
}

// embedJina serves Jina's POST …/embeddings.
func (s *Server) embedJina(x *exchange) {
	var q jinaEmbedding
	err := strictly(x.body, &q)
	s.vectors(x, err, &wantedVectors{q.Model, q.Input, q.Dimensions, false})
}

// wantedVectors is what a request for embeddings wants.
type wantedVectors struct {
	model  string
	input  json.RawMessage
	size   int
	packed bool
}

// vectors answers with embeddings of texts, and a total of tokens.
func (s *Server) vectors(x *exchange, err error, q *wantedVectors) {
	inputs, ok := inputsOf(q.input)
	if err != nil || q.model == "" || !ok || isTokens(q.input) {
		x.dialect.fail(x.w, failure{status: http.StatusBadRequest, message: fmt.Sprintf("model and input are required (%v)", err)})
		return
	}
	p := planOf(q.model)
	if !s.meet(x, p) {
		return
	}
	if q.size <= 0 {
		q.size = vectorSize
	}
	list, count := []any{}, 0
	for i, in := range inputs {
		count += in.tokens
		var vector any = vectorOf(in.text, q.size)
		if q.packed {
			raw, _ := binary.Append(nil, binary.LittleEndian, vector) // floats have a size
			vector = base64.StdEncoding.EncodeToString(raw)
		}
		list = append(list, map[string]any{"object": "embedding", "index": i, "embedding": vector})
	}
	doc := map[string]any{"object": "list", "data": list, "model": q.model}
	if p.usage != "none" {
		doc["usage"] = map[string]int{"total_tokens": count}
	}
	s.whole(x, p, doc)
}

// ownRank is a request to …/rerank of Voyage or Jina. Other members are rejected.
type ownRank struct {
	Model      string            `json:"model"`
	Query      string            `json:"query"`
	Documents  []json.RawMessage `json:"documents"`
	TopK       int               `json:"top_k"` // of Voyage
	TopN       int               `json:"top_n"` // of Jina
	Return     bool              `json:"return_documents"`
	Truncation *bool             `json:"truncation"`
}

// rankVoyage serves Voyage's POST …/rerank: documents are texts, and the results are data.
func (s *Server) rankVoyage(x *exchange) {
	var q ownRank
	err := strictly(x.body, &q)
	if err == nil && q.TopN != 0 {
		err = fmt.Errorf("argument 'top_n' is not supported")
	}
	for _, d := range q.Documents {
		if err == nil && d[0] != '"' {
			err = fmt.Errorf("a document is not a text")
		}
	}
	s.ranked(x, err, &q, func(text string) any { return text })
}

// rankJina serves Jina's POST …/rerank: a document that is returned is an object.
func (s *Server) rankJina(x *exchange) {
	var q ownRank
	err := strictly(x.body, &q)
	if err == nil && q.TopK != 0 {
		err = fmt.Errorf("argument 'top_k' is not supported")
	}
	s.ranked(x, err, &q, func(text string) any { return map[string]string{"text": text} })
}

// ranked answers with a ranking, and a total of tokens.
func (s *Server) ranked(x *exchange, err error, q *ownRank, document func(text string) any) {
	if err != nil || q.Model == "" || q.Query == "" || len(q.Documents) == 0 {
		x.dialect.fail(x.w, failure{status: http.StatusBadRequest, message: fmt.Sprintf("model, query and documents are required (%v)", err)})
		return
	}
	p := planOf(q.Model)
	if !s.meet(x, p) {
		return
	}
	type result struct {
		Index    int     `json:"index"`
		Score    float64 `json:"relevance_score"`
		Document any     `json:"document,omitempty"`
	}
	var results []result
	count := 0
	for i, raw := range q.Documents {
		text := documentText(raw)
		count += tokens(q.Query) + tokens(text)
		r := result{Index: i, Score: relevance(q.Query, text)}
		if q.Return {
			r.Document = document(text)
		}
		results = append(results, r)
	}
	slices.SortStableFunc(results, func(a, b result) int { return cmp.Compare(b.Score, a.Score) })
	if most := q.TopK + q.TopN; most > 0 {
		results = results[:min(most, len(results))]
	}
	name := "results"
	if strings.HasPrefix(x.r.URL.Path, "/voyage/") {
		name = "data"
	}
	doc := map[string]any{"object": "list", name: results, "model": q.Model}
	if p.usage != "none" {
		doc["usage"] = map[string]int{"total_tokens": count}
	}
	s.whole(x, p, doc)
}

// failDetail answers with an error as Voyage and Jina have it.
func failDetail(w http.ResponseWriter, f failure) {
	writeJSON(w, f.status, map[string]string{"detail": f.message})
}
