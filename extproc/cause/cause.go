// Package cause names why attempts fail. Logs, records and the API show these names.
package cause

// The causes. The provider's statuses have those of OfStatus in addition.
const (
	ConnectRefused   = "connect_refused"    // no process listens at the address
	ConnectFailed    = "connect_failed"     // any other reason why there is no connection
	DNS              = "dns"                // the name has no address
	TLS              = "tls"                // the handshake failed, or the certificate is not trusted
	Reset            = "reset"              // the provider closed the connection before it answered
	TimeoutConnect   = "timeout_connect"    // no connection in time
	TimeoutFirstByte = "timeout_first_byte" // no byte of the response in time
	TimeoutTotal     = "timeout_total"      // the response began and did not end in time
	InvalidAnswer    = "invalid_answer"     // a good status, and a body that is no response
	StreamCut        = "stream_cut"         // the stream ended in the middle of the response
	StreamError      = "stream_error"       // the provider reported an error inside a good status
	ContentFilter    = "content_filter"     // the provider's content filter blocked the request or the response
	NotSent          = "not_sent"           // the gateway could not make or send the request
	Unknown          = "unknown"            // no report says why
)

// OfStatus is the cause of an attempt that the provider answered.
func OfStatus(status int) string {
	switch {
	case status == 429:
		return "http_429"
	case status >= 500:
		return "http_5xx"
	case status >= 400:
		return "http_4xx"
	case status >= 300:
		return "http_3xx"
	}
	return Unknown
}
