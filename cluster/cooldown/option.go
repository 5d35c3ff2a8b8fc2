package cooldown

import "github.com/modelgateway/modelgateway/cluster/id"

// Option connects a Set with what is told to other nodes and heard from them.
type Option func(*Set)

// OnRest has every local rest that begins or is made longer reported to rested.
// It is called without any lock, by the goroutine that recorded the failure,
// so it must not block; two rests of one deployment may be reported out of order.
func OnRest(rested func(Rest)) Option {
	return func(s *Set) { s.rested = rested }
}

// WithRemote adds to InFlight the requests that other nodes have in flight. It
// is called once for every candidate of a least-busy group, so it must be quick.
func WithRemote(inFlight func(id.Deployment) int64) Option {
	return func(s *Set) { s.remote = inFlight }
}
