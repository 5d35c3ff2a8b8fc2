package openaitest

import (
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// event is an event of a stream.
type event struct{ name, data string }

// events reads a stream. What follows the last empty line is not an event yet.
func events(body []byte) []event {
	var out []event
	blocks := strings.Split(strings.ReplaceAll(string(body), "\r\n", "\n"), "\n\n")
	for _, block := range blocks[:len(blocks)-1] {
		var e event
		for line := range strings.SplitSeq(block, "\n") {
			if name, ok := strings.CutPrefix(line, "event:"); ok {
				e.name = strings.TrimSpace(name)
			}
			if data, ok := strings.CutPrefix(line, "data:"); ok {
				e.data += strings.TrimPrefix(data, " ")
			}
		}
		if e.data != "" {
			out = append(out, e)
		}
	}
	return out
}

// done ends the streams of chats and completions, and nothing follows it.
const done = "[DONE]"

// eventPrefix begins a problem of an event. Its number follows.
const eventPrefix = "event "

// stream returns the problems of the events of a stream.
func (j *Judge) stream(path string, body []byte) []string {
	var out []string
	all := events(body)
	for i, e := range all {
		var problems []string
		switch {
		case e.data != done:
			problems = j.event(path, e)
		case !unnamed(path):
			problems = []string{"streams of this operation have no " + done}
		case i < len(all)-1:
			problems = []string{"an event follows " + done}
		}
		for _, problem := range problems {
			out = append(out, fmt.Sprintf(eventPrefix+"%d: %s", i, problem))
		}
	}
	return out
}

// unnamed reports whether the events of an operation have no type and no name.
func unnamed(path string) bool { return path == "/chat/completions" || path == "/completions" }

// event returns the problems of an event.
func (j *Judge) event(path string, e event) []string {
	if unnamed(path) {
		return j.piece(path, e)
	}
	place := pointer("paths", path, "post", "responses", "200", "content", mediaEvents, "schema")
	return j.once(place+"\x00"+e.name, []byte(e.data), func() []string {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(e.data))
		if err != nil {
			return []string{err.Error()}
		}
		kind := typeOf(v)
		switch {
		case path != "/responses" && e.name == "" && isError(e.data):
			return j.body(errorPlace(), []byte(e.data))
		case e.name != kind && e.name != "":
			return []string{fmt.Sprintf("the event %s has the type %s", e.name, kind)}
		}
		s, problem := j.eventSchema(place, kind)
		if problem != "" {
			return []string{problem}
		}
		return valueProblems(s, v)
	})
}

// isError reports whether an event is an error. The document has none in streams, but those of
// /responses. OpenAI's clients read the member error of any other event.
func isError(data string) bool { return strings.HasPrefix(data, `{"error":`) }

// piece returns the problems of an event without a name: a piece of a response, or an error.
func (j *Judge) piece(path string, e event) []string {
	if e.name != "" {
		return []string{"the event has the name " + e.name}
	}
	if isError(e.data) {
		return j.body(errorPlace(), []byte(e.data))
	}
	if path == "/completions" {
		return j.body(pointer("components", "schemas", completionPiece), []byte(e.data))
	}
	return j.body(pointer("paths", path, "post", "responses", "200", "content", mediaEvents, "schema"), []byte(e.data))
}

// eventSchema returns the schema of events of a type. It is found by the type, because the problems of all
// parts of a union of sixty would say little.
func (j *Judge) eventSchema(place, kind string) (s *jsonschema.Schema, problem string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.mu.events[place] == nil {
		union, problem := j.schemaLocked(place)
		if problem != "" {
			return nil, problem
		}
		byType := map[string]*jsonschema.Schema{}
		for union.Ref != nil {
			union = union.Ref
		}
		for _, one := range union.AnyOf {
			for one.Ref != nil {
				one = one.Ref
			}
			if t := one.Properties["type"]; t != nil && t.Enum != nil {
				for _, name := range t.Enum.Values {
					byType[fmt.Sprint(name)] = one
				}
			}
		}
		j.mu.events[place] = byType
	}
	if s = j.mu.events[place][kind]; s == nil {
		return nil, fmt.Sprintf("OpenAI's API has no event of the type %q", kind)
	}
	return s, ""
}

// typeOf returns the type of an event.
func typeOf(v any) string {
	o, _ := v.(object)
	kind, _ := o["type"].(string)
	return kind
}
