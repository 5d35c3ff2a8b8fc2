package gossip

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/hashicorp/memberlist"
)

// maxLost is how many members that are gone are looked for at a time.
const maxLost = 64

// join looks for members until ctx ends: at first for anybody, soon after one
// another; later, at the longest pause, for those who ought to be there and are
// not. memberlist forgets the dead within a minute, so two halves that were cut apart
// for longer would never find each other again by themselves.
func (g *Gossip) join(ctx context.Context, list *memberlist.Memberlist) {
	pause := g.cfg.Timing.RejoinMin
	alone := true
	for ctx.Err() == nil {
		g.joinAll(ctx, list, g.missing())
		switch now := g.members.count() == 1; {
		case now && !alone: // everybody has been lost: begin anew
			pause = g.cfg.Timing.RejoinMin
			alone = true
		default:
			alone = now
		}
		timer := time.NewTimer(jitter(pause))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		pause = min(2*pause, g.cfg.Timing.RejoinMax)
	}
}

// jitter returns d changed by up to a fifth, so that nodes that were started
// together do not all knock at the same moment.
func jitter(d time.Duration) time.Duration {
	return d - d/5 + rand.N(2*d/5+1) //nolint:gosec // nothing depends on nobody guessing it
}

// missing returns the addresses of those who ought to be there and are not: of
// the configuration, and of members that were.
func (g *Gossip) missing() []string {
	present := map[string]bool{g.cfg.Address: true}
	members := g.members.list()
	for _, m := range members {
		if m.Alive {
			present[m.Address] = true
		}
	}
	out := slices.Clone(g.cfg.Join)
	for _, m := range members {
		if !m.Alive && len(out) < len(g.cfg.Join)+maxLost {
			out = append(out, m.Address)
		}
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(address string) bool { return present[address] })
}

// joinAll tries them, one after the other.
func (g *Gossip) joinAll(ctx context.Context, list *memberlist.Memberlist, addresses []string) {
	var last error
	for _, address := range addresses {
		if ctx.Err() != nil {
			return
		}
		// memberlist would resolve a host name itself, in its own way. It passes on
		// what stands before a slash as the name of the node to dial, so that the address goes
		// to the transport as it is, with an IP address that nobody uses.
		if _, err := list.Join([]string{address + "/0.0.0.0:1"}); err != nil {
			last = err
		}
	}
	if last == nil {
		return
	}
	why := fmt.Sprintf("gossip: none of %d addresses can be joined; check join, the secret, and that TCP and UDP are open between the nodes", len(addresses))
	if g.members.alone(why) {
		g.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "no other node can be joined; trying on", slog.Any("error", last), slog.Int("addresses", len(addresses)))
	}
}
