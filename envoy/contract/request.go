package contract

// MetadataRequest is the namespace of the dynamic metadata in which an upstream filter sets the
// length of a replaced body, as a string with the name "content-length". Envoy removes the
// header of such a body. Without a length HTTP/1.1 uses chunked encoding, which not every
// provider supports.
const MetadataRequest = "gateway.request"
