package openai

import (
	"slices"
	"strings"
)

// The texts between which some models write their reasoning, before the response.
const (
	openTag  = "<think>"
	closeTag = "</think>"
)

// untag takes the reasoning out of a whole text. One that does not end is all there is.
func untag(text string) (thinking, rest string) {
	inner, ok := strings.CutPrefix(strings.TrimLeft(text, " \r\n\t"), openTag)
	if !ok {
		return "", text
	}
	thinking, rest, _ = strings.Cut(inner, closeTag)
	return thinking, strings.TrimLeft(rest, " \r\n\t")
}

// tag takes the reasoning out of the text of one choice of a stream.
type tag struct {
	choice int
	where  place
	held   string // what may be the beginning of a tag
	last   bool   // nothing follows the piece, so nothing is held back
}

// place is where in the text of a choice the next piece is.
type place uint8

const (
	before  place = iota // nothing but white space has come
	inside               // the reasoning
	behind               // the tag has ended: white space is left out
	outside              // the response
)

// tag returns the state of a choice.
func (s *chatStream) tag(choice int) *tag {
	i := slices.IndexFunc(s.tags, func(t tag) bool { return t.choice == choice })
	if i < 0 {
		i = len(s.tags)
		s.tags = append(s.tags, tag{choice: choice})
	}
	return &s.tags[i]
}

// split returns what of a piece is text, and what reasoning.
func (t *tag) split(text, thinking string) (string, string) {
	if thinking != "" && t.where == before {
		t.where = outside // the reasoning stands in its own place
	}
	text, t.held = t.held+text, ""
	if t.where == before {
		text = t.begin(text)
	}
	if t.where == inside {
		inner, rest, ended := strings.Cut(text, closeTag)
		text = rest
		if ended {
			t.where = behind
		} else if n := beginningOf(inner, closeTag); n > 0 && !t.last {
			inner, t.held = inner[:len(inner)-n], inner[len(inner)-n:]
		}
		thinking += inner
	}
	if t.where == behind {
		if text = strings.TrimLeft(text, " \r\n\t"); text != "" {
			t.where = outside
		}
	}
	return text, thinking
}

// begin looks for the tag at the beginning. It returns what follows, or what is text.
func (t *tag) begin(text string) string {
	start := strings.TrimLeft(text, " \r\n\t")
	switch {
	case strings.HasPrefix(start, openTag):
		t.where = inside
		return start[len(openTag):]
	case !t.last && strings.HasPrefix(openTag, start):
		t.held = text
		return ""
	case text != "":
		t.where = outside
	}
	return text
}

// beginningOf returns how many bytes at the end of a text are the beginning of a tag.
func beginningOf(text, tag string) int {
	for n := min(len(text), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(text, tag[:n]) {
			return n
		}
	}
	return 0
}
