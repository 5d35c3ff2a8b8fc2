package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/cluster/money"
)

// callers make requests, each with a number, and keep books of what they get.
type callers struct {
	provider *bookkeeper
	key      string
	asked    atomic.Int64 // requests so far, which are their numbers
	// forgetful: the gateway may die before it has written down what it has sent, and
	// nobody has had a byte of the answer then.
	forgetful bool

	mu     sync.Mutex
	seen   map[int]money.Pico // what the answers that came whole cost
	by     map[int]string     // the addresses that gave them
	broken map[int]int64      // words of the streams that broke off
	left   []int              // the numbers of requests that were never answered
}

func newCallers(provider *bookkeeper, key string) *callers {
	return &callers{provider: provider, key: key, seen: map[int]money.Pico{}, by: map[int]string{}, broken: map[int]int64{}}
}

// answers is how many answers came whole.
func (c *callers) answers() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.seen)
}

// ask makes one request and notes its answer if it came whole. It returns the
// status; 0 is a connection that broke.
func (c *callers) ask(ctx context.Context, url string, n, tokens int) int {
	status, _ := c.askFor(ctx, url, n, tokens)
	return status
}

// askFor is ask, with the answer's body.
func (c *callers) askFor(ctx context.Context, url string, n, tokens int) (status int, body string) {
	streams := n%2 == 0
	ask := fmt.Sprintf(`{"model":"fast","user":"r%d","max_tokens":%d,"stream":%t,"messages":[{"role":"user","content":"request %d: say what you have to say in as many words as you may"}]}`, n, tokens, streams, n)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/chat/completions", strings.NewReader(ask))
	if err != nil {
		return 0, err.Error()
	}
	r.Header.Set("Authorization", "Bearer "+c.key)
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	whole, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode == http.StatusOK && streams && !bytes.Contains(whole, []byte("[DONE]")) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.broken[n] = int64(strings.Count(string(whole), bookWord))
		return 0, string(whole)
	}
	if resp.StatusCode == http.StatusOK {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.seen[n], c.by[n] = c.provider.entry(n).cost, url
	}
	return resp.StatusCode, string(whole)
}

// pressPause is how long a caller waits that got no answer.
const pressPause = 50 * time.Millisecond

// outcome is what a caller got: the status, 0 for a connection that broke, and the
// error's code.
type outcome struct {
	url    string
	status int
	code   string
}

// press has n callers make requests, one after the other, each where at says for its
// number. What it returns lets them get their last answers, and says what they all got.
func (c *callers) press(t *testing.T, n int, at func(number int) (url string)) (end func() map[outcome]int) {
	t.Helper()
	var callers sync.WaitGroup
	var mu sync.Mutex
	count := map[outcome]int{}
	done := make(chan struct{})
	end = sync.OnceValue(func() map[outcome]int {
		close(done)
		callers.Wait()
		return count
	})
	t.Cleanup(func() { end() })
	ctx := t.Context()
	for range n {
		callers.Go(func() {
			for {
				n := int(c.asked.Add(1))
				got := outcome{url: at(n)}
				var body string
				if got.status, body = c.askFor(ctx, got.url, n, 10+n%5); got.status != http.StatusOK {
					_, got.code, _ = strings.Cut(body, `"code":"`)
					got.code, _, _ = strings.Cut(got.code, `"`)
				}
				mu.Lock()
				count[got]++
				mu.Unlock()
				pause := time.Duration(0)
				if got.status != http.StatusOK { // nobody is there
					pause = pressPause
				}
				select {
				case <-done:
					return
				case <-time.After(pause):
				}
			}
		})
	}
	return end
}

// stuck makes requests that are never answered, and returns when they are on the
// disk: an answer that came later is written with or after them.
func (c *callers) stuck(t *testing.T, url string) {
	t.Helper()
	for range stuckRequests {
		n := stuckFrom + len(c.left)
		c.left = append(c.left, n)
		go c.ask(context.WithoutCancel(t.Context()), url, n, 10)
	}
	for range stuckRequests {
		select {
		case <-c.provider.came:
		case <-time.After(time.Minute):
			t.Fatal("the requests did not reach the provider")
		}
	}
	status := 0
	for deadline := time.Now().Add(time.Minute); status != http.StatusOK; { // a busy leader may lose its place for a moment
		if time.Now().After(deadline) {
			t.Fatalf("a request was answered with %d", status)
		}
		status = c.ask(t.Context(), url, int(c.asked.Add(1)), 10)
	}
}

