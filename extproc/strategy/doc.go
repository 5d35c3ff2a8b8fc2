// Package strategy decides the order in which a request's deployments are
// tried. Everything here is a pure function of its arguments: randomness, the
// counts of requests in flight and the cooldowns come in as functions, nothing
// is kept between calls, and no argument is changed. (One of these functions,
// Request.Probe, claims what it answers with.)
//
// An ordering (SimpleShuffle, LeastBusy) returns all its candidates, so that the
// plan can go on down the list. Plan turns an order, the number of retries and
// the fallback targets into the attempts of one request:
//
//   - at most 1+retries attempts in the group, then one for each fallback target;
//   - a resting deployment is left out while any other can be asked;
//   - what other nodes say of a deployment counts as a rest only within the limits
//     of Hinted, and never leaves a request with fewer attempts;
//   - a request that gets a probe makes it first, and has another attempt after it;
//   - a deployment that has as many requests in flight as it may have is never asked
//     first, and later only as the one that a fallback has;
//   - a deployment that was left behind for a fallback is not asked again;
//   - there is no plan only when everything that could be asked is resting.
package strategy
