package contract

// MetadataRequest is the namespace of the dynamic metadata in which an upstream
// filter that replaces a body says how long the new one is, as a string by the
// name "content-length". Envoy drops the header that comes with such a body, and
// without a length HTTP/1.1 sends it in chunks, which not every provider reads.
const MetadataRequest = "gateway.request"
