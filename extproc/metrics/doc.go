// Package metrics has the instruments of the pipeline: of requests, attempts, tokens and cost,
// and the sums and remaining budgets of the largest spenders. Its series are bounded whatever
// callers and providers send.
package metrics
