package cluster

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/modelgateway/modelgateway/cluster/cooldown"
	"github.com/modelgateway/modelgateway/cluster/gossip"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/rate"
)

// openHints makes the hints, which nodes exchange by gossip without agreement. A single node has
// them too, and sends them to no other node.
func (n *Node) openHints() {
	n.openCooldown()
	n.rates = rate.New(time.Now())
	n.hints = gossip.NewState(gossip.StateConfig{
		Node: n.Identity().Node, Hinted: n.heardRest, InFlight: n.cooldown.Running(), Rates: sharedRates{n.rates},
	})
}

func (n *Node) openCooldown() {
	n.cooldown = cooldown.New(rand.Uint64N, cooldown.OnRest(n.tellRest), cooldown.WithRemote(n.remoteInFlight))
}

// tellRest lets the others know of a rest.
func (n *Node) tellRest(r cooldown.Rest) {
	n.hints.Cool(r.Deployment, uint8(r.Reason), r.Until)
}

// heardRest takes over what another node says of a deployment.
func (n *Node) heardRest(h gossip.Hint) {
	n.cooldown.Hint(cooldown.Hint{
		Deployment: h.Deployment, Observer: h.Observer, Version: h.Version,
		Reason: cooldown.Reason(h.Reason), Now: time.Now(), Until: h.Until,
	})
}

// openGossip makes this node's part in the gossip.
func (n *Node) openGossip(key []byte) (err error) {
	n.gossip, err = gossip.New(gossip.Config{
		Node: n.Identity().Node, Network: gossipLink{n.link}, Key: key,
		Meta: gossip.Meta{Version: n.cfg.Version, Transactions: n.cfg.TransactionVersion}, Logger: n.logger, Join: n.cfg.Join, State: n.hints,
		Timing: n.cfg.GossipTiming,
	})
	return err
}

// remoteInFlight counts the requests that the other nodes have at a deployment.
func (n *Node) remoteInFlight(d id.Deployment) int64 { return n.hints.InFlight(d) }

// What a node says of itself in numbers, for any other to show.
const (
	counterApplied = "applied_index"
	counterBacklog = "journal_backlog"
)

// shareEvery is how often a node looks at its own numbers. They are for people.
const shareEvery = time.Second

// shareNumbers sends the load of this node to the others.
func (n *Node) shareNumbers(ctx context.Context) error {
	tick := time.NewTicker(shareEvery)
	defer tick.Stop()
	for {
		n.hints.SetCounter(counterApplied, int64(n.consensus.Applied()))
		n.hints.SetCounter(counterBacklog, n.journal.Backlog())
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
