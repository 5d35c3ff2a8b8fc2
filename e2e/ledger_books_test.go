package e2e

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

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

// bookModels is the configuration of a gateway that asks a bookkeeper.
func bookModels(provider *bookkeeper) string {
	return fmt.Sprintf(`
model_list:
  - model_name: fast
    gateway_params: {model: openai/m, api_base: %s/v1, api_key: provider-key, input_cost_per_token: %s, output_cost_per_token: %s}
audit:
  allow_private_webhooks: true
`, provider.url, bookInput, bookOutput)
}

// stuckFrom is the first number of the requests that are never answered.
const stuckFrom = 1_000_000

// bookkeeper is a provider with books of its own: what it has made for each request,
// by the request's number. It makes all the tokens that it may.
type bookkeeper struct {
	url  string
	came chan int // the numbers of those that are never answered

	// Set before the first request.
	pace  time.Duration // what a word takes to make; 0: all is there at once
	flaky int           // of so many requests one is refused at first; 0: of none

	mu    sync.Mutex
	books map[int]bookEntry
}

// bookEntry is what a provider knows of one request.
type bookEntry struct {
	came    int        // attempts that have reached it
	refused int        // of these
	words   int64      // of a stream, so far
	cost    money.Pico // of the answer; 0 while there is none
}

// serveBooks has a provider or a receiver listen, and returns its address.
func serveBooks(t *testing.T, l net.Listener, h http.Handler) string {
	t.Helper()
	srv := httptest.NewUnstartedServer(h)
	_ = srv.Listener.Close() // one of its own choice
	srv.Listener = l
	srv.Start()
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv.URL
}

// listen listens on a port of this machine's.
func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func newBookkeeper(t *testing.T, l net.Listener) *bookkeeper {
	t.Helper()
	b := &bookkeeper{books: map[int]bookEntry{}, came: make(chan int, 16)}
	b.url = serveBooks(t, l, b)
	return b
}

// entry is what is in the books on a request.
func (b *bookkeeper) entry(n int) bookEntry {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.books[n]
}

// note changes what is in the books on a request, and returns it.
func (b *bookkeeper) note(n int, change func(*bookEntry)) bookEntry {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.books[n]
	change(&e)
	b.books[n] = e
	return e
}

// bookAsk is what is read of a request.
type bookAsk struct {
	Stream    bool  `json:"stream"`
	MaxTokens int64 `json:"max_tokens"`
	Messages  []struct {
		Content string `json:"content"`
	} `json:"messages"`
}

// ServeHTTP answers chat completions.
func (b *bookkeeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var ask bookAsk
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
	e := b.note(n, func(e *bookEntry) {
		e.came++
		if b.flaky > 0 && n%b.flaky == 0 && e.refused == 0 {
			e.refused++
		}
	})
	if e.refused == e.came {
		http.Error(w, `{"error":{"message":"try again"}}`, http.StatusInternalServerError)
		return
	}
	if n >= stuckFrom {
		b.came <- n
		<-r.Context().Done()
		return
	}
	input := int64(3 + n%7)
	usage := fmt.Sprintf(`"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`, input, ask.MaxTokens, input+ask.MaxTokens)
	finish := func() { b.note(n, func(e *bookEntry) { e.cost = bookCost(input, ask.MaxTokens) }) }
	if !ask.Stream {
		if !b.work(r, ask.MaxTokens) {
			return
		}
		finish()
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"id":"c%d","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"done"},"finish_reason":"stop"}],%s}`, n, usage)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	words := ask.MaxTokens
	if b.pace == 0 {
		words = 2
	}
	for range words {
		if !b.work(r, 1) || !b.write(w, n, `{"index":0,"delta":{`+bookWord+`}}`, "") {
			return
		}
	}
	finish()
	if b.write(w, n, `{"index":0,"delta":{},"finish_reason":"stop"}`, "") && b.write(w, n, "", ","+usage) {
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	}
}

// work takes the time that so many words take. It is false if nobody waits any more.
func (b *bookkeeper) work(r *http.Request, words int64) bool {
	if b.pace == 0 {
		return true
	}
	timer := time.NewTimer(b.pace * time.Duration(words))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

// write writes an event of a stream, and counts it first if it has a word. It is false
// if nobody reads any more.
func (b *bookkeeper) write(w http.ResponseWriter, n int, choice, more string) bool {
	if strings.Contains(choice, bookWord) {
		b.note(n, func(e *bookEntry) { e.words++ })
	}
	_, err := fmt.Fprintf(w, `data: {"id":"c%d","object":"chat.completion.chunk","created":1,"model":"m","choices":[%s]%s}`+"\n\n", n, choice, more)
	if err == nil {
		err = http.NewResponseController(w).Flush()
	}
	return err == nil
}

// bookWord is one token, as it stands in a stream.
const bookWord = `"content":" word"`

// hookBooks is a receiver of the audit log with books of its own.
type hookBooks struct {
	url string

	mu    sync.Mutex
	last  uint64              // the highest number of a record
	seen  map[uint64][32]byte // what the record of a number said
	wrong error               // the first that came before its turn, or under the number of another
}

func newHookBooks(t *testing.T, l net.Listener) *hookBooks {
	t.Helper()
	h := &hookBooks{seen: map[uint64][32]byte{}}
	h.url = serveBooks(t, l, h)
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
	body, broken := io.ReadAll(r.Body)
	h.mu.Lock()
	defer h.mu.Unlock()
	says, known := h.seen[n]
	switch {
	case h.wrong != nil || broken != nil: // a sender that dies sends it again
		return
	case err != nil:
		h.wrong = err
		return
	case known && says != sha256.Sum256(body):
		h.wrong = fmt.Errorf("two records have number %d", n)
		return
	}
	h.seen[n] = sha256.Sum256(body)
	switch {
	case h.last != 0 && n > h.last+1:
		h.wrong = fmt.Errorf("after record %d came record %d", h.last, n)
	default:
		h.last = max(h.last, n)
	}
}

// reaches says whether the receiver has all records up to one, and fails if one came
// before its turn.
func (h *hookBooks) reaches(t *testing.T, last uint64) bool {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.wrong != nil {
		t.Fatal(h.wrong)
	}
	return h.last >= last
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
