package fake

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/fnv"
	"math"
	"net/http"
	"strings"
)

// vectorSize is how many numbers an embedding has, unless the request says otherwise.
const vectorSize = 8

// embeddingRequest is what is read of a request for embeddings.
type embeddingRequest struct {
	Model      string          `json:"model"`
	Input      json.RawMessage `json:"input"`
	Encoding   string          `json:"encoding_format"`
	Dimensions int             `json:"dimensions"`
}

// embed serves POST …/embeddings. Texts that share words have vectors that are close.
func (s *Server) embed(x *exchange) {
	var q embeddingRequest
	err := json.Unmarshal(x.body, &q)
	inputs, ok := inputsOf(q.Input)
	if err != nil || q.Model == "" || !ok {
		x.dialect.fail(x.w, failure{status: http.StatusBadRequest, param: "input", message: "model and input are required"})
		return
	}
	p := planOf(q.Model)
	if !s.meet(x, p) {
		return
	}
	if q.Dimensions <= 0 {
		q.Dimensions = vectorSize
	}
	list, count := []any{}, 0
	for i, in := range inputs {
		count += in.tokens
		var vector any = vectorOf(in.text, q.Dimensions)
		if q.Encoding == "base64" {
			raw, _ := binary.Append(nil, binary.LittleEndian, vector) // floats have a size
			vector = base64.StdEncoding.EncodeToString(raw)
		}
		list = append(list, map[string]any{"object": "embedding", "index": i, "embedding": vector})
	}
	doc := map[string]any{"object": "list", "data": list, "model": q.Model}
	if p.usage != "none" {
		doc["usage"] = map[string]int{"prompt_tokens": count, "total_tokens": count}
	}
	s.whole(x, p, doc)
}

// vectorOf is a vector of length 1: each word of the text points into a direction of its own.
func vectorOf(text string, size int) []float32 {
	sum := make([]float64, size)
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		h := fnv.New32a()
		_, _ = h.Write([]byte(word)) // it never fails
		sum[int(h.Sum32()%uint32(size))]++
	}
	length := 0.0
	for _, v := range sum {
		length += v * v
	}
	out := make([]float32, size)
	for i, v := range sum {
		out[i] = float32(v / math.Max(math.Sqrt(length), 1))
	}
	return out
}

// counted is a text, or tokens without one, and how many tokens it is.
type counted struct {
	text   string
	tokens int
}

// inputsOf reads what may be a text, a list of texts, tokens or a list of lists of tokens.
func inputsOf(raw json.RawMessage) ([]counted, bool) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || isTokens(raw) {
		list = []json.RawMessage{raw}
	}
	var out []counted
	for _, one := range list {
		var text string
		var ids []int
		switch {
		case json.Unmarshal(one, &text) == nil && text != "":
			out = append(out, counted{text, tokens(text)})
		case json.Unmarshal(one, &ids) == nil && len(ids) > 0:
			out = append(out, counted{strings.Trim(string(one), "[]"), len(ids)})
		default:
			return nil, false
		}
	}
	return out, len(out) > 0
}

func isTokens(raw json.RawMessage) bool {
	var ids []int
	return json.Unmarshal(raw, &ids) == nil
}
