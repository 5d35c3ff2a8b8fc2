package remote

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/guard/engine"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// What an engine does if its settings do not say so.
const (
	DefaultTimeout  = 2 * time.Second
	DefaultParallel = 16
)

// Service says which service is called, and how.
type Service struct {
	URL      string
	Key      vault.Secret  // that is sent as a bearer token; empty for none
	Timeout  time.Duration // of a call; 0 means DefaultTimeout
	Parallel int           // calls at a time; 0 means DefaultParallel
}

func (c *Client) line(s *Service, url string) line {
	l := line{client: c, url: url, timeout: s.Timeout, places: make(chan struct{}, max(s.Parallel, 0))}
	if s.Timeout == 0 {
		l.timeout = DefaultTimeout
	}
	if s.Parallel == 0 {
		l.places = make(chan struct{}, DefaultParallel)
	}
	l.headers = func(to http.Header, _ []byte) {
		if !s.Key.IsEmpty() {
			to.Set("Authorization", "Bearer "+s.Key.Reveal())
		}
	}
	return l
}

// Bounds of one call.
const (
	maxParts = 32
	maxBytes = 64 << 10
)

// part is a part of a text. Spaces around it are left out.
type part struct {
	start, end int    // in the text of a Scan
	text       []byte // without spaces around it
	before     []byte // the part before; empty if the part begins with the text
	cut        bool   // the part before ends within a sentence
}

// asker asks a service about parts, and returns what it finds in each: findings are in order, do not overlap, and count from the
// beginning of the part's text.
type asker interface {
	ask(ctx context.Context, about *about, parts []part) ([][]engine.Finding, error)
}

// about is what a service may know of the parts.
type about struct {
	engine.Call
	kind texts.Kind
	role texts.Role
}

// Engine asks a service.
type Engine struct{ asker asker }

var _ engine.Engine = (*Engine)(nil)

// Scanner returns a scanner for the texts of one request.
func (e *Engine) Scanner() engine.Scanner { return &scanner{asker: e.asker} }

// scanner reads the texts of one request.
type scanner struct {
	asker asker
	about about
	last  int   // length of the part that was decided last
	cut   bool  // it ends within a sentence
	late  error // the service did not respond in time; it is not asked again for this request
	parts []part
}

var _ engine.Informed = (*scanner)(nil)

// Inform notes what the texts belong to.
func (s *scanner) Inform(of engine.Call) { s.about.Call = of }

// Begin begins another text.
func (s *scanner) Begin(kind texts.Kind, role texts.Role) {
	s.about.kind, s.about.role = kind, role
	s.last, s.cut = 0, false
}

// Fork returns a scanner for a text of the response.
func (s *scanner) Fork() engine.Scanner {
	return &scanner{asker: s.asker, about: s.about, late: s.late}
}

// Reset forgets everything.
func (s *scanner) Reset() { *s = scanner{asker: s.asker, parts: s.parts[:0]} }

// Scan asks about the parts of text that are complete.
func (s *scanner) Scan(ctx context.Context, text []byte, at int, end bool, found []engine.Finding) ([]engine.Finding, int, error) {
	if s.late != nil {
		return found, at, s.late
	}
	of := ofResponse()
	if s.about.Hook == "pre_call" {
		of = ofRequest()
	}
	decided := s.split(of, text, at, end)
	for rest := s.parts; len(rest) > 0; {
		n, size := 0, 0
		for n < len(rest) && n < maxParts && (n == 0 || size+len(rest[n].text) <= maxBytes) {
			size += len(rest[n].text)
			n++
		}
		all, err := s.asker.ask(ctx, &s.about, rest[:n])
		if err != nil {
			if _, late := errors.AsType[*lateError](err); late {
				s.late = err
			}
			s.last, s.cut = 0, false
			return found, at, err
		}
		for i := range all {
			for _, f := range all[i] {
				f.Start, f.End = f.Start+rest[i].start, f.End+rest[i].start
				found = append(found, f)
			}
		}
		rest = rest[n:]
	}
	return found, decided, nil
}

// split notes the parts of text from at on that are complete, and returns where the last of them ends.
func (s *scanner) split(of size, text []byte, at int, end bool) int {
	s.parts = s.parts[:0]
	for {
		n, cut := of.next(text[at:], end)
		if n == 0 {
			return at
		}
		from := max(at-min(s.last, engine.Behind), 0)
		for from < at && !utf8.RuneStart(text[from]) {
			from++
		}
		p := part{start: at, end: at + n, cut: s.cut, before: text[from:at]}
		if p.trim(text) {
			s.parts = append(s.parts, p)
		}
		s.last, s.cut = n, cut
		at += n
	}
}

// trim leaves out the spaces around a part, and reports whether anything is left.
func (p *part) trim(text []byte) bool {
	for p.start < p.end && isSpace(text[p.start]) {
		p.start++
	}
	for p.start < p.end && isSpace(text[p.end-1]) {
		p.end--
	}
	p.text = text[p.start:p.end]
	return p.start < p.end
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// names bounds the entities that a service can bring into records and metrics.
type names struct {
	mu   sync.Mutex
	seen map[string]bool // mu
}

// maxNames is how many entities of one service are told apart.
const maxNames = 64

// otherName is the entity of findings whose own would be one too many.
const otherName = "OTHER"

// of returns the entity for a name, which is valid.
func (n *names) of(name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.seen[name] {
		return name
	}
	if len(n.seen) >= maxNames {
		return otherName
	}
	if n.seen == nil {
		n.seen = map[string]bool{}
	}
	n.seen[name] = true
	return name
}

// isName reports whether a name can be that of an entity.
func isName(name string) bool {
	if name == "" || len(name) > 64 || name[0] < 'A' || name[0] > 'Z' {
		return false
	}
	for i := range len(name) {
		if c := name[i]; (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}
