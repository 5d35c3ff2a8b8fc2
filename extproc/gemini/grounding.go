package gemini

import (
	"slices"
	"unicode/utf8"

	"github.com/modelgateway/modelgateway/extproc/wire"
)

// looseGrounding is the sources of a text, and the searches that found them.
type looseGrounding struct {
	Queries  []string        `json:"webSearchQueries"`
	Chunks   []looseSource   `json:"groundingChunks"`
	Supports []looseSupports `json:"groundingSupports"`
}

type looseSource struct {
	Web   looseSite `json:"web"`
	Maps  looseSite `json:"maps"`
	Other looseSite `json:"retrievedContext"`
}

type looseSite struct {
	URI   string `json:"uri"`
	Title string `json:"title"`
}

// looseSupports says which sources a segment of the text has.
type looseSupports struct {
	Segment struct {
		Part  int `json:"partIndex"`
		Start int `json:"startIndex"` // bytes of the part
		End   int `json:"endIndex"`
	} `json:"segment"`
	Chunks []int `json:"groundingChunkIndices"`
}

// site returns the address of a source of any kind.
func (s *looseSource) site() looseSite {
	for _, one := range [...]looseSite{s.Web, s.Maps, s.Other} {
		if one.URI != "" {
			return one
		}
	}
	return looseSite{}
}

// annotate returns the sources that have not been returned yet. bases are the places of the event's
// parts in the text. A response of one event counts the bytes of its parts, and a stream those of the
// whole text. Sources without a segment are those of the whole text.
func (c *candidate) annotate(g *looseGrounding, bases []int) []wire.Annotation {
	var out []wire.Annotation
	add := func(site looseSite, start, end int) {
		one := wire.Annotation{URL: site.URI, Title: site.Title, Start: start, End: end}
		same := func(a wire.Annotation) bool { return a.URL == one.URL && a.Start == one.Start && a.End == one.End }
		if one.URL != "" && !slices.ContainsFunc(c.sources, same) {
			c.sources = append(c.sources, one)
			out = append(out, one)
		}
	}
	for i := range g.Supports {
		s := &g.Supports[i]
		base := 0
		if at := s.Segment.Part; at > 0 && at < len(bases) {
			base = bases[at]
		}
		start, end := c.runes(base+s.Segment.Start), c.runes(base+s.Segment.End)
		for _, n := range s.Chunks {
			if n >= 0 && n < len(g.Chunks) {
				add(g.Chunks[n].site(), start, max(start, end))
			}
		}
	}
	if len(g.Supports) == 0 {
		for i := range g.Chunks {
			add(g.Chunks[i].site(), 0, c.runes(len(c.text)))
		}
	}
	return out
}

// runes returns the number of characters in the first bytes of the text.
func (c *candidate) runes(n int) int {
	return utf8.RuneCount(c.text[:max(0, min(n, len(c.text)))])
}
