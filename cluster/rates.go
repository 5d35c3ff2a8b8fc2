package cluster

import (
	"time"

	"github.com/modelgateway/modelgateway/cluster/gossip"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/rate"
)

// sharedRates exchanges the use of rate limits with the other nodes.
type sharedRates struct{ limiter *rate.Limiter }

// Changed returns the changes to send.
func (s sharedRates) Changed(now time.Time, most int) []gossip.RateUse {
	return tellUses(s.limiter.Changed(now, most))
}

// Recent returns what a node has to know that has heard nothing yet.
func (s sharedRates) Recent(now time.Time, most int) []gossip.RateUse {
	return tellUses(s.limiter.Recent(now, most))
}

// Hear takes over what another node says.
func (s sharedRates) Hear(now time.Time, from id.Node, version uint64, uses []gossip.RateUse) {
	heard := make([]rate.Use, len(uses))
	for i, u := range uses {
		heard[i] = rate.Use{Bucket: u.Bucket, What: rate.What(u.What), Limit: u.Limit, Born: u.Born, Used: u.Used, Level: u.Level, InFlight: u.InFlight}
	}
	s.limiter.Hear(now, from, version, heard)
}

func tellUses(uses []rate.Use) []gossip.RateUse {
	told := make([]gossip.RateUse, len(uses))
	for i, u := range uses {
		told[i] = gossip.RateUse{Bucket: u.Bucket, What: uint8(u.What), Limit: u.Limit, Born: u.Born, Used: u.Used, Level: u.Level, InFlight: u.InFlight}
	}
	return told
}

var _ gossip.Rates = sharedRates{}
