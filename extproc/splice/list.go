package splice

import (
	"bytes"

	"github.com/modelgateway/modelgateway/cluster/usage"
)

// List reads a complete response that is a list of results: embeddings, images, moderations, or
// the ranks of documents. Otherwise it is like Reply. Usage may have the names of any of their
// APIs; a total alone counts as input.
func List(body []byte, f *ReplyFacts) error {
	*f = ReplyFacts{Collect: f.Collect, Text: f.Text, Most: f.Most, Ordered: true}
	s := scanner{b: body}
	i, err := s.open()
	if err != nil {
		return err
	}
	var r report
	r.clear()
	w := s.members(i)
	for w.next() {
		at := w.at
		switch string(w.name) {
		case "data", "results":
			w.at = f.results(&s, at)
		case "usage", "meta":
			w.at = r.units(&s, at)
			if !s.null(at) {
				f.Usage = Span{at, w.at}
			}
		default:
			w.at = f.common(&s, w.name, at)
		}
	}
	if err := s.close(w.at); err != nil {
		return err
	}
	f.report(&r)
	return nil
}

// common reads the members that the responses of all operations have.
func (f *ReplyFacts) common(s *scanner, name []byte, at int) int {
	end := s.value(at)
	if end < 0 {
		return end
	}
	switch string(name) {
	case "model":
		if f.Model = (Span{}); s.b[at] == '"' {
			f.Model = Span{at, end}
		}
	case "service_tier":
		if f.ServiceTier = (Span{}); s.b[at] == '"' {
			f.ServiceTier = Span{at, end}
		}
	case "error":
		if f.Error = (Span{}); !s.null(at) {
			f.Error = Span{at, end}
		}
	}
	return end
}

// results reads the array of results.
func (f *ReplyFacts) results(s *scanner, i int) int {
	if s.b[i] != '[' {
		return s.value(i)
	}
	w := s.elements(i)
	for w.next() {
		if s.b[w.at] != '{' {
			w.at = s.value(w.at)
			continue
		}
		one := s.members(w.at)
		for one.next() {
			at := one.at
			one.at = s.value(at)
			switch {
			case one.at < 0:
			case string(one.name) == "index":
				if n, ok := integer(s.b[at:one.at], usage.Limit); !ok || n != int64(w.n-1) {
					f.Ordered = false
				}
			case string(one.name) == "embedding" && w.n == 1:
				f.Base64 = s.b[at] == '"'
			}
		}
		w.at = one.at
	}
	f.Items = w.n
	return w.at
}

// units reads a report of usage with the names of any API.
func (r *report) units(s *scanner, i int) int {
	if s.b[i] != '{' {
		return s.value(i)
	}
	w := s.members(i)
	for w.next() {
		at := w.at
		switch string(w.name) {
		case "prompt_tokens", "input_tokens":
			w.at = r.number(s, prompt, at)
		case "completion_tokens", "output_tokens":
			w.at = r.number(s, completion, at)
		case "total_tokens":
			w.at = r.number(s, total, at)
		case "search_units":
			w.at = r.number(s, searches, at)
		case "seconds": // of sound
			w.at = r.seconds(s, at)
		case "billed_units", "tokens": // of Cohere's meta
			w.at = r.units(s, at)
		case "input_tokens_details", "prompt_tokens_details", "input_token_details": // the last one of transcriptions
			w.at = r.parts(s, at, cached, promptAudio, promptImage)
		case "output_tokens_details", "completion_tokens_details":
			w.at = r.parts(s, at, reasoning, completionAudio, completionImage)
		default:
			w.at = s.value(at)
		}
	}
	return w.at
}

// parts reads one of the two breakdowns of a report.
func (r *report) parts(s *scanner, i int, first, audio, image count) int {
	if s.b[i] != '{' {
		return s.value(i)
	}
	w := s.members(i)
	for w.next() {
		at := w.at
		switch string(w.name) {
		case "cached_tokens", "reasoning_tokens":
			w.at = r.number(s, first, at)
		case "cache_write_tokens":
			w.at = r.number(s, written, at)
		case "audio_tokens":
			w.at = r.number(s, audio, at)
		case "image_tokens":
			w.at = r.number(s, image, at)
		default:
			w.at = s.value(at)
		}
	}
	return w.at
}

// report takes a report of usage that has been read.
func (f *ReplyFacts) report(r *report) {
	switch {
	case r.bad:
	case r.n[prompt] < 0 && r.n[completion] < 0 && r.n[searches] < 0 && r.n[total] < 0 && r.n[millis] < 0:
		return
	case r.n[prompt] < 0 && r.n[total] >= 0:
		r.n[prompt] = max(r.n[total]-max(r.n[completion], 0), 0)
	}
	if t := r.tokens(); !r.bad && t.Sane() {
		f.Tokens, f.HasUsage = t, true
	} else {
		f.BadUsage = true
	}
}

// ImageEvent reads the data of one event with a picture, of OpenAI's API for images.
func ImageEvent(data []byte, f *ChunkFacts) error {
	*f = ChunkFacts{ReplyFacts: ReplyFacts{Collect: f.Collect, Text: f.Text, Most: f.Most}}
	s := scanner{b: data}
	i, err := s.open()
	if err != nil {
		return err
	}
	var r report
	r.clear()
	w := s.members(i)
	for w.next() {
		at := w.at
		switch string(w.name) {
		case "type":
			if w.at = s.value(at); w.at > 0 {
				f.Done = bytes.HasSuffix(data[at:w.at], []byte(`.completed"`))
			}
		case "usage":
			w.at = r.units(&s, at)
		case "b64_json":
			w.at = s.value(at)
			f.HasContent = true
		default:
			w.at = f.common(&s, w.name, at)
		}
	}
	if err := s.close(w.at); err != nil {
		return err
	}
	f.report(&r)
	return nil
}
