package contract

// Names of the listener's filters. Routes override a filter by its name.
const (
	FilterProcessor = "envoy.filters.http.ext_proc"
	FilterCount     = "modelgateway.count"
	FilterHeaders   = "envoy.filters.http.header_mutation"
)

// AttemptLog is the name of the access log in which Envoy reports each failed
// attempt to ClusterProcessor.
const AttemptLog = "attempts"

// InferencePaths lists the paths whose POST requests are answered by a model.
// All else goes to ClusterGateway.
func InferencePaths() []string {
	return []string{"/v1/chat/completions", "/chat/completions"}
}
