package pipeline

// Causes of failed attempts, as logs and records name them.
const (
	CauseConnectRefused   = "connect_refused"    // no process listens at the address
	CauseConnectFailed    = "connect_failed"     // any other reason why there is no connection
	CauseDNS              = "dns"                // the name has no address
	CauseTLS              = "tls"                // the handshake failed, or the certificate is not trusted
	CauseReset            = "reset"              // the provider closed the connection before it answered
	CauseTimeoutConnect   = "timeout_connect"    // no connection in time
	CauseTimeoutFirstByte = "timeout_first_byte" // no byte of the response in time
	CauseTimeoutTotal     = "timeout_total"      // the response began and did not end in time
	CauseInvalidAnswer    = "invalid_answer"     // a good status, and a body that is no response
	CauseStreamCut        = "stream_cut"         // the stream ended in the middle of the response
	CauseStreamError      = "stream_error"       // the provider reported an error inside a good status
	CauseContentFilter    = "content_filter"     // the provider's content filter blocked the request or the response
	CauseNotSent          = "not_sent"           // the gateway could not make or send the request
	CauseUnknown          = "unknown"            // no report says why
)

// CauseOfStatus is the cause of an attempt that the provider answered.
func CauseOfStatus(status int) string {
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
	return CauseUnknown
}
