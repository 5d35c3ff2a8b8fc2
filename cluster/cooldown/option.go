package cooldown

import "github.com/modelgateway/modelgateway/cluster/id"

// Option connects a Set with the other nodes.
type Option func(*Set)

// OnRest sets the function that gets every local cooldown that begins or becomes
// longer. The goroutine that recorded the failure calls it without any lock, so it
// must not block. Two cooldowns of one deployment may arrive out of order.
func OnRest(rested func(Rest)) Option {
	return func(s *Set) { s.rested = rested }
}

// WithRemote adds to InFlight the requests that other nodes have in flight. It
// is called once for every candidate of a least-busy group, so it must be quick.
func WithRemote(inFlight func(id.Deployment) int64) Option {
	return func(s *Set) { s.remote = inFlight }
}
