package tokentest

import (
	"io"
	"net/http"
	"net/http/httputil"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelgateway/modelgateway/cluster/cloud"
)

// Case is a kind of credential, and the services that give tokens for it.
type Case struct {
	Of   cloud.Kind
	Make Make
	// Serve puts the services into the network. They get a token from the gate's Issue for each request that has all that the cloud
	// demands, and report others with Reject. Requests that lead to a token pass through the gate.
	Serve func(t *testing.T, n *Network, g *Gate)
	// Failure returns the body of a failure that repeats a text.
	Failure func(text string) string
	// Credential and Rotated are the settings of two credentials that the services accept.
	Credential, Rotated map[string]string
	Environ             map[string]string
	Canaries            []string // what must not be printed, besides the secret settings
}

// Life is how long the tokens of a Gate are valid.
const Life = time.Hour

// Gate is in front of token services: it counts requests for tokens, and lets them fail.
type Gate struct {
	t       *testing.T
	failure func(text string) string

	mu struct {
		sync.Mutex
		status   int  // of failures; 0: none
		silent   bool // no response
		requests int
		rejected []string
	}
}

// NewGate returns a gate that is open. failure is as in Case.
func NewGate(t *testing.T, failure func(text string) string) *Gate {
	t.Helper()
	return &Gate{t: t, failure: failure}
}

// Issue returns the next token, whose number makes it differ from the others.
func (g *Gate) Issue() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return "token-" + strconv.Itoa(g.mu.requests)
}

// Reject responds to a request that the cloud would not accept.
func (g *Gate) Reject(w http.ResponseWriter, status int, why string) {
	g.mu.Lock()
	g.mu.rejected = append(g.mu.rejected, why)
	g.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, g.failure(why)) // the client sees what is missing
}

// Pass returns a handler of requests for tokens.
func (g *Gate) Pass(h http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		g.mu.requests++
		status, silent := g.mu.status, g.mu.silent
		g.mu.Unlock()
		switch {
		case silent:
			_, _ = io.Copy(io.Discard, r.Body) // else the server does not notice that the client goes away
			<-r.Context().Done()
		case status != 0:
			seen, err := httputil.DumpRequest(r, true)
			if err != nil {
				g.t.Error(err)
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, g.failure(string(seen)))
		default:
			h(w, r)
		}
	})
}

func (g *Gate) set(status int, silent bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mu.status, g.mu.silent = status, silent
}

func (g *Gate) requests() int {
	synctest.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.mu.requests
}

// Laws tests that a kind of credential has tokens as package token promises.
func Laws(t *testing.T, c Case) {
	t.Helper()
	for name, law := range map[string]func(*lab){
		"renewal": (*lab).renewal, "rotation": (*lab).rotation, "failures": (*lab).failures, "silence": (*lab).silence, "at once": (*lab).atOnce,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &lab{t: t, Case: c, n: NewNetwork(t), g: NewGate(t, c.Failure)}
				c.Serve(t, l.n, l.g)
				law(l)
				l.g.mu.Lock()
				defer l.g.mu.Unlock()
				if len(l.g.mu.rejected) != 0 {
					t.Errorf("the token service rejected requests: %v", slices.Compact(l.g.mu.rejected))
				}
			})
		})
	}
}

// lab is a law under test.
type lab struct {
	Case
	t *testing.T
	n *Network
	g *Gate
}

func (l *lab) node(deployments ...string) *Node {
	all := make(map[string]map[string]string)
	for _, name := range deployments {
		all[name] = l.Credential
	}
	return l.n.NewNode(l.Of, l.Make, l.Environ, all)
}

// text returns what differs between tokens.
func text(t cloud.Token) string {
	if !t.Bearer.IsEmpty() {
		return t.Bearer.Reveal()
	}
	return t.SessionToken.Reveal()
}

// pass lets virtual time pass.
func pass(d time.Duration) { <-time.After(d) }

// want checks the token of the deployment a.
func (l *lab) want(node *Node, want string) {
	l.t.Helper()
	if got := text(node.Token("a")); got != want {
		l.t.Errorf("at %s the token is %q, want %q; %s\n%s", time.Now().Format(time.TimeOnly), got, want, node.Reason("a"), node.Printed())
	}
}

