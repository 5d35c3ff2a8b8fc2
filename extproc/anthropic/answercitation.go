package anthropic

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/wire"
)

// webLocation is the type of a citation of a page on the web.
const webLocation = "web_search_result_location"

// webCitation is a citation of a page on the web. Other providers say neither what they cite nor
// give a proof (Index) for a later turn, and clients require both members.
type webCitation struct {
	Type  string  `json:"type"`
	URL   string  `json:"url"`
	Title *string `json:"title"`
	Cited string  `json:"cited_text"`
	Index string  `json:"encrypted_index"`
}

// citationOf converts an annotation to a citation.
func citationOf(a *wire.Annotation) jsontext.Value {
	if a.Citation != nil {
		return a.Citation
	}
	out := webCitation{Type: webLocation, URL: a.URL}
	if a.Title != "" {
		out.Title = &a.Title
	}
	raw, err := json.Marshal(&out, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return jsontext.Value("null")
	}
	return raw
}

// textBlocks cuts a text into blocks, so that each part with sources is a block of its own: in
// Anthropic's language citations belong to a block. A text whose sources overlap is one block.
func textBlocks(text string, sources []wire.Annotation) []answerBlock {
	if text == "" {
		return nil
	}
	offsets := runeOffsets(text, sources)
	if offsets == nil {
		one := answerBlock{Type: "text", Text: &text}
		for i := range sources {
			one.Citations = append(one.Citations, citationOf(&sources[i]))
		}
		return []answerBlock{one}
	}
	var out []answerBlock
	add := func(from, to int) {
		if piece := text[from:to]; piece != "" {
			out = append(out, answerBlock{Type: "text", Text: &piece})
		}
	}
	done := 0
	for i := range sources {
		from, to := offsets[sources[i].Start], offsets[sources[i].End]
		if i == 0 || sources[i].Start != sources[i-1].Start {
			add(done, from)
			add(from, to)
			done = to
		}
		last := &out[len(out)-1]
		last.Citations = append(last.Citations, citationOf(&sources[i]))
	}
	add(done, len(text))
	return out
}

// runeOffsets returns the offset in bytes of each code point and of the end; nil if the sources
// are not in order, overlap without being equal, or are not in the text.
func runeOffsets(text string, sources []wire.Annotation) []int {
	if len(sources) == 0 {
		return nil
	}
	offsets := make([]int, 0, len(text)+1)
	for i := range text {
		offsets = append(offsets, i)
	}
	offsets = append(offsets, len(text))
	start, end := 0, 0
	for _, s := range sources {
		same := s.Start == start && s.End == end
		if s.Start >= s.End || s.End >= len(offsets) || s.Start < end && !same {
			return nil
		}
		start, end = s.Start, s.End
	}
	return offsets
}
