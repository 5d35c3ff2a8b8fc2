package gemini

import (
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// textEvent is an event that brings a text or a thought of a candidate and nothing else but usage. Most events are such, and
// reading one into looseResponse costs ten times as much.
type textEvent struct {
	id, model []byte
	index     int
	text      string
	thought   bool
	reported  bool // the usage is there
}

// texts appends what a textEvent means; not ok for any other event, and for one that begins something.
func (s *stream) texts(dst []wire.Chunk, data []byte) (_ []wire.Chunk, ok bool) {
	if !s.begun {
		return dst, false
	}
	c := cursor{b: data}
	e := c.event(&s.spare)
	if c.failed || s.id == "" && len(e.id) > 0 || s.model == "" && len(e.model) > 0 {
		return dst, false
	}
	of := s.known(e.index)
	if of == nil || of.finished {
		return dst, false
	}
	if e.reported {
		s.usage.counts, s.spare, s.usage.broken = s.spare, s.usage.counts, false
	}
	switch {
	case e.text == "":
	case e.thought:
		of.thoughts = append(of.thoughts, e.text...)
		dst = append(dst, wire.Chunk{Index: of.index, Thinking: e.text})
	default:
		of.thoughts, of.text = of.thoughts[:0], append(of.text, e.text...)
		dst = append(dst, wire.Chunk{Index: of.index, Text: e.text})
	}
	return dst, true
}

// known returns the candidate of an index; nil if it has not begun.
func (s *stream) known(index int) *candidate {
	for i := range s.candidates {
		if s.candidates[i].index == index {
			return &s.candidates[i]
		}
	}
	return nil
}

// cursor reads the JSON of a textEvent. It fails at anything else, be it valid or not.
type cursor struct {
	b      []byte
	at     int
	failed bool
}

// event reads an event, with its usage into u, whose lists are used again.
func (c *cursor) event(u *counts) (e textEvent) {
	var seen names
	for more := c.open('{', '}'); more; more = c.more('}') {
		switch name := c.name(); string(name) {
		case "candidates":
			c.once(&seen, 0)
			if c.first('[') {
				c.candidate(&e)
				c.last(']')
			}
		case "usageMetadata":
			c.once(&seen, 1)
			e.reported = true
			c.usage(u)
		case "modelVersion":
			c.once(&seen, 2)
			e.model = c.plain()
		case "responseId":
			c.once(&seen, 3)
			e.id = c.plain()
		case "createTime":
			c.once(&seen, 4)
			c.plain()
		default:
			c.failed = true
		}
	}
	if c.space(); c.at != len(c.b) || seen&1 == 0 {
		c.failed = true
	}
	return e
}

// candidate reads a candidate with one part.
func (c *cursor) candidate(e *textEvent) {
	var seen, inside names
	for more := c.open('{', '}'); more; more = c.more('}') {
		switch name := c.name(); string(name) {
		case "content":
			c.once(&seen, 0)
			for more := c.open('{', '}'); more; more = c.more('}') {
				switch name := c.name(); string(name) {
				case "parts":
					c.once(&inside, 0)
					if c.first('[') {
						c.part(e)
						c.last(']')
					}
				case "role":
					c.once(&inside, 1)
					c.plain()
				default:
					c.failed = true
				}
			}
		case "index":
			c.once(&seen, 1)
			e.index = int(c.whole())
		default:
			c.failed = true
		}
	}
	if inside&1 == 0 {
		c.failed = true
	}
}

// part reads a text, which may be a thought.
func (c *cursor) part(e *textEvent) {
	var seen names
	for more := c.open('{', '}'); more; more = c.more('}') {
		switch name := c.name(); string(name) {
		case "text":
			c.once(&seen, 0)
			e.text = c.text()
		case "thought":
			c.once(&seen, 1)
			e.thought = c.truth()
		default:
			c.failed = true
		}
	}
}

// usage reads a report.
func (c *cursor) usage(u *counts) {
	*u = counts{In: u.In[:0], InTools: u.InTools[:0], Out: u.Out[:0]}
	var seen names
	number := func(to *driver.Count, bit uint) {
		c.once(&seen, bit)
		*to = driver.Count{N: c.whole(), Given: true}
	}
	for more := c.open('{', '}'); more; more = c.more('}') {
		switch name := c.name(); string(name) {
		case "promptTokenCount":
			number(&u.Prompt, 0)
		case "toolUsePromptTokenCount":
			number(&u.ToolUse, 1)
		case "cachedContentTokenCount":
			number(&u.Cached, 2)
		case "candidatesTokenCount":
			number(&u.Candidates, 3)
		case "thoughtsTokenCount":
			number(&u.Thoughts, 4)
		case "totalTokenCount":
			number(&u.Total, 5)
		case "promptTokensDetails":
			c.once(&seen, 6)
			u.In = c.modalities(u.In)
		case "toolUsePromptTokensDetails":
			c.once(&seen, 7)
			u.InTools = c.modalities(u.InTools)
		case "candidatesTokensDetails":
			c.once(&seen, 8)
			u.Out = c.modalities(u.Out)
		case "trafficType":
			c.once(&seen, 9)
			if word := c.plain(); string(word) != "ON_DEMAND" {
				u.Traffic = string(word)
			} else {
				u.Traffic = "ON_DEMAND"
			}
		default:
			c.failed = true
		}
	}
}

// modalities appends counts by modality.
func (c *cursor) modalities(dst []modalityCount) []modalityCount {
	for more := c.open('[', ']'); more; more = c.more(']') {
		var one modalityCount
		var seen names
		for more := c.open('{', '}'); more; more = c.more('}') {
			switch name := c.name(); string(name) {
			case "modality":
				c.once(&seen, 0)
				one.Modality = modalityOf(c.plain())
				c.failed = c.failed || one.Modality == ""
			case "tokenCount":
				c.once(&seen, 1)
				one.Tokens = driver.Count{N: c.whole(), Given: true}
			default:
				c.failed = true
			}
		}
		dst = append(dst, one)
	}
	return dst
}

// modalityOf returns the name of a modality without a copy; empty for one that is not known.
func modalityOf(word []byte) string {
	for _, known := range [...]string{"TEXT", "IMAGE", "AUDIO", "VIDEO", "DOCUMENT"} {
		if string(word) == known {
			return known
		}
	}
	return ""
}

// names are the members of an object that have come.
type names uint16

// once fails at a member that has come before.
func (c *cursor) once(seen *names, bit uint) {
	if *seen&(1<<bit) != 0 {
		c.failed = true
	}
	*seen |= 1 << bit
}

// space skips white space.
func (c *cursor) space() {
	for c.at < len(c.b) && c.b[c.at] <= ' ' {
		switch c.b[c.at] {
		case ' ', '\t', '\r', '\n':
			c.at++
		default:
			return
		}
	}
}

// is skips a byte, and reports whether it is the next one.
func (c *cursor) is(b byte) bool {
	c.space()
	if c.failed || c.at == len(c.b) || c.b[c.at] != b {
		return false
	}
	c.at++
	return true
}

// open opens a list or an object, and reports whether there is something in it.
func (c *cursor) open(opening, closing byte) bool { return c.first(opening) && !c.is(closing) }

// first opens a list or an object.
func (c *cursor) first(opening byte) bool {
	c.failed = c.failed || !c.is(opening)
	return !c.failed
}

// more goes on behind an element, and reports whether another one follows.
func (c *cursor) more(closing byte) bool {
	if c.is(',') {
		return true
	}
	c.last(closing)
	return false
}

// last closes a list or an object.
func (c *cursor) last(closing byte) { c.failed = c.failed || !c.is(closing) }

// name reads the name of a member.
func (c *cursor) name() []byte {
	name := c.plain()
	c.failed = c.failed || !c.is(':')
	return name
}

// plain reads a string of ASCII without escapes.
func (c *cursor) plain() []byte {
	if c.is('"') {
		rest := c.b[c.at:]
		for i, b := range rest {
			if b == '"' {
				c.at += i + 1
				return rest[:i]
			}
			if b == '\\' || b < ' ' || b >= utf8.RuneSelf {
				break
			}
		}
	}
	c.failed = true
	return nil
}

// text reads any string.
func (c *cursor) text() string {
	begin, end := c.quoted()
	raw := c.b[begin:end]
	simple := true
	for _, b := range raw {
		simple = simple && b != '\\' && b >= ' '
	}
	switch {
	case c.failed:
		return ""
	case !utf8.Valid(raw):
		c.failed = true
		return ""
	case simple:
		return string(raw)
	}
	out, err := jsontext.AppendUnquote(make([]byte, 0, len(raw)), c.b[begin-1:end+1])
	c.failed = err != nil
	return string(out)
}

// quoted skips a string, and returns where it begins and ends between its quotes.
func (c *cursor) quoted() (begin, end int) {
	if !c.is('"') {
		c.failed = true
		return 0, 0
	}
	begin = c.at
	for ; c.at < len(c.b); c.at++ {
		switch c.b[c.at] {
		case '"':
			c.at++
			return begin, c.at - 1
		case '\\':
			c.at++ // what it escapes
		}
	}
	c.at, c.failed = len(c.b), true
	return 0, 0
}

// whole reads a number of at most nine digits.
func (c *cursor) whole() int64 {
	c.space()
	var n int64
	begin := c.at
	for c.at < len(c.b) && c.at < begin+10 && c.b[c.at] >= '0' && c.b[c.at] <= '9' {
		n = 10*n + int64(c.b[c.at]-'0')
		c.at++
	}
	if digits := c.at - begin; digits == 0 || digits > 9 || digits > 1 && c.b[begin] == '0' {
		c.failed = true
	}
	return n
}

// truth reads a boolean.
func (c *cursor) truth() bool {
	c.space()
	for _, word := range [...]string{"true", "false"} {
		if rest := c.b[c.at:]; len(rest) >= len(word) && string(rest[:len(word)]) == word {
			c.at += len(word)
			return word == "true"
		}
	}
	c.failed = true
	return false
}
