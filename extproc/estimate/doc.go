// Package estimate estimates what a request uses and costs: before it is sent, for its
// reservations, and after the response, where a provider's report cannot be true or is
// missing. It keeps no state but the estimates of a request (Input), and uses no tokenizer.
package estimate
