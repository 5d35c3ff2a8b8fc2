package fake

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/examples/upstream/fake/schema"
)

// ask is what the requests of all dialects come to.
type ask struct {
	model    string
	stream   bool
	n        int
	fromUser bool   // the last message is a user's, and no tool's answer
	text     string // of the last message
	prompt   int    // tokens
	tools    []tool // none where the caller forbade them
	chosen   string // the tool that must be called, "" for any
	maxOut   int    // tokens, 0: no bound
	stop     []string
	asJSON   bool
	schema   json.RawMessage // of the JSON asked for
}

type tool struct {
	name   string
	schema json.RawMessage
}

// hear takes a message in. Instructions after the last message are not what is answered.
func (a *ask) hear(role, text string) {
	if role != "system" && role != "developer" {
		a.text, a.fromUser = text, role != "tool"
	}
}

// answer is what the answers of all dialects are made of.
type answer struct {
	thinking   []string
	choices    []choice
	prompt     int // tokens, of which cached came from a cache
	cached     int
	completion int // tokens, of which reasoning were thinking
	reasoning  int
}

type choice struct {
	pieces []string // of the text
	calls  []call
	finish string // in OpenAI's words
	stop   string // the stop sequence that was met
}

type call struct{ name, arguments string }

// text is what a tool gets that takes a text instead of JSON.
func (c call) text() string {
	var text string
	if json.Unmarshal([]byte(c.arguments), &text) == nil {
		return text
	}
	return c.arguments
}

// ordered is the call that the last message of the user spells, as in
//
//	call: shell {"command": "ls"}
//
// if there is such a tool.
func (a *ask) ordered() []call {
	_, order, found := strings.Cut(a.text, "call: ")
	name, arguments, _ := strings.Cut(order, " ")
	var raw json.RawMessage
	if !found || json.NewDecoder(strings.NewReader(arguments)).Decode(&raw) != nil {
		return nil
	}
	if !slices.ContainsFunc(a.tools, func(t tool) bool { return t.name == name }) {
		return nil
	}
	return []call{{name: name, arguments: string(raw)}}
}

// compose makes the answer that p lets an honest provider give.
func compose(a ask, p plan) answer {
	out := answer{prompt: a.prompt, cached: min(p.cached, a.prompt)}
	if p.thinks {
		out.thinking = pieces("The caller wrote something. It deserves an answer.")
		out.reasoning = len(out.thinking)
	}
	out.completion = out.reasoning
	for i := range max(a.n, 1) {
		c := choice{finish: "stop"}
		if c.calls = calls(a, p); len(c.calls) > 0 {
			c.finish = "tool_calls"
			for _, k := range c.calls {
				out.completion += 8 + len(k.arguments)/4
			}
		} else {
			c = write(a, p, i)
			out.completion += len(c.pieces)
		}
		if p.finish != "" {
			c.finish = p.finish
		}
		out.choices = append(out.choices, c)
	}
	return out
}

// calls names the chosen tool, or the tools in turn; none after a tool's result.
func calls(a ask, p plan) []call {
	if !a.fromUser || len(a.tools) == 0 {
		return nil
	}
	if p.obeys {
		return a.ordered()
	}
	out := make([]call, p.tools)
	for i := range out {
		t := a.tools[i%len(a.tools)]
		if k := slices.IndexFunc(a.tools, func(t tool) bool { return t.name == a.chosen }); k >= 0 {
			t = a.tools[k]
		}
		args, err := json.Marshal(schema.Sample(t.schema))
		if err != nil || string(args) == "null" {
			args = []byte("{}")
		}
		out[i] = call{name: t.name, arguments: string(args)}
	}
	return out
}

// write makes the text of the i-th choice.
func write(a ask, p plan, i int) choice {
	text := "The fake provider heard: "
	if !a.fromUser {
		text = "The tool answered: "
	}
	if i > 0 {
		text = fmt.Sprintf("Choice %d. %s", i, text)
	}
	heard := strings.Fields(a.text)
	text += strings.Join(heard[:min(len(heard), 24)], " ")
	switch {
	case p.words > 0:
		text = lorem(p.words)
	case a.asJSON && len(a.schema) > 0:
		if doc, err := json.Marshal(schema.Sample(a.schema)); err == nil {
			text = string(doc)
		}
	case a.asJSON:
		if doc, err := json.Marshal(map[string]string{"answer": text}); err == nil {
			text = string(doc)
		}
	}
	c := choice{finish: "stop"}
	for _, s := range a.stop {
		if before, _, found := strings.Cut(text, s); found && s != "" {
			text, c.stop = before, s
		}
	}
	c.pieces = pieces(text)
	if a.maxOut > 0 && len(c.pieces) > a.maxOut {
		c.pieces, c.finish, c.stop = c.pieces[:a.maxOut], "length", ""
	}
	return c
}

// pieces splits text after its spaces: one piece counts as one token and is one
// chunk of a stream.
func pieces(text string) []string {
	if text == "" {
		return nil
	}
	return strings.SplitAfter(strings.TrimRight(text, " "), " ")
}

// lorem is n words, the same for the same n.
func lorem(n int) string {
	words := strings.Fields("rivers carry cold water past old towns while trains cross long bridges under grey skies")
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(words[i%len(words)])
	}
	return b.String()
}

// tokens is a rough count of a text's tokens: four bytes each.
func tokens(text string) int { return (len(text) + 3) / 4 }
