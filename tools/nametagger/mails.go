package main

import (
	"bytes"
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// letter is a mail: its paragraphs, and the persons in its headers.
type letter struct {
	file    string
	text    string
	persons []string
}

// readMails reads the mails of some groups of the package.
func readMails(dir string, groups ...string) ([]letter, error) {
	var out []letter
	seen := map[string]bool{}
	for _, group := range groups {
		files, err := filepath.Glob(filepath.Join(dir, group, "*.txt"))
		if err != nil {
			return nil, err
		}
		slices.Sort(files)
		for _, file := range files {
			b, err := os.ReadFile(file) //nolint:gosec // the folder is the caller's
			if err != nil {
				return nil, err
			}
			if l, ok := parseMail(b, seen); ok {
				l.file = group + "/" + filepath.Base(file)
				out = append(out, l)
			}
		}
	}
	return out, nil
}

// readSpeeches reads the speeches of a package that were given in or after a year, which their names begin with.
func readSpeeches(dir, since string) ([]letter, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	var out []letter
	for _, file := range files {
		if filepath.Base(file) < since {
			continue
		}
		b, err := os.ReadFile(file) //nolint:gosec // the folder is the caller's
		if err != nil {
			return nil, err
		}
		out = append(out, letter{file: file, text: string(b)})
	}
	return out, nil
}

// parseMail reads a mail. Paragraphs that were in seen are left out: mails quote each other.
func parseMail(b []byte, seen map[string]bool) (letter, bool) {
	if bytes.HasPrefix(b, []byte("From ")) {
		_, b, _ = bytes.Cut(b, []byte("\n"))
	}
	m, err := mail.ReadMessage(bytes.NewReader(b))
	if err != nil {
		return letter{}, false
	}
	var l letter
	for _, header := range []string{"From", "To", "Cc", "Reply-To"} {
		l.persons = append(l.persons, persons(m.Header.Get(header))...)
	}
	body := plain(m.Header.Get("Content-Type"), m.Header.Get("Content-Transfer-Encoding"), m.Body, 0)
	l.text = tidy(body, seen)
	return l, l.text != ""
}

// plain returns the text of a part.
func plain(contentType, encoding string, body io.Reader, depth int) string {
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		kind = "text/plain"
	}
	switch strings.ToLower(encoding) {
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	}
	if strings.HasPrefix(kind, "multipart/") && depth < 3 {
		for r := multipart.NewReader(body, params["boundary"]); ; {
			p, err := r.NextPart()
			if err != nil {
				return ""
			}
			if text := plain(p.Header.Get("Content-Type"), p.Header.Get("Content-Transfer-Encoding"), p, depth+1); text != "" {
				return text
			}
		}
	}
	b, _ := io.ReadAll(body) // what could be read
	switch {
	case !utf8.Valid(b):
		r := make([]rune, len(b))
		for i, c := range b {
			r[i] = rune(c)
		}
		b = []byte(string(r))
	}
	switch kind {
	case "text/plain":
		return string(b)
	case "text/html":
		return stripTags(string(b))
	}
	return ""
}

func stripTags(s string) string {
	s = regexp.MustCompile(`(?is)<(style|script|head)\b.*?</(style|script|head)>`).ReplaceAllString(s, "")
	s = regexp.MustCompile(`(?i)<(p|br|tr|td|div|li|h\d|table)\b[^>]*>`).ReplaceAllString(strings.ReplaceAll(s, "\n", " "), "\n")
	s = regexp.MustCompile(`<[^>]*>`).ReplaceAllString(s, "")
	return strings.NewReplacer("&nbsp;", " ", "&amp;", "&", "&lt;", "<", "&gt;", ">", "&quot;", `"`, "&#39;", "'").Replace(s)
}

// persons returns the names of persons in a header with addresses.
func persons(header string) []string {
	if decoded, err := new(mime.WordDecoder).DecodeHeader(header); err == nil {
		header = decoded
	}
	var out []string
	comment := regexp.MustCompile(`^\S+@\S+ \(([^)]*)\)$`)
	for _, part := range regexp.MustCompile(`,\s*(?:["A-Z]|\S+@)`).Split(strings.ReplaceAll(header, "\n", " "), -1) {
		name, _, found := strings.Cut(part, "<")
		if m := comment.FindStringSubmatch(strings.TrimSpace(part)); m != nil {
			name, found = m[1], true
		}
		name = strings.Trim(strings.TrimSpace(name), `"'`)
		if last, first, ok := strings.Cut(name, ", "); ok {
			name = first + " " + last
		}
		if found && personLike(name) {
			out = append(out, name)
		}
	}
	return out
}

