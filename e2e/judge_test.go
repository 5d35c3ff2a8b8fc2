package e2e

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelgateway/modelgateway/extproc/openai/openaitest"
)

// judge says whether requests and responses in OpenAI's languages are valid.
var judge = sync.OnceValue(openaitest.New)

// judgeAnswer fails the test if what a caller of OpenAI's API gets is not valid. An answer that breaks off is
// judged up to there.
func judgeAnswer(t *testing.T, r *http.Request, a *answer) {
	t.Helper()
	path := r.URL.Path
	if !judge().Knows(path) || r.Header.Get("anthropic-version") != "" || r.Method != http.MethodPost && openaitest.OperationPath(path) != "/models" {
		return
	}
	judge().CheckResponse(t, path, openaitest.Reply{Status: a.status, Media: a.header.Get("content-type"), Body: []byte(a.body)}, badUsage)
}

// asked has the requests that g.do has sent, by the name of the test.
var asked sync.Map

// sent is a request as its caller has sent it.
type sent struct{ path, media, body string }

// noteRequest remembers a request: what its caller has done wrong is passed on.
func noteRequest(t *testing.T, r *http.Request) {
	t.Helper()
	if r.GetBody == nil || !judge().Knows(r.URL.Path) {
		return
	}
	copied, err := r.GetBody()
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(copied)
	if err != nil {
		t.Fatal(err)
	}
	all, _ := asked.LoadOrStore(testName(t), new(sync.Map))
	all.(*sync.Map).Store(sent{r.URL.Path, r.Header.Get("Content-Type"), string(body)}, true)
}

// made returns the problems of all requests of a test for an operation.
func made(t *testing.T, path string) []string {
	t.Helper()
	var out []string
	if all, ok := asked.Load(testName(t)); ok {
		all.(*sync.Map).Range(func(key, _ any) bool {
			if s := key.(sent); openaitest.SameOperation(s.path, path) {
				out = append(out, judge().Request(s.path, s.media, []byte(s.body))...)
			}
			return true
		})
	}
	return out
}

// programs returns those problems of a request that programs with clients of others make, which are passed on: what
// they send to see that it is, and what their libraries send.
func programs(problems []string) []string {
	return slices.DeleteFunc(slices.Clone(problems), func(problem string) bool {
		return !slices.ContainsFunc([]string{
			"/some_new_field: ModelResponseProperties, CreateModelResponseProperties/allOf/1, CreateChatCompletionRequest/allOf/1 has no such member",
			"/: there is no such member as metadata[user_id]",
			// OpenAI's library for JavaScript sends the first, and Vercel's pictures without the second.
			"/parsed_arguments: FunctionToolCall has no such member",
			": detail is missing",
		}, func(known string) bool { return strings.HasSuffix(problem, known) })
	})
}

// badUsage returns the problems of reports of usage that the fake provider makes on purpose: they are passed on.
func badUsage() []string {
	out := []string{"/usage: got null, want object"}
	for _, name := range []string{"prompt_tokens", "completion_tokens", "total_tokens"} {
		out = append(out, "/usage/"+name+": got number, want integer", "/usage/"+name+": got string, want integer")
	}
	return out
}

// testName returns the name of a test without those of its parts.
func testName(t *testing.T) string {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")
	return name
}

// These begin the paths at which the fake provider is one whose requests only look like OpenAI's.
const (
	mistralPath = "/mistral/"
	voyagePath  = "/voyage/"
	jinaPath    = "/jina/"
)

// looksLikeOpenAI reports whether a path is one of those.
func looksLikeOpenAI(path string) bool {
	return strings.HasPrefix(path, mistralPath) || strings.HasPrefix(path, voyagePath) || strings.HasPrefix(path, jinaPath)
}

// judgeRequests fails the test if what a provider of OpenAI's API was sent is not valid. Bodies that the provider
// has not kept whole are not judged.
func judgeRequests(t *testing.T, p *upstream) {
	t.Helper()
	if p.loose {
		return
	}
	for _, r := range p.Requests() {
		if r.Method == http.MethodPost && judge().Knows(r.Path) && !looksLikeOpenAI(r.Path) && len(r.Body) == r.BodyBytes && r.BodyBytes > 0 {
			media, body := r.Headers.Get("Content-Type"), []byte(r.Body)
			judge().CheckRequest(t, r.Path, media, body, func() []string {
				return append(made(t, r.Path), programs(judge().Request(r.Path, media, body))...)
			})
		}
	}
}
