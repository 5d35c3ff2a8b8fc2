//go:build linux && nightly

package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// attacker is another process with a low priority. It sends floods, and it is the
// provider of the requests that get through. What it costs itself is therefore not
// taken from the gateway and its other callers, as if it ran on machines of its own.
type attacker struct {
	t        *testing.T
	provider string // base address of its provider
	in       io.WriteCloser
	out      *bufio.Reader
}

// attack is an order to the attacker: floods one after the other, until the time is over.
type attack struct {
	URL      string   `json:"url"`
	Keys     []string `json:"keys"`
	Requests int      `json:"requests"` // of one flood
	Chunked  bool     `json:"chunked"`
	Withhold bool     `json:"withhold"`
	Seconds  int      `json:"seconds"` // how long
}

// attacked is what came of an attack.
type attacked struct {
	Statuses map[int]int `json:"statuses"` // 0: no answer
	Sent     int64       `json:"sent"`     // bytes of bodies
}

// attackerEnv is set in the attacker's process.
const attackerEnv = "MODELGATEWAY_TEST_ATTACKER"

func newAttacker(t *testing.T) *attacker {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "nice", "-n", "19", os.Args[0], "-test.run=^TestAttacker$")
	cmd.Env = append(os.Environ(), attackerEnv+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	a := &attacker{t: t, in: in, out: bufio.NewReader(out)}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	a.read(&a.provider)
	return a
}

func (a *attacker) read(to any) {
	a.t.Helper()
	line, err := a.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, to)
	}
	if err != nil {
		a.t.Fatalf("the attacker says %q: %v", line, err)
	}
}

// run has the attacker attack and waits until it is over.
func (a *attacker) run(order attack) (out attacked) {
	a.t.Helper()
	b, err := json.Marshal(order)
	if err == nil {
		_, err = a.in.Write(append(b, '\n'))
	}
	if err != nil {
		a.t.Fatal(err)
	}
	a.read(&out)
	return out
}

// TestAttacker is the attacker's process. As a test of its own it only starts and stops
// one.
func TestAttacker(t *testing.T) {
	if os.Getenv(attackerEnv) == "" {
		if a := newAttacker(t); a.provider == "" {
			t.Error("the attacker does not say where its provider is")
		}
		return
	}
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10}}`)
	}))
	defer provider.Close()
	say := func(v any) {
		b, err := json.Marshal(v)
		if err != nil {
			t.Error(err)
		}
		fmt.Println(string(b))
	}
	say(provider.URL)
	orders := bufio.NewReader(os.Stdin)
	for {
		line, err := orders.ReadBytes('\n')
		if err != nil {
			return
		}
		var order attack
		if err := json.Unmarshal(line, &order); err != nil {
			t.Error(err)
			return
		}
		say(order.carryOut(t))
	}
}

func (a attack) carryOut(t *testing.T) attacked {
	out := attacked{Statuses: make(map[int]int)}
	ends := time.Now().Add(time.Duration(a.Seconds) * time.Second)
	g := &gatewayProcess{t: t, url: a.URL}
	for {
		leave := make(chan struct{})
		timer := time.AfterFunc(time.Duration(a.Seconds)*time.Second, func() {
			if a.Withhold {
				close(leave)
			}
		})
		for _, r := range g.flood(floods{keys: a.Keys, requests: a.Requests, chunked: a.Chunked, withhold: a.Withhold}, leave) {
			out.Statuses[r.status]++
			out.Sent += int64(r.sent)
		}
		timer.Stop()
		if time.Now().After(ends) {
			return out
		}
	}
}