// personLike reports whether a name has the form of a person's.
func personLike(name string) bool {
	words := strings.Fields(name)
	if len(words) < 2 || len(words) > 4 || strings.ContainsAny(name, "@[]()/:!0123456789_=<>&*#|") {
		return false
	}
	for _, w := range words {
		r, _ := utf8.DecodeRuneInString(w)
		if !unicode.IsUpper(r) && !slices.Contains(particleWords(), w) {
			return false
		}
	}
	return !regexp.MustCompile(`(?i)\b(list|admin|users?|team|support|news|mail|daily|inc|ltd|group|center|service|alerts?|letter|club|web|online|offers?|free|digest|linux|red hat|dept|office|company|network|developers?)\b`).MatchString(name)
}

// tidy takes quote marks from the lines of a mail, joins lines of a paragraph that were broken, and
// leaves out what is no prose, and what was in seen.
func tidy(body string, seen map[string]bool) string {
	var out strings.Builder
	quote := regexp.MustCompile(`^([>|:} ]*[>|}] ?)+`)
	blocks := regexp.MustCompile(`\n[ \t]*\n`).Split(strings.ReplaceAll(strings.ReplaceAll(body, "\r", ""), "\n\n", "\n \n"), -1)
	for _, block := range blocks {
		var lines []string
		for line := range strings.SplitSeq(block, "\n") {
			line = strings.TrimRight(quote.ReplaceAllString(line, ""), " \t")
			if strings.TrimSpace(line) == "" && len(lines) == 0 || len(line) > 2000 {
				continue
			}
			if n := len(lines); n > 0 && joinable(lines[n-1], line) {
				lines[n-1] += " " + strings.TrimSpace(line)
				continue
			}
			lines = append(lines, line)
		}
		for _, line := range lines {
			if key := strings.Join(strings.Fields(line), " "); len(key) > 40 {
				if seen[key] {
					continue
				}
				seen[key] = true
			}
			if prose(line) {
				out.WriteString(line)
				out.WriteByte('\n')
			}
		}
		if out.Len() > 0 {
			out.WriteByte('\n')
		}
		if out.Len() > 12000 {
			break
		}
	}
	return out.String()
}

// joinable reports whether a line goes on with the next one.
func joinable(a, b string) bool {
	last := a[strings.LastIndexByte(a, '\n')+1:]
	if len(last) < 55 || b == "" || b[0] == ' ' || b[0] == '\t' {
		return false
	}
	r, _ := utf8.DecodeRuneInString(b)
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(`"'($`, r)
}

// prose reports whether a line is no block of code or of encoded bytes.
func prose(line string) bool {
	if len(line) > 60 && !strings.Contains(line, " ") {
		return false
	}
	letters := 0
	for _, r := range line {
		if unicode.IsLetter(r) || r == ' ' {
			letters++
		}
	}
	return strings.TrimSpace(line) == "" || letters*10 >= len(line)*4
}

// countCases counts how often words are in lower case, and in upper case where no sentence begins.
func countCases(texts []string) map[string]*cased {
	out := map[string]*cased{}
	word := regexp.MustCompile(`[\p{L}\p{M}'’]+`)
	for _, text := range texts {
		for line := range strings.SplitSeq(text, "\n") {
			if strings.ToUpper(line) == line {
				continue
			}
			for _, at := range word.FindAllStringIndex(line, -1) {
				w := strings.Trim(line[at[0]:at[1]], "'’")
				w = strings.TrimSuffix(strings.TrimSuffix(w, "'s"), "’s")
				if len(w) < 2 {
					continue
				}
				low := strings.ToLower(w)
				c := out[low]
				if c == nil {
					c = &cased{}
					out[low] = c
				}
				switch {
				case low == w:
					c.lower++
				case at[0] > 1 && strings.ContainsRune(" ", rune(line[at[0]-1])) && !strings.ContainsRune(".!?:-*\"", rune(line[at[0]-2])):
					c.upper++
				}
			}
		}
	}
	return out
}
