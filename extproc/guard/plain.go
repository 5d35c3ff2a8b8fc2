package guard

import (
	"bytes"
	"context"
	"unicode/utf8"

	"github.com/modelgateway/modelgateway/extproc/texts"
)

// Plain examines a response that is plain text or subtitles, as a transcription can be, and returns the body that goes
// on: the same if nothing changes. The numbers and times of subtitles are no text.
func (s *Screen) Plain(ctx context.Context, body []byte) ([]byte, error) {
	if len(body) > MaxText {
		return nil, tooLong()
	}
	c, err := s.answerChain(ctx)
	if err != nil {
		return nil, err
	}
	defer c.release()
	c.place = func() string { return "text" }
	text := body
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	out := make([]byte, 0, len(text))
	changed := false
	for len(text) > 0 {
		said, marks := cue(text)
		if said > 0 {
			some, differs, err := c.once(ctx, texts.Transcript, texts.Assistant, text[:said])
			if err != nil {
				return nil, err
			}
			out, changed = append(out, some...), changed || differs
		}
		out = append(out, text[said:said+marks]...)
		text = text[said+marks:]
	}
	if !changed {
		return body, nil
	}
	return out, nil
}

// cue returns the length of what somebody says at the beginning of a text, and that of the lines behind it that say when
// the next is said.
func cue(text []byte) (said, marks int) {
	for at := 0; at < len(text); {
		end := len(text)
		if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
			end = at + n + 1
		}
		if !isTiming(text[at:end]) {
			at = end
			continue
		}
		if before := bytes.TrimRight(text[:at], "\r\n"); isCount(before[bytes.LastIndexByte(before, '\n')+1:]) {
			at = bytes.LastIndexByte(before, '\n') + 1
		}
		return at, end - at
	}
	return len(text), 0
}

// isTiming reports whether a line says when something is said, as 00:00:01,000 --> 00:00:02,500 does.
func isTiming(line []byte) bool {
	before, _, ok := bytes.Cut(line, []byte("-->"))
	if !ok {
		return false
	}
	for _, c := range bytes.TrimSpace(before) {
		if (c < '0' || c > '9') && c != ':' && c != '.' && c != ',' {
			return false
		}
	}
	return true
}

// isCount reports whether a line is the number of a subtitle.
func isCount(line []byte) bool {
	for _, c := range line {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(line) > 0 && len(line) < 8
}
