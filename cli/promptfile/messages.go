package promptfile

import (
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Message is one message of a prompt.
type Message struct {
	Role    string         // or placeholder
	Name    string         // of a placeholder
	Content jsontext.Value // a JSON string, or a list of parts; nil for a placeholder
}

const rolePlaceholder = "placeholder"

var (
	header = regexp.MustCompile(`^\[(system|developer|user|assistant)( json)?\]$|^\[placeholder ([A-Za-z_][A-Za-z0-9_]*)\]$`)  // the first line of a message
	hidden = regexp.MustCompile(`^\\*(\[(system|developer|user|assistant)( json)?\]|\[placeholder [A-Za-z_][A-Za-z0-9_]*\])$`) // one with backslashes before it, in a text
)

// messages reads the body of a file, whose first line has a number.
func (r *reader) messages(body string, first int) []Message {
	lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	at := 0
	for at < len(lines) && strings.TrimSpace(lines[at]) == "" {
		at++
	}
	if at == len(lines) {
		r.fail(first, "the file has no messages: write one below the front matter, such as [system] and its text in the lines below")
		return nil
	}
	if !header.MatchString(lines[at]) {
		return dotpromptMessages(lines)
	}
	var out []Message
	for at < len(lines) {
		match, line := header.FindStringSubmatch(lines[at]), first+at
		var text []string
		for at++; at < len(lines) && !header.MatchString(lines[at]); at++ {
			one := lines[at]
			if hidden.MatchString(one) {
				one = one[1:]
			}
			text = append(text, one)
		}
		m := Message{Role: match[1], Content: quoted(strings.Join(text, "\n"))}
		switch {
		case match[3] != "":
			m = Message{Role: rolePlaceholder, Name: match[3]}
			if strings.TrimSpace(strings.Join(text, "")) != "" {
				r.fail(line+1, "a placeholder has no text: remove it, or begin a message with a line such as [user]")
			}
		case match[2] != "":
			m.Content = jsontext.Value(strings.TrimSpace(strings.Join(text, "\n")))
			if err := m.Content.Compact(); err != nil {
				r.fail(line, "the content of this message is not valid JSON: correct it, or write [%s] for a text", m.Role)
			}
		}
		out = append(out, m)
	}
	return out
}

// appendMessages appends messages as a file has them.
func appendMessages(to []byte, all []Message) []byte {
	for _, m := range all {
		text := plain(m.Content)
		switch {
		case m.Role == rolePlaceholder:
			to = append(append(append(to, "[placeholder "...), m.Name...), "]\n"...)
		case m.Content.Kind() != '"' || strings.Contains(text, "\r"):
			value := m.Content.Clone()
			_ = value.Indent(jsontext.WithIndent("  ")) // it is valid JSON
			to = append(append(append(append(append(to, '['), m.Role...), " json]\n"...), value...), '\n')
		default:
			to = append(append(append(to, '['), m.Role...), "]\n"...)
			for line := range strings.SplitSeq(text, "\n") {
				if hidden.MatchString(line) {
					to = append(to, '\\')
				}
				to = append(append(to, line...), '\n')
			}
		}
	}
	return to
}

// dotpromptMessages reads the messages of a file of LiteLLM: a line that begins with a role begins
// a message, and what comes before is the user's. LiteLLM strips each line.
func dotpromptMessages(lines []string) []Message {
	var out []Message
	role, text := "user", []string(nil)
	end := func() {
		if one := strings.TrimSpace(strings.Join(text, "\n")); one != "" {
			out = append(out, Message{Role: role, Content: quoted(one)})
		}
	}
	for _, line := range lines {
		line = strings.TrimSpace(line)
		name, rest, found := strings.Cut(line, ":")
		switch {
		case found && (name == "System" || name == "User" || name == "Assistant"):
			end()
			role, text = strings.ToLower(name), []string{strings.TrimSpace(rest)}
		default:
			text = append(text, line)
		}
	}
	end()
	return out
}
