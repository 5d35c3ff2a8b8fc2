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

// maxLost is the highest number of lost members to search for at a time.
const maxLost = 64

// join searches for members until ctx ends. At first it searches for any member, with short
// backoffs. Later, at the longest backoff, it searches for expected members that are missing.
// memberlist forgets dead members within a minute, so two halves of a longer partition would
// never reunite by themselves.
func (g *Gossip) join(ctx context.Context, list *memberlist.Memberlist) {
	pause := g.cfg.Timing.RejoinMin
	alone := true
	for ctx.Err() == nil {
		g.joinAll(ctx, list, g.missing())
		switch now := g.members.count() == 1; {
		case now && !alone: // all members have been lost: start again
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

// jitter randomizes d by up to a fifth, so that nodes that start at the same time do not join
// at the same moment.
func jitter(d time.Duration) time.Duration {
	return d - d/5 + rand.N(2*d/5+1) //nolint:gosec // need not be unpredictable
}

// missing returns the addresses of expected members that are missing: from the configuration,
// and of former members.
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

// joinAll tries to join the addresses one after the other.
func (g *Gossip) joinAll(ctx context.Context, list *memberlist.Memberlist, addresses []string) {
	var last error
	for _, address := range addresses {
		if ctx.Err() != nil {
			return
		}
		// memberlist would resolve a host name itself. It passes the part before a slash on as
		// the name of the node to dial. So the transport gets the unresolved address, with an
		// unused IP address.
		if _, err := list.Join([]string{address + "/0.0.0.0:1"}); err != nil {
			last = err
		}
	}
	if last == nil {
		return
	}
	why := fmt.Sprintf("gossip: none of %d addresses can be joined; check join, the secret, and that TCP and UDP are open between the nodes", len(addresses))
	if g.members.alone(why) {
		g.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "no other node can be joined; retrying", slog.Any("error", last), slog.Int("addresses", len(addresses)))
	}
}
