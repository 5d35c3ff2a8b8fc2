package splice

import (
	"bytes"
	"iter"
)

// Parts returns the parts of the body without the members in skip, names and values, in order.
// Scan must have accepted the body.
func (r *Request) Parts(skip FieldSet) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		at := 0
		for _, f := range r.order[:r.known] {
			if !skip.Has(f) {
				continue
			}
			m := &r.members[f]
			if int(m.from) > at && !yield(r.body[at:m.from]) {
				return
			}
			at = int(m.end)
		}
		if at < len(r.body) {
			yield(r.body[at:])
		}
	}
}

// leastMedia is the shortest length of a string that counts as media data and not as text.
const leastMedia = 256

// Media appends the spans of the image, audio and file data in the messages, which are in field
// of: strings of content parts that no model reads as text.
func (r *Request) Media(dst []Span, of Field) []Span {
	raw := r.Raw(of)
	if len(raw) == 0 || raw[0] != '[' ||
		!bytes.Contains(raw, []byte("base64")) && !bytes.Contains(raw, []byte(`"input_audio"`)) && !bytes.Contains(raw, []byte(`"file_data"`)) {
		return dst
	}
	s := scanner{b: r.body}
	messages := s.elements(int(r.members[of].off))
	for messages.next() {
		if s.b[messages.at] != '{' {
			messages.at = s.value(messages.at)
			continue
		}
		message := s.members(messages.at)
		for message.next() {
			dst = s.content(&message, dst)
		}
		messages.at = message.at
	}
	return dst
}

// content appends the data of the parts of a member that is a message's content, and of the
// results of tools within it.
func (s *scanner) content(w *members, dst []Span) []Span {
	switch string(w.name) {
	case "content", "output":
		if s.b[w.at] == '[' {
			parts := s.elements(w.at)
			for parts.next() {
				dst = s.part(&parts, dst)
			}
			w.at = parts.at
			return dst
		}
	}
	w.at = s.value(w.at)
	return dst
}

// part appends the data of one content part.
func (s *scanner) part(parts *elements, dst []Span) []Span {
	if s.b[parts.at] != '{' {
		parts.at = s.value(parts.at)
		return dst
	}
	w := s.members(parts.at)
	for w.next() {
		at := w.at
		switch string(w.name) {
		case "content":
			dst = s.content(&w, dst)
		case "image_url", "input_audio", "video_url", "file", "audio", "file_data", "source":
			if s.b[at] == '{' {
				in := s.members(at)
				for in.next() {
					from := in.at
					in.at = s.value(from)
					switch string(in.name) {
					case "url", "data", "file_data":
						dst = appendMedia(dst, s.b, from, in.at)
					}
				}
				w.at = in.at
				continue
			}
			w.at = s.value(at)
			dst = appendMedia(dst, s.b, at, w.at)
		default:
			w.at = s.value(at)
		}
	}
	parts.at = w.at
	return dst
}

func appendMedia(dst []Span, b []byte, from, end int) []Span {
	if end-from < leastMedia || b[from] != '"' {
		return dst
	}
	return append(dst, Span{from, end})
}
