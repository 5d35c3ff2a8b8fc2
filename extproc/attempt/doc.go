// Package attempt has what is known of the failed attempts of a request: why each failed, when a
// deployment goes into cooldown for it, and how records and the header x-gateway-debug show it.
//
// Reports of one failure come from several places: Envoy's attempt log, the filter that inspects
// responses, and the stages. Failures merges them, so that the most exact cause stays.
package attempt