// noCanary finds secrets in what is printed.
func (l *lab) noCanary(node *Node) {
	l.t.Helper()
	printed := node.Printed() + node.Reason("a")
	canaries := slices.Clone(l.Canaries)
	for name, value := range l.Credential {
		if s, ok := cloud.Named(name); ok && s.Secret && !cloud.IsFile(name, value) {
			canaries = append(canaries, value)
		}
	}
	for _, canary := range canaries {
		if strings.Contains(printed, canary) {
			l.t.Errorf("the secret %q is in %s", canary, printed)
		}
	}
}

// renewal: a token is replaced when a fifth of its life is left, and there is one at every moment.
func (l *lab) renewal() {
	node := l.node("a")
	l.want(node, "token-1")
	pass(Life*4/5 - 2*time.Second)
	l.want(node, "token-1")
	if n := l.g.requests(); n != 1 {
		l.t.Errorf("there were %d requests before four fifths of the token's life", n)
	}
	pass(4 * time.Second)
	l.want(node, "token-2")
	for range 12 * 60 {
		pass(time.Minute)
		if got := node.Token("a"); got.IsZero() {
			l.t.Fatalf("there is no token: %s", node.Reason("a"))
		}
	}
	if n := l.g.requests(); n != 17 { // the first, and one each 48 minutes
		l.t.Errorf("there were %d requests in 12 h and 48 min", n)
	}
	l.noCanary(node)
}

// rotation: a new credential is used at once, and the token of the old one not any more.
func (l *lab) rotation() {
	if l.Rotated == nil {
		return
	}
	node := l.node("a")
	l.want(node, "token-1")
	node.Rotate(map[string]map[string]string{"a": l.Rotated})
	l.want(node, "token-2")
	node.Rotate(map[string]map[string]string{})
	pass(24 * time.Hour)
	if n := l.g.requests(); n != 2 {
		l.t.Errorf("there were %d requests; want none once no deployment has the credential", n)
	}
}

// failures: while a service fails, the token is used until it expires; then the reason is shown, until the service is well.
func (l *lab) failures() {
	node := l.node("a")
	l.want(node, "token-1")
	l.g.set(http.StatusInternalServerError, false)
	pass(Life - time.Second)
	l.want(node, "token-1")
	pass(2 * time.Second)
	l.want(node, "")
	if why := node.Reason("a"); !strings.Contains(why, "500") && !strings.Contains(why, "InternalServerError") {
		l.t.Errorf("the reason for having no token is %q", why)
	}
	l.noCanary(node)
	l.g.set(0, false)
	pass(time.Minute)
	if node.Token("a").IsZero() {
		l.t.Errorf("the service is well again, and there is no token: %s", node.Reason("a"))
	}
	l.noCanary(node)
}

// silence: a service that accepts requests and says nothing is given up, and called again. Some libraries have less patience.
func (l *lab) silence() {
	l.g.set(0, true)
	node := l.node("a")
	pass(15*time.Second + time.Millisecond)
	if why := node.Reason("a"); !strings.HasSuffix(why, "the token service did not respond within 15s") && !strings.HasSuffix(why, "the token service does not respond in time") {
		l.t.Errorf("the reason for having no token is %q", why)
	}
	l.noCanary(node)
	l.g.set(0, false)
	pass(15 * time.Second)
	if node.Token("a").IsZero() {
		l.t.Errorf("the service responds, and there is no token: %s", node.Reason("a"))
	}
}

// atOnce: two nodes that start at the same time, with many deployments each, make one request each.
func (l *lab) atOnce() {
	var names []string
	for i := range 50 {
		names = append(names, "d"+strconv.Itoa(i))
	}
	nodes := []*Node{l.node(names...), l.node(names...)}
	for _, node := range nodes {
		for _, name := range names {
			if node.Token(name).IsZero() {
				l.t.Fatalf("%s has no token: %s", name, node.Reason(name))
			}
		}
	}
	if n := l.g.requests(); n != len(nodes) {
		l.t.Errorf("%d nodes made %d requests", len(nodes), n)
	}
}
