package main

import (
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/money"
)

// Prices with a digit in each place down to a pico-dollar, so that a sum that went
// through floating point shows.
const (
	bookInput  money.Pico = 123_457
	bookOutput money.Pico = 9_876_543
)

// bookCost is what so many tokens cost.
func bookCost(input, output int64) money.Pico {
	return money.Pico(input)*bookInput + money.Pico(output)*bookOutput
}

// stuckFrom is the first number of the requests that are never answered.
const stuckFrom = 1_000_000

// bookkeeper is a provider with books of its own: what it has made for each request,
// by the request's number. It makes all the tokens that it may.
type bookkeeper struct {
	url  string
	came chan int // the numbers of those that are never answered

	mu   sync.Mutex
	made map[int]money.Pico
}

func newBookkeeper(t *testing.T) *bookkeeper {
	t.Helper()
	b := &bookkeeper{made: map[int]money.Pico{}, came: make(chan int, 16)}
	srv := httptest.NewServer(b)
	t.Cleanup(srv.Close)
	b.url = srv.URL
	return b
}

// cost is what a request was answered with.
func (b *bookkeeper) cost(n int) (money.Pico, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c, ok := b.made[n]
	return c, ok
}

// ServeHTTP answers chat completions.
func (b *bookkeeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Stream    bool  `json:"stream"`
		MaxTokens int64 `json:"max_tokens"`
		Messages  []struct {
			Content string `json:"content"`
		} `json:"messages"`
	}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &ask)
	}
	n := 0
	if err == nil && len(ask.Messages) == 1 {
		_, err = fmt.Sscanf(ask.Messages[0].Content, "request %d:", &n)
	}
	if err != nil || n == 0 {
		http.Error(w, fmt.Sprint("no request of these tests: ", err), http.StatusBadRequest)
		return
	}
	if n >= stuckFrom {
		b.came <- n
		<-r.Context().Done()
		return
	}
	input := int64(3 + n%7)
	b.mu.Lock()
	b.made[n] = bookCost(input, ask.MaxTokens)
	b.mu.Unlock()
	usage := fmt.Sprintf(`"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`, input, ask.MaxTokens, input+ask.MaxTokens)
	if !ask.Stream {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"id":"c%d","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"done"},"finish_reason":"stop"}],%s}`, n, usage)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	const chunk = `data: {"id":"c%d","object":"chat.completion.chunk","created":1,"model":"m","choices":[%s]%s}` + "\n\n"
	for _, choice := range []string{`{"index":0,"delta":{"role":"assistant","content":"do"}}`, `{"index":0,"delta":{"content":"ne"},"finish_reason":"stop"}`} {
		_, _ = fmt.Fprintf(w, chunk, n, choice, "")
		_ = http.NewResponseController(w).Flush()
	}
	_, _ = fmt.Fprintf(w, chunk+"data: [DONE]\n\n", n, "", ","+usage)
}

// hookBooks is a receiver of the audit log with books of its own.
type hookBooks struct {
	url string

	mu    sync.Mutex
	last  uint64 // the highest number of a record
	wrong error  // the first that came before its turn
}

func newHookBooks(t *testing.T) *hookBooks {
	t.Helper()
	h := &hookBooks{}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	h.url = srv.URL
	return h
}

// eventNumber is the number in an event's id.
func eventNumber(text string) (uint64, error) {
	digits, ok := strings.CutPrefix(text, "evt_")
	if !ok {
		return 0, errors.New("not an event's id: " + text)
	}
	return strconv.ParseUint(digits, 16, 64)
}

// ServeHTTP takes a record. One that came already may come again, and so may those
// after it; none may be left out.
func (h *hookBooks) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	n, err := eventNumber(r.Header.Get("X-Gateway-Event-Id"))
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.wrong != nil:
	case err != nil:
		h.wrong = err
	case h.last != 0 && n > h.last+1:
		h.wrong = fmt.Errorf("after record %d came record %d", h.last, n)
	default:
		h.last = max(h.last, n)
	}
}

// has reports how far the records go.
func (h *hookBooks) has() (uint64, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last, h.wrong
}

// inPico reads an amount of the API, exactly.
func inPico(t *testing.T, v jsontext.Value) money.Pico {
	t.Helper()
	r, ok := new(big.Rat).SetString(string(v))
	if !ok {
		t.Fatalf("%q is no amount", v)
	}
	r.Mul(r, big.NewRat(int64(money.USD), 1))
	if !r.IsInt() || !r.Num().IsInt64() {
		t.Fatalf("%s is no whole number of pico-dollars", v)
	}
	return money.Pico(r.Num().Int64())
}
