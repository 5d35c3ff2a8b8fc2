package e2e

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/cluster/inject"
	"github.com/modelgateway/modelgateway/cluster/money"
)

const (
	killedKey = "sk-killed-0123456789abcdef"
	// killedBudget is enough for the requests until a kill and some more.
	killedBudget = money.USD * 6 / 100
	// burnTokens makes what is left of it end soon.
	burnTokens = 300
	// killedCallers ask at the same time, as fast as they can for the first
	// killedBurst requests and slowly after, for some points are only passed after
	// seconds.
	killedCallers = 4
	killedBurst   = 60
	killedPause   = 200 * time.Millisecond
	// killedIdle is long enough for the leader to begin a window again before a request
	// does.
	killedIdle    = 3 * time.Second
	stuckRequests = 3
)

// passes returns at which pass of a point the process dies: at the first where there
// are few, else at a later one, so that there are books to spoil.
func passes(point string) int {
	switch family, _, _ := strings.Cut(point, "."); {
	case family == "audit", family == "lease", family == "restore", strings.HasPrefix(point, "journal.repair."):
		return 1
	case family == "window", strings.HasPrefix(point, "deliver.save."):
		return 2 // the first save says where the deliveries begin, while all is set up
	case family == "journal", family == "deliver", family == "request":
		return 7
	}
	return 3
}

// TestLedgerSurvivesKills: a gateway that dies between any two steps of the way that
// money takes loses none and counts none twice.
func TestLedgerSurvivesKills(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "modelgateway")
	args := []string{"build", "-ldflags=-s -w", "-tags", "inject", "-o", path}
	if raced(t) {
		args = append(args, "-race")
	}
	if out, err := exec.CommandContext(t.Context(), "go", append(args, ".")...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, point := range inject.Points() {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			k := newKilled(t, path)
			restores := strings.HasPrefix(point, "restore.")
			pause := killedPause
			if strings.HasPrefix(point, "window.") {
				pause = killedIdle
			}
			dies := fmt.Sprintf("%s=%s:%d", inject.PointVariable, point, passes(point))
			if strings.HasPrefix(point, "journal.repair.") {
				k.launch("")
				k.awaitReady()
				k.setUp()
				k.stuck(t, k.url)
				k.kill()
				k.launch(dies)
			} else {
				k.launch(dies)
				k.awaitReady()
				k.setUp()
				if restores {
					k.backUp()
					go k.restore() // it dies of it
				}
				k.askUntilDead(pause)
			}
			k.awaitDeath()
			k.launch("")
			k.awaitReady()
			if restores {
				k.restored()
			}
			k.burn()
			k.check()
		})
	}
}

// killed is a gateway that dies, and what its callers know.
type killed struct {
	*gatewayProcess
	*callers
	path   string // of the binary
	hook   *hookBooks
	ended  atomic.Pointer[chan struct{}] // closed when the process is dead
	backup []byte
}

func newKilled(t *testing.T, path string) *killed {
	t.Helper()
	k := &killed{path: path, callers: newCallers(newBookkeeper(t, listen(t)), killedKey), hook: newHookBooks(t, listen(t))}
	k.forgetful = true
	k.gatewayProcess = newGateway(t, bookModels(k.provider))
	return k
}

// launch starts the gateway with one more variable, if it is not empty.
func (k *killed) launch(variable string) {
	k.t.Helper()
	listen := freePort(k.t)
	k.url = "http://" + listen
	k.log = &lockedBuffer{}
	k.cmd = exec.Command(k.path, "serve", "--config", k.config, "--data", k.data, "--listen", listen, "--envoy-path", envoyPath(k.t))
	if variable != "" {
		k.cmd.Env = append(k.cmd.Environ(), variable)
	}
	k.cmd.Stderr, k.cmd.Stdout = k.log, k.log
	if err := k.cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	exited, ended := make(chan error, 1), make(chan struct{})
	k.exited = exited
	k.ended.Store(&ended)
	go func(cmd *exec.Cmd) {
		exited <- cmd.Wait()
		close(ended)
	}(k.cmd)
}

// awaitDeath waits until the gateway was killed, by itself.
func (k *killed) awaitDeath() {
	k.t.Helper()
	select {
	case err := <-k.exited:
		k.exited <- err
	case <-time.After(time.Minute):
		k.t.Fatalf("it does not come to the point:\n%s", k.log.String())
	}
	if status, ok := k.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		k.t.Fatalf("it ended with %v:\n%s", k.cmd.ProcessState, k.log.String())
	}
}

