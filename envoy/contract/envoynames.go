package contract

// Names of the listener's filters. Routes override a filter by its name.
const (
	FilterProcessor = "envoy.filters.http.ext_proc"
	FilterHeaders   = "envoy.filters.http.header_mutation"

	FilterStreamCut = "modelgateway.stream_cut"
	FilterStreamEnd = "modelgateway.stream_end" // a network filter
)

// StreamEndModule is the dynamic module that ends a stream when its provider resets it.
// Its file is StreamEndFile; its source is envoy/module.
const (
	StreamEndModule = "modelgateway_streamend"
	StreamEndFile   = "lib" + StreamEndModule + ".so"
)

// AttemptLog is the name of the access log in which Envoy reports each failed
// attempt to ClusterProcessor.
const AttemptLog = "attempts"

// AttemptHeaders lists the response headers that the attempt log carries: a provider's
// id of the request, and when to try again.
func AttemptHeaders() []string {
	return append(ProviderIDHeaders(), "retry-after", "retry-after-ms", "date")
}

// ProviderIDHeaders lists the headers in which providers send their id of a request.
// The first one that is there counts.
func ProviderIDHeaders() []string {
	return []string{"x-request-id", "request-id", "x-amzn-requestid", "apim-request-id", "x-ms-request-id", "cf-ray"}
}
