package fault

import (
	"net/http"

	"google.golang.org/grpc/codes"
)

// Kind is a category of errors. Kinds are only appended: their numbers may be stored.
type Kind uint8

// The kinds. The table below has a row for each.
const (
	Internal           Kind = iota // a bug of the gateway, or an error without a kind; the text is withheld
	Malformed                      // the request cannot be understood
	Blocked                        // rejected by a guardrail or policy
	Unauthenticated                // no key, or not a valid one
	Denied                         // a valid key without the permission
	NotFound                       // missing, or not visible for this caller
	Exists                         // the name is in use
	Conflict                       // lost a race; read again and retry
	TooLarge                       // over a size limit
	RateLimited                    // too many requests or tokens
	OverBudget                     // the budget is exhausted
	Unsupported                    // the provider does not support the request
	Upstream                       // a provider failed; another may succeed
	Timeout                        // a provider did not respond in time
	Unavailable                    // every deployment failed, or none is usable now
	Canceled                       // the caller disconnected
	MediaType                      // unsupported content type or encoding
	MethodNotAllowed               // the path exists, the method does not
	StorageUnavailable             // the journal cannot be written
	kinds                          // number of kinds
)

type row struct {
	name string     // for logs and metrics
	grpc codes.Code // for the management API over gRPC
	http int        // status of the response
	typ  string     // OpenAI error.type
	code string     // OpenAI error.code, unless the error has a more specific one
	text string     // text for the caller, unless the error has one
}

// row returns the row of the table. It is a switch and not a map, so that the linter for
// exhaustive switches rejects a kind without a row. HTTP 499 is nginx's "client closed
// request".
func (k Kind) row() row {
	switch k {
	case Malformed:
		return row{"malformed", codes.InvalidArgument, http.StatusBadRequest, "invalid_request_error", "invalid_request", "The request cannot be understood."}
	case Blocked:
		return row{"blocked", codes.FailedPrecondition, http.StatusBadRequest, "invalid_request_error", "content_filter", "The request was blocked."}
	case Unauthenticated:
		return row{"unauthenticated", codes.Unauthenticated, http.StatusUnauthorized, "authentication_error", "invalid_api_key", "Incorrect API key provided."}
	case Denied:
		return row{"denied", codes.PermissionDenied, http.StatusForbidden, "permission_error", "insufficient_permissions", "This API key may not do that."}
	case NotFound:
		return row{"not_found", codes.NotFound, http.StatusNotFound, "invalid_request_error", "not_found", "Not found."}
	case Exists:
		return row{"exists", codes.AlreadyExists, http.StatusConflict, "conflict_error", "already_exists", "That name is taken."}
	case Conflict:
		return row{"conflict", codes.Aborted, http.StatusConflict, "conflict_error", "conflict", "Somebody else changed it meanwhile; read it again and retry."}
	case TooLarge:
		return row{"too_large", codes.OutOfRange, http.StatusRequestEntityTooLarge, "invalid_request_error", "request_too_large", "The request body is too large."}
	case RateLimited:
		return row{"rate_limited", codes.ResourceExhausted, http.StatusTooManyRequests, "rate_limit_error", "rate_limit_exceeded", "Too many requests."}
	case OverBudget:
		return row{"over_budget", codes.ResourceExhausted, http.StatusTooManyRequests, "budget_exceeded", "budget_exceeded", "The budget is used up."}
	case Unsupported:
		return row{"unsupported", codes.Unimplemented, http.StatusNotImplemented, "invalid_request_error", "unsupported", "The provider does not support this."}
	case Upstream:
		return row{"upstream", codes.Unavailable, http.StatusBadGateway, "upstream_error", "upstream_error", "The provider failed."}
	case Timeout:
		return row{"timeout", codes.DeadlineExceeded, http.StatusGatewayTimeout, "timeout_error", "upstream_timeout", "The provider did not answer in time."}
	case Unavailable:
		return row{"unavailable", codes.Unavailable, http.StatusServiceUnavailable, "service_unavailable", "service_unavailable", "The service is not available right now."}
	case Canceled:
		return row{"canceled", codes.Canceled, 499, "invalid_request_error", "canceled", "The request was canceled."}
	case MediaType:
		return row{"media_type", codes.InvalidArgument, http.StatusUnsupportedMediaType, "invalid_request_error", "unsupported_media_type", "Send the body as application/json."}
	case MethodNotAllowed:
		return row{"method_not_allowed", codes.Unimplemented, http.StatusMethodNotAllowed, "invalid_request_error", "method_not_allowed", "This path does not take that method."}
	case StorageUnavailable:
		return row{"storage_unavailable", codes.Unavailable, http.StatusServiceUnavailable, "service_unavailable", "storage_unavailable", "The gateway cannot record usage right now, so it takes no requests."}
	case Internal, kinds:
	}
	return row{"internal", codes.Internal, http.StatusInternalServerError, "server_error", "internal_error", "Something went wrong inside the gateway."}
}

// anthropic returns the kind's error.type in Anthropic's words. Clients choose by it whether to
// retry, and what to show their user.
func (k Kind) anthropic() string {
	switch k {
	case Malformed, Blocked, Exists, Conflict, Unsupported, Canceled, MediaType, MethodNotAllowed:
		return "invalid_request_error"
	case Unauthenticated:
		return "authentication_error"
	case Denied:
		return "permission_error"
	case NotFound:
		return "not_found_error"
	case TooLarge:
		return "request_too_large"
	case RateLimited:
		return "rate_limit_error"
	case OverBudget:
		return "billing_error"
	case Timeout:
		return "timeout_error"
	case Unavailable:
		return "overloaded_error"
	case Internal, Upstream, StorageUnavailable, kinds:
	}
	return "api_error"
}

// String returns the name of the kind, for logs and metrics.
func (k Kind) String() string { return k.row().name }

// Code returns the default symbolic code.
func (k Kind) Code() string { return k.row().code }

// GRPC returns the gRPC code.
func (k Kind) GRPC() codes.Code { return k.row().grpc }
