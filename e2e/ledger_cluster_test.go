//go:build linux

package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

const (
	// bookPort and hookPort are where the provider and the receiver of the audit log
	// listen, on the test's own host.
	bookPort, hookPort = 9101, 9102
	// bookPace is what a word takes to make.
	bookPace    = 5 * time.Millisecond
	bookCallers = 3
)

// bookedCluster is three nodes under load, and the books of everybody who deals with
// them.
type bookedCluster struct {
	*testCluster
	who  *callers
	hook *hookBooks
	// hurt is the node that gets no requests, for the load balancer has noticed; 0 if
	// there is none.
	hurt atomic.Int64
}

// startBooked starts them, with a key that has a budget, and a webhook.
func startBooked(t *testing.T, o clusterOptions) *bookedCluster {
	t.Helper()
	o.models = []string{"unused=openai/fake-gpt"}
	// Nothing is sent that is not written down: what the provider has seen is in the books.
	o.config += "audit: {allow_private_webhooks: true}\nintent_sync: before_dispatch\n"
	b := &bookedCluster{testCluster: startCluster(t, 3, o)}
	provider, err := b.lab.Host(0).Listen(t.Context(), bookPort)
	if err != nil {
		t.Fatal(err)
	}
	receiver, err := b.lab.Host(0).Listen(t.Context(), hookPort)
	if err != nil {
		t.Fatal(err)
	}
	b.who = newCallers(newBookkeeper(t, provider), killedKey)
	b.who.provider.pace = bookPace
	b.hook = newHookBooks(t, receiver)
	b.post(1, "/model/new", tree{
		"model_name": "fast", "model_info": tree{"id": "booked"},
		"gateway_params": tree{
			"model": "openai/m", "api_base": b.who.provider.url + "/v1", "api_key": "k",
			"input_cost_per_token": jsontext.Value(bookInput.String()), "output_cost_per_token": jsontext.Value(bookOutput.String()),
		},
	}, nil)
	b.post(1, "/key/generate", tree{"key": killedKey, "max_budget": 100}, nil)
	b.post(1, "/config/update", tree{"general_settings": tree{"alerting": []string{"webhook"}, "alerting_webhook_url": b.hook.url}}, nil)
	for _, n := range b.nodes {
		b.until(fmt.Sprintf("node %d knows key and model", n.i), func() bool {
			return b.who.ask(t.Context(), n.url, int(b.who.asked.Add(1)), 10) == http.StatusOK
		})
	}
	return b
}

// at is where the load balancer sends a request.
func (b *bookedCluster) at(number int) string {
	i := number%len(b.nodes) + 1
	if int64(i) == b.hurt.Load() {
		i = i%len(b.nodes) + 1
	}
	return b.node(i).url
}

// await waits until so many more answers have come.
func (b *bookedCluster) await(more int) {
	b.t.Helper()
	from := b.who.answers()
	b.until("requests are answered", func() bool { return b.who.answers() >= from+more })
}

// die kills a node in the middle of requests, some of which nobody ever answers, and
// returns the others. Spend that is theirs is seen on them while it is dead.
func (b *bookedCluster) die(victim int) {
	b.t.Helper()
	b.await(10)
	b.who.stuck(b.t, b.node(victim).url)
	b.kill9(victim)
	b.hurt.Store(int64(victim))
	died := time.Now()
	b.await(20)
	for _, i := range b.others(victim) {
		answered := b.answeredBy(b.others(victim))
		b.until(fmt.Sprintf("node %d shows what was spent on those that are left", i), func() bool {
			rows := map[string]bool{}
			for _, r := range b.node(i).pages() {
				rows[r.EndUser] = true
			}
			for _, n := range answered {
				if !rows[fmt.Sprint("r", n)] {
					return false
				}
			}
			return true
		})
		b.t.Logf("node %d shows %d requests %v after node %d was killed", i, len(answered), time.Since(died), victim)
	}
}

// answeredBy are the numbers of the requests that these nodes have answered.
func (b *bookedCluster) answeredBy(nodes []int) []int {
	b.who.mu.Lock()
	defer b.who.mu.Unlock()
	var out []int
	for n := range b.who.seen {
		for _, i := range nodes {
			if b.who.by[n] == b.node(i).url {
				out = append(out, n)
			}
		}
	}
	return out
}