// tally is how requests ended, by what their last record says.
type tally map[string]int

// check compares the records of all requests with what callers and provider know. It
// returns how they ended, and what they cost together.
func (c *callers) check(t *testing.T, rows []spendLog) (ends tally, sum money.Pico) {
	t.Helper()
	of := map[string][]spendLog{}
	for _, e := range rows {
		of[e.EndUser] = append(of[e.EndUser], e)
		sum += inPico(t, e.Spend)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	ends = tally{}
	for n := 1; n <= int(c.asked.Load()); n++ {
		ends[c.checkRequest(t, n, of[fmt.Sprint("r", n)])]++
	}
	for _, n := range c.left {
		end := c.checkRequest(t, n, of[fmt.Sprint("r", n)])
		if end != "crashed" && end != "canceled" {
			t.Errorf("request %d was under way and has the records %+v", n, of[fmt.Sprint("r", n)])
		}
		ends[end]++
	}
	if len(rows) == 0 || len(c.seen) == 0 {
		t.Errorf("%d records of %d answers", len(rows), len(c.seen))
	}
	t.Logf("%d requests, %d answers, %d records, %s spent, ended %v", c.asked.Load(), len(c.seen), len(rows), sum, ends)
	return ends, sum
}

// checkRequest checks the records of one request, the first attempt first: there is
// one for each attempt that reached the provider, and none twice. It returns how the
// request ended, as the last one says; empty if there is none.
func (c *callers) checkRequest(t *testing.T, n int, rows []spendLog) string {
	t.Helper()
	e := c.provider.entry(n)
	_, whole := c.seen[n]
	if len(rows) == 0 {
		if whole || c.broken[n] > 0 || e.came > 0 && !c.forgetful {
			t.Errorf("request %d has no record; answered: %t, in the provider's books: %+v", n, whole, e)
		}
		return ""
	}
	// When Envoy or all died, one that was written down may not have been sent, and of
	// one that was refused, which costs nothing, nobody may have heard.
	earlier, last := rows[:len(rows)-1], rows[len(rows)-1]
	least, most := e.came, e.came
	if last.Status != "success" {
		least, most = e.came-e.refused, e.came+1
	}
	if len(rows) < least || len(rows) > most {
		t.Errorf("request %d has the records %+v, in the provider's books: %+v", n, rows, e)
	}
	for i, r := range rows {
		if r.Attempt != i+1 || i < len(earlier) && (r.Status != "failed" || r.HTTPStatus != http.StatusInternalServerError || inPico(t, r.Spend) != 0) {
			t.Errorf("attempt %d of request %d: %+v", i+1, n, r)
		}
	}
	spent := inPico(t, last.Spend)
	if whole && (last.Status != "success" || spent != c.seen[n]) {
		t.Errorf("request %d was answered and cost %s, and has the record %+v", n, c.seen[n], last)
	}
	right := false
	switch last.Status {
	case "success":
		right = e.cost != 0 && spent == e.cost
	case "crashed":
		right = last.Source == "estimated" && last.PromptTokens > 0 && spent >= bookCost(last.PromptTokens, 0)
	case "canceled":
		// What the caller has of it counts, and what the provider made, to the last word
		// that left it.
		counted := last.CompletionTokens >= c.broken[n] && last.CompletionTokens <= e.words
		right = last.PromptTokens > 0 && spent == bookCost(last.PromptTokens, last.CompletionTokens) &&
			(last.Source == "estimated" && counted || last.Source == "provider" && spent == e.cost)
	}
	if !right {
		t.Errorf("request %d, of which the caller has %d words, has the record %+v; in the provider's books: %+v", n, c.broken[n], last, e)
	}
	return last.Status
}
