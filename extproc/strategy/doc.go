// Package strategy decides the order in which a request tries deployments. All functions are
// pure: randomness, the counts of requests in flight and the cooldowns are function arguments,
// no state is kept, and no argument is changed. The only side effect is Request.Probe, which
// claims a probe.
//
// An ordering (SimpleShuffle, LeastBusy) returns all its candidates, so that the plan has
// alternatives. Plan combines an order, the number of retries and the fallback targets into the
// attempts of one request:
//
//   - It has at most 1+retries attempts in the group, then one for each fallback target.
//   - It omits a deployment in cooldown while any other is available.
//   - A hint of another node counts as a cooldown only within the limits of Hinted, and never
//     leaves a request with fewer attempts.
//   - A request that gets a probe makes it first, and has another attempt after it.
//   - A deployment at its limit of requests in flight is never first, and later only if a
//     fallback has no other.
//   - A deployment that was abandoned for a fallback is not tried again.
//   - There is no plan only if everything available is in cooldown.
package strategy