// setUp makes a key with a budget, in a team whose budget begins again each second,
// and has the audit log delivered.
func (k *killed) setUp() {
	k.t.Helper()
	for _, c := range []struct{ path, body string }{
		{"/team/new", `{"team_id":"red","max_budget":1000,"budget_duration":"1s"}`},
		{"/key/generate", fmt.Sprintf(`{"key":%q,"team_id":"red","max_budget":%s}`, killedKey, killedBudget)},
		{"/config/update", fmt.Sprintf(`{"general_settings":{"alerting":["webhook"],"alerting_webhook_url":%q}}`, k.hook.url)},
	} {
		if a := k.do(http.MethodPost, c.path, strings.NewReader(c.body)); a.status != http.StatusOK {
			k.t.Fatalf("%s: %d %s", c.path, a.status, a.body)
		}
	}
}

// laterKey is made after the backup.
const laterKey = "sk-later-0123456789abcdef"

// backUp keeps what the gateway agrees on, and makes a key that is not in it.
func (k *killed) backUp() {
	k.t.Helper()
	a := k.get("/cluster/snapshot")
	if k.backup = []byte(a.body); a.status != http.StatusOK {
		k.t.Fatalf("%d %s", a.status, a.body)
	}
	if a := k.do(http.MethodPost, "/key/generate", strings.NewReader(fmt.Sprintf(`{"key":%q}`, laterKey))); a.status != http.StatusOK {
		k.t.Fatalf("%d %s", a.status, a.body)
	}
}

// restore restores what backUp kept, and returns the answer's status; 0: there was none.
func (k *killed) restore() int {
	r, err := http.NewRequestWithContext(k.t.Context(), http.MethodPost, k.url+"/cluster/restore?confirm=yes", bytes.NewReader(k.backup))
	if err != nil {
		return 0
	}
	r.Header.Set("Authorization", "Bearer "+adminKey)
	r.Header.Set("Content-Type", "application/octet-stream")
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0
	}
	_ = a.Body.Close()
	return a.StatusCode
}

// restored restores again: whatever the first try came to, the settings are then those
// of the backup.
func (k *killed) restored() {
	k.t.Helper()
	if s := k.restore(); s != http.StatusOK {
		k.t.Errorf("restored again after the crash: %d", s)
	}
	if a := k.get("/key/info?key=" + laterKey); a.status != http.StatusNotFound {
		k.t.Errorf("a key that was made after the backup: %d %s", a.status, a.body)
	}
}

// askUntilDead has the callers make requests until the gateway is dead, with a pause
// after each when the burst is over.
func (k *killed) askUntilDead(pause time.Duration) {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), time.Minute)
	defer cancel()
	dead := *k.ended.Load()
	var callers sync.WaitGroup
	for range killedCallers {
		callers.Go(func() {
			for ctx.Err() == nil {
				n := int(k.asked.Add(1))
				if k.ask(ctx, k.url, n, 10+n%5) == 0 {
					return
				}
				if n < killedBurst {
					continue
				}
				select {
				case <-dead:
					return
				case <-time.After(pause):
				}
			}
		})
	}
	callers.Wait()
}

// burn spends what is left of the budget: what nobody can spend any more was lost.
func (k *killed) burn() {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), time.Minute)
	defer cancel()
	spend := func() {
		for ctx.Err() == nil {
			if s := k.ask(ctx, k.url, int(k.asked.Add(1)), burnTokens); s != http.StatusOK {
				if s != http.StatusTooManyRequests {
					k.t.Errorf("a request after the restart was answered with %d", s)
				}
				return
			}
		}
	}
	var callers sync.WaitGroup
	for range killedCallers {
		callers.Go(spend)
	}
	callers.Wait()
	k.posted()
	spend()
	k.posted()
}

// posted waits until the journal has nothing that is not posted.
func (k *killed) posted() {
	k.t.Helper()
	k.until("all is posted", func() bool {
		var status struct {
			Members []struct {
				Backlog *float64 `json:"journal_backlog"`
			} `json:"members"`
		}
		k.read("/cluster/status", &status)
		return len(status.Members) == 1 && status.Members[0].Backlog != nil && *status.Members[0].Backlog == 0
	})
}
