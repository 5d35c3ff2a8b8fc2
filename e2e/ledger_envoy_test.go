package e2e

import (
	"net/http"
	"syscall"
	"testing"
	"time"
)

const (
	// envoyKills is how often Envoy dies.
	envoyKills = 2
	// envoyCallers make requests meanwhile.
	envoyCallers = 8
	// envoyPace is what a word takes, so that most requests are under way at a kill.
	envoyPace = 10 * time.Millisecond
)

// TestLedgerSurvivesEnvoy kills Envoy in the middle of streams, of whole answers and of
// second attempts. Each attempt that has reached the provider is paid for once, and
// what was delivered of an answer is paid for, whether it came to an end or not.
func TestLedgerSurvivesEnvoy(t *testing.T) {
	t.Parallel()
	provider := newBookkeeper(t, listen(t))
	provider.pace, provider.flaky = envoyPace, 5
	g := startGateway(t, bookModels(provider)+"router_settings: {num_retries: 1, retry_after: 0.01, cooldown_time: 0}\n")
	g.changes("/key/generate", tree{"key": killedKey, "max_budget": 100})
	who := newCallers(provider, killedKey)
	end := who.press(t, envoyCallers, func(int) string { return g.url })
	for range envoyKills {
		from := who.answers()
		who.stuck(t, g.url)
		g.until("requests are answered", func() bool { return who.answers() >= from+30 })
		envoy := children(t, g.cmd.Process.Pid)
		if len(envoy) != 1 {
			t.Fatalf("the gateway has the children %v, want one Envoy", envoy)
		}
		if err := syscall.Kill(envoy[0], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		gone(t, envoy[0])
		g.awaitReady()
	}
	from := who.answers()
	g.until("requests are answered again", func() bool { return who.answers() >= from+30 })
	for got, n := range end() {
		if got.status != http.StatusOK && got.status != http.StatusServiceUnavailable && got.status != 0 {
			t.Errorf("%d requests: %+v", n, got)
		}
	}
	ends, sum := who.check(t, g.spend(""))
	if ends["canceled"] < len(who.left) || ends["crashed"] > 0 {
		t.Errorf("%d requests were under way for certain, and they ended %v", len(who.left), ends)
	}
	g.checkFigures(killedKey, sum)
	g.checkChain()
}
