package contract

// StatusNext is the status that the Check filter gives a response that the client must not
// receive, so that Envoy tries the next group of the plan. It is always retriable, and no
// provider sends it. After the last attempt the downstream filter replaces it with an error of
// the gateway.
const StatusNext = 597
