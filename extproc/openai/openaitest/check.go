package openaitest

import (
	"slices"
	"strings"
)

// TB is a test, or one of package rapid.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
}

// CheckRequest fails the test if a request has problems other than those that its caller has made. made
// returns these; nil if there are none, because the gateway has written the whole request.
func (j *Judge) CheckRequest(t TB, path, media string, body []byte, made func() []string) {
	t.Helper()
	report(t, "the request to "+path, without(j.Request(path, media, body), made), body)
}

// Reply is a response.
type Reply struct {
	Status int
	Media  string // its content type
	Body   []byte
}

// CheckResponse fails the test if a response has problems other than those that its provider has made. made
// returns these; nil if there are none, because the gateway has written the whole response.
func (j *Judge) CheckResponse(t TB, path string, r Reply, made func() []string) {
	t.Helper()
	report(t, "the response of "+path, without(j.Response(path, r), made), r.Body)
}

// without returns the problems that others have not made. Events may be left out, so their numbers are not compared.
func without(problems []string, made func() []string) []string {
	if len(problems) == 0 || made == nil {
		return problems
	}
	known := map[string]bool{}
	for _, problem := range made() {
		known[withoutNumber(problem)] = true
	}
	return slices.DeleteFunc(slices.Clone(problems), func(p string) bool { return known[withoutNumber(p)] })
}

// withoutNumber returns a problem without the number of its event.
func withoutNumber(problem string) string {
	if rest, ok := strings.CutPrefix(problem, eventPrefix); ok {
		_, problem, _ = strings.Cut(rest, ": ")
	}
	return problem
}

// shownBytes is how much of a body is shown.
const shownBytes = 1000

// report fails the test if there are problems.
func report(t TB, what string, problems []string, body []byte) {
	t.Helper()
	if len(problems) > 0 {
		t.Errorf("%s is not valid by OpenAI's document:\n  %s\n%s", what, strings.Join(problems, "\n  "), body[:min(len(body), shownBytes)])
	}
}
