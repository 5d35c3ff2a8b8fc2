package fake

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// rankRequest is what is read of a request for a ranking.
type rankRequest struct {
	Model     string            `json:"model"`
	Query     string            `json:"query"`
	Documents []json.RawMessage `json:"documents"` // texts, or objects with one
	TopN      int               `json:"top_n"`
	Return    bool              `json:"return_documents"`
}

type rankResult struct {
	Index    int               `json:"index"`
	Score    float64           `json:"relevance_score"`
	Document map[string]string `json:"document,omitempty"`
}

// documentsPerUnit is how many documents are one search unit, in Cohere's price list.
const documentsPerUnit = 100

// rank serves POST …/rerank as Cohere does: a document is the more relevant, the more words of the
// query it has.
func (s *Server) rank(x *exchange) {
	var q rankRequest
	if err := json.Unmarshal(x.body, &q); err != nil || q.Model == "" || q.Query == "" || len(q.Documents) == 0 {
		x.dialect.fail(x.w, failure{status: http.StatusBadRequest, message: fmt.Sprintf("invalid request: model, query and documents are required (%v)", err)})
		return
	}
	p := planOf(q.Model)
	if !s.meet(x, p) {
		return
	}
	var results []rankResult
	for i, raw := range q.Documents {
		text := documentText(raw)
		r := rankResult{Index: i, Score: relevance(q.Query, text)}
		if q.Return {
			r.Document = map[string]string{"text": text}
		}
		results = append(results, r)
	}
	slices.SortStableFunc(results, func(a, b rankResult) int { return cmp.Compare(b.Score, a.Score) })
	if q.TopN > 0 {
		results = results[:min(q.TopN, len(results))]
	}
	version := "2"
	if strings.HasSuffix(x.r.URL.Path, "/v1/rerank") {
		version = "1"
	}
	meta := map[string]any{"api_version": map[string]string{"version": version}}
	if p.usage != "none" {
		meta["billed_units"] = map[string]int{"search_units": (len(q.Documents) + documentsPerUnit - 1) / documentsPerUnit}
	}
	s.whole(x, p, map[string]any{"id": fmt.Sprintf("rank-fake-%d", x.seq), "results": results, "meta": meta})
}

func documentText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var object struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &object) // a document without a text is relevant to nothing
	return object.Text
}

// relevance is the share of the query's words that a document has.
func relevance(query, document string) float64 {
	words, have := strings.Fields(strings.ToLower(query)), strings.Fields(strings.ToLower(document))
	found := 0
	for _, w := range words {
		if slices.Contains(have, w) {
			found++
		}
	}
	return float64(found) / float64(max(len(words), 1))
}

// failCohere answers with an error in Cohere's shape.
func failCohere(w http.ResponseWriter, f failure) {
	writeJSON(w, f.status, map[string]string{"message": f.message})
}
