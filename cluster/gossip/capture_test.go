package gossip_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelgateway/modelgateway/cluster/gossip"
)

// TestNothingIsReadableOnTheWire captures what nodes send each other while they join,
// share hints and numbers, and leave: in packets, and in the streams, as they are below
// the TLS of the link. No name, address, version, hint or number's name can be read.
func TestNothingIsReadableOnTheWire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, 3)
		defer c.end()
		const hint, number = "deployment-that-rests", "number-that-is-shared"
		c.peers[0].state.Cool(hint, 3, time.Now().Add(time.Hour))
		c.peers[1].state.SetCounter(number, 4711)
		late := c.add("late-comer", "late.example:7", func(cfg *gossip.Config) { cfg.Join = []string{at(0)} })
		c.until("everybody has everything", func() bool {
			return !slices.ContainsFunc(c.peers, func(p *peer) bool {
				return len(hinted(p, hint)) == 0 || p.state.Sum(number) != 4711 || len(p.Members()) != 4
			})
		})
		c.pass(2 * time.Minute) // with full exchanges
		c.stop(late)
		c.pass(time.Second)
		c.mu.Lock()
		defer c.mu.Unlock()
		sent := map[string][]byte{"packets": bytes.Join(c.mu.seen, nil), "streams": bytes.Join(c.mu.written, nil)}
		for kind, wire := range sent {
			if !bytes.Contains(wire, []byte("modelgateway")) { // the label, which is no secret
				t.Errorf("the %s do not have the label, so this looks at nothing: %d bytes", kind, len(wire))
			}
			for _, text := range []string{name(0), at(0), fmt.Sprint("v", name(1)), "late-comer", "late.example", hint, number} {
				if bytes.Contains(wire, []byte(text)) {
					t.Errorf("%q can be read in the %s", text, kind)
				}
			}
		}
	})
}
