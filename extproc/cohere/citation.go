package cohere

import (
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// citation names the sources of a part of a text. Start and End count Unicode code points.
type citation struct {
	Start   driver.Count `json:"start"`
	End     driver.Count `json:"end"`
	Sources []source     `json:"sources"`
	Content driver.Count `json:"content_index"`
	Type    string       `json:"type"` // of text that is content if empty
}

// source is a document, or the result of a tool.
type source struct {
	Document page `json:"document"`
	Output   page `json:"tool_output"`
}

// page is what of a source a caller's language has a place for.
type page struct {
	URL   string
	Title string
}

// UnmarshalJSONFrom reads any value. A source has the members that its owner gave it.
func (p *page) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	if err != nil || raw.Kind() != '{' {
		return err
	}
	var members map[string]jsontext.Value
	if err := driver.DecodeLoose(raw, &members); err != nil {
		return err
	}
	p.URL, p.Title = driver.Text(members["url"]), driver.Text(members["title"])
	return nil
}

// annotations returns the sources with an address. starts are the code points before each content.
func (c *citation) annotations(starts map[int64]int) []wire.Annotation {
	if c.Type != "" && c.Type != "TEXT_CONTENT" {
		return nil // of a plan, or of the reasoning
	}
	var out []wire.Annotation
	for _, s := range c.Sources {
		for _, p := range [...]page{s.Document, s.Output} {
			if p.URL != "" {
				base := starts[c.Content.N]
				out = append(out, wire.Annotation{URL: p.URL, Title: p.Title, Start: base + int(c.Start.N), End: base + int(c.End.N)})
			}
		}
	}
	return out
}

// runes counts the code points of a text.
func runes(text string) int { return utf8.RuneCountInString(text) }
