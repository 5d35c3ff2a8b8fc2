package xds

import (
	"net/http"
	"strings"
	"time"

	route "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/envoy/contract"
)

// maxBackOff bounds the wait between two attempts, which mostly go to different
// providers: waiting longer helps nobody.
const maxBackOff = 2 * time.Second

// retryPolicy says which failed attempts are followed by the plan's next group.
// How many there are is said per request, by x-envoy-max-retries: without it
// there is none. The statuses that are listed here hold for every request;
// ext_proc adds those of one request (a 401 where there is a fallback) by
// x-envoy-retriable-status-codes.
//
// Envoy's own condition "5xx" is not used: it covers timeouts and connections as
// well, which are causes of their own here.
func retryPolicy(s catalog.RouterSettings) *route.RetryPolicy {
	// An upstream that is an Envoy itself marks its 429 with x-envoy-ratelimited,
	// which Envoy does not retry unless told to.
	on := []string{"connect-failure", "refused-stream", "retriable-status-codes", "envoy-ratelimited"}
	codes := []uint32{http.StatusTooManyRequests}
	if s.RetryOn.Has(catalog.RetryOnTimeout) {
		// An attempt that ran out of time ends as a reset by us, and a connection that
		// broke as a reset by them; Envoy's condition does not tell them apart.
		on = append(on, "reset")
		codes = append(codes, http.StatusRequestTimeout)
	} else {
		on = append(on, "reset-before-request")
	}
	if checks(s.RetryOn) || s.RetryOn.Has(catalog.RetryOn5xx) {
		codes = append(codes, contract.StatusNext)
	}
	if s.RetryOn.Has(catalog.RetryOn5xx) {
		for code := uint32(http.StatusInternalServerError); code < 600; code++ {
			if code != contract.StatusNext { // is there already
				codes = append(codes, code)
			}
		}
	}
	base := min(max(s.RetryAfter, time.Millisecond), maxBackOff)
	return &route.RetryPolicy{
		RetryOn:               strings.Join(on, ","),
		RetriableStatusCodes:  codes,
		NumRetries:            wrapperspb.UInt32(0),
		RefreshClusterOnRetry: true,
		RetryBackOff: &route.RetryPolicy_RetryBackOff{
			BaseInterval: durationpb.New(base),
			MaxInterval:  durationpb.New(maxBackOff),
		},
	}
}