// rise starts a node that was killed.
func (b *bookedCluster) rise(victim int) {
	b.t.Helper()
	b.launch(victim)
	b.awaitReady(victim)
	b.hurt.Store(0)
	b.awaitLeader()
}

// agree checks the books of all nodes against each other, and against those of callers,
// provider and receiver. It returns how the requests ended.
func (b *bookedCluster) agree() tally {
	b.t.Helper()
	for _, n := range b.nodes {
		n.waitPosted()
	}
	b.sameState()
	rows := b.node(1).pages()
	var logs []spendLog
	for _, r := range slices.Backward(rows) {
		logs = append(logs, r.spendLog)
	}
	ends, sum := b.who.check(b.t, logs)
	for _, n := range b.nodes {
		if d := cmp.Diff(rows, n.pages(), cmp.AllowUnexported(bookRow{})); d != "" {
			b.t.Errorf("the ledgers of node 1 and node %d: %s", n.i, d)
		}
		n.checkFigures(killedKey, sum)
		last := n.checkChain()
		b.until("the receiver has the audit log", func() bool { return b.hook.reaches(b.t, last) })
	}
	return ends
}

// TestLedgerSurvivesNodes kills the leader and then a follower, under load, and starts
// each again. What the others answer meanwhile is in their ledgers before it is back;
// in the end all ledgers are the same, and those of the provider, and the receiver of
// the audit log has every record, in order, though another node delivers them.
func TestLedgerSurvivesNodes(t *testing.T) {
	if !inLab(t) {
		return
	}
	b := startBooked(t, clusterOptions{})
	end := b.who.press(t, bookCallers, b.at)
	leader := b.awaitLeader()
	b.die(leader)
	b.rise(leader)
	follower := b.others(b.awaitLeader())[0]
	b.die(follower)
	b.rise(follower)
	b.await(10)
	killed := []string{b.node(leader).url, b.node(follower).url}
	for got, n := range end() {
		switch {
		case got.status == http.StatusOK:
		case (got.status == 0 || got.status >= 500) && slices.Contains(killed, got.url): // Envoy outlives the gateway for a moment
		case got.status == http.StatusServiceUnavailable && got.code == "budget_unavailable": // while nobody leads
		default:
			t.Errorf("%d requests: %+v", n, got)
		}
	}
	if ends := b.agree(); ends["crashed"] < len(b.who.left) || ends["canceled"] > 0 {
		t.Errorf("%d requests were under way for certain, and they ended %v", len(b.who.left), ends)
	}
}

// TestRestoreUnderLoad restores a snapshot through a follower, under load, while the
// leader is killed. The keys are those of the snapshot; the books are those of callers,
// provider and receiver, and no record of the audit log has the number of another.
func TestRestoreUnderLoad(t *testing.T) {
	if !inLab(t) {
		return
	}
	b := startBooked(t, clusterOptions{})
	end := b.who.press(t, bookCallers, b.at)
	leader := b.awaitLeader()
	follower := b.others(leader)[0]
	deleted := b.createKey(follower, "deleted")
	b.await(10)
	file := filepath.Join(t.TempDir(), "backup")
	b.manages(follower, "snapshot", file)
	later := b.createKey(leader, "later")
	b.deleteKey(follower, deleted)
	b.await(20)
	b.manages(follower, "restore", "--yes", file)
	for _, n := range b.nodes {
		if s := b.chat(n.i, later, "fast"); s != http.StatusUnauthorized {
			t.Errorf("after the restore, node %d answers %d for a key that it has taken away", n.i, s)
		}
	}
	b.await(20)
	restoring := make(chan struct{})
	go func() {
		defer close(restoring)
		_, _ = b.cli(follower, "restore", "--yes", file) // the leader dies of something else meanwhile
	}()
	b.die(leader)
	<-restoring
	b.rise(leader)
	b.manages(leader, "restore", "--yes", file)
	b.await(10)
	for got, n := range end() {
		switch {
		case got.status == http.StatusOK:
		case (got.status == 0 || got.status >= 500) && got.url == b.node(leader).url:
		case got.status == http.StatusServiceUnavailable && got.code == "budget_unavailable": // while nobody leads
		default:
			t.Errorf("%d requests: %+v", n, got)
		}
	}
	b.agree()
	for _, n := range b.nodes {
		if s := b.chat(n.i, deleted, "unused"); s != http.StatusOK {
			t.Errorf("node %d answers %d for a key of the snapshot", n.i, s)
		}
	}
}
