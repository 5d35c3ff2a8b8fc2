package guard

import (
	"slices"
	"strconv"

	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// toolPermission is the engine that permits tools.
const toolPermission = "tool_permission"

// tools says which tools may be offered to a model, and called by it.
type tools struct {
	allowed, blocked []string
	then             string // block, remove or flag
}

func newTools(e *guardrails.Engine) *tools {
	t := &tools{allowed: e.AllowedTools, blocked: e.BlockedTools, then: e.OnViolation}
	if t.then == "" {
		t.then = "block"
	}
	return t
}

// permits reports whether a tool may be used.
func (t *tools) permits(name string) bool {
	return !slices.Contains(t.blocked, name) && (len(t.allowed) == 0 || slices.Contains(t.allowed, name))
}

// entityTool is the entity of a tool that may not be used.
const entityTool = "TOOL"

// refuse records a tool that may not be used. It reports whether it is to be removed, or an error if
// the request or response is blocked.
func (s *Screen) refuse(u *unit, hook, place string) (remove bool, err error) {
	action := u.tools.then
	if hook == guardrails.PostCall && action == "remove" {
		action = string(Block) // a call is not taken out of what the model says
	}
	s.note(&usage.Violation{Guardrail: u.guardrail, Engine: u.name, Hook: hook, Entity: entityTool, Action: action, Place: place, Count: 1})
	if action == string(Block) {
		return false, s.blocked(u, hook, "a tool that is not permitted")
	}
	return action == "remove", nil
}

// called checks a tool that the model calls.
func (s *Screen) called(name string, place func() string) error {
	for _, r := range s.post {
		if u := r.unit; u.tools != nil && !u.tools.permits(name) {
			if _, err := s.refuse(u, guardrails.PostCall, place()); err != nil {
				return err
			}
		}
	}
	return nil
}

// offered checks the tools that a request offers, in all languages, and returns its body without those that are to be
// removed.
func (s *Screen) offered(body []byte) ([]byte, error) {
	for _, r := range s.pre {
		if r.unit.tools == nil {
			continue
		}
		o := splice.ReadObject(body)
		changed := false
		for _, member := range [...]string{"tools", "functions", "mcp_servers"} {
			kept, removed, err := s.permitted(r.unit, member, o.Get(member))
			switch {
			case err != nil:
				return nil, err
			case removed == nil:
				continue
			case kept == nil:
				o.Remove(member)
			default:
				o.Set(member, kept)
			}
			changed = true
			unchoose(o, member, removed)
		}
		if changed {
			body = o.Append(nil)
		}
	}
	return body, nil
}

// permitted returns a list of tools without those that may not be used, and the names of these. kept is nil if
// none is left.
func (s *Screen) permitted(u *unit, place string, list []byte) (kept []byte, removed []string, err error) {
	n := 0
	for at := range splice.Elements(list) {
		tool, here := at.Of(list), place+"["+strconv.Itoa(n)+"]"
		n++
		names := namesOf(tool)
		if inner := splice.Lookup(tool, "tools"); inner != nil && splice.Lookup(tool, "name") != nil { // a namespace
			left, gone, err := s.permitted(u, here+".tools", inner)
			if err != nil {
				return nil, nil, err
			}
			if gone != nil {
				removed = append(removed, gone...)
				if left == nil {
					continue
				}
				o := splice.ReadObject(tool)
				o.Set("tools", left)
				tool = o.Append(nil)
			}
		} else if i := slices.IndexFunc(names, func(name string) bool { return !u.tools.permits(name) }); i >= 0 {
			remove, err := s.refuse(u, guardrails.PreCall, here)
			if err != nil {
				return nil, nil, err
			}
			if remove {
				removed = append(removed, names[i])
				continue
			}
		}
		if kept == nil {
			kept = append(kept, '[')
		} else {
			kept = append(kept, ',')
		}
		kept = append(kept, tool...)
	}
	if kept != nil {
		kept = append(kept, ']')
	}
	return kept, removed, nil
}

// namesOf returns the names by which a tool is called: that of a function, or else of a server with tools,
// or else its type, such as web_search. Of a server that says which of its tools may be called, these too.
func namesOf(tool []byte) []string {
	for _, path := range [...][]string{{"function", "name"}, {"custom", "name"}, {"name"}, {"server_label"}, {"type"}} {
		raw := splice.Lookup(tool, path...)
		if len(raw) < 2 || raw[0] != '"' {
			continue
		}
		names := []string{string(splice.Plain(raw[1 : len(raw)-1]))}
		if path[0] == "server_label" {
			allowed := splice.Lookup(tool, "allowed_tools")
			for at := range splice.Elements(allowed) {
				if raw := at.Of(allowed); raw[0] == '"' {
					names = append(names, string(splice.Plain(raw[1:len(raw)-1])))
				}
			}
		}
		return names
	}
	return nil
}

// unchoose takes out what asks for a tool that was removed, or says how to use tools where none is left.
func unchoose(o *splice.Object, list string, removed []string) {
	choice := "tool_choice"
	if list == "functions" {
		choice = "function_call"
	}
	if o.Get(list) == nil && list != "mcp_servers" {
		o.Remove(choice)
		if list == "tools" {
			o.Remove("parallel_tool_calls")
		}
		return
	}
	raw := o.Get(choice)
	for _, path := range [...][]string{{"function", "name"}, {"custom", "name"}, {"name"}} {
		if name := splice.Lookup(raw, path...); len(name) > 1 && slices.Contains(removed, string(splice.Plain(name[1:len(name)-1]))) {
			o.Remove(choice)
			return
		}
	}
}
