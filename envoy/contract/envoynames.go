package contract

// The names of the listener's filters. Routes override a filter by its name.
const (
	FilterProcessor = "envoy.filters.http.ext_proc"
	FilterHeaders   = "envoy.filters.http.header_mutation"

	FilterPlainID   = "modelgateway.plain_id"
	FilterStreamCut = "modelgateway.stream_cut"
	FilterStreamEnd = "modelgateway.stream_end" // a network filter
	FilterAttach    = "modelgateway.attach"
	FilterLink      = "modelgateway.link" // a network filter
)

// AttachModule is the dynamic module that takes requests to the gateway's process in the place of
// ext_proc. Its file is AttachFile; its source is envoy/module.
const (
	AttachModule = "modelgateway_attach"
	AttachFile   = "lib" + AttachModule + ".so"
)

// StreamEndModule is the dynamic module that ends a stream when its provider resets it, and
// does the work of FilterPlainID without CEL.
// Its file is StreamEndFile; its source is envoy/module.
const (
	StreamEndModule = "modelgateway_streamend"
	StreamEndFile   = "lib" + StreamEndModule + ".so"
)

// AttemptLog is the name of the access log in which Envoy reports each failed
// attempt to ClusterProcessor.
const AttemptLog = "attempts"

// AttemptHeaders lists the response headers in the attempt log: the provider's request id, and
// when to retry.
func AttemptHeaders() []string {
	return append(ProviderIDHeaders(), "retry-after", "retry-after-ms", "date")
}

// ProviderIDHeaders lists the headers with providers' request ids. The first one present
// counts.
func ProviderIDHeaders() []string {
	return []string{"x-request-id", "request-id", "x-amzn-requestid", "apim-request-id", "x-ms-request-id", "dg-request-id", "cf-ray"}
}
