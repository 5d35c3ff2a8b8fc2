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

// maxBackOff limits the backoff between two attempts. They mostly go to different providers, so
// a longer wait does not help.
const maxBackOff = 2 * time.Second

// retryPolicy configures which failed attempts the next group of the plan follows. The number
// of retries comes per request, in x-envoy-max-retries; without that header there is none. The
// status codes listed here apply to every request. ext_proc adds codes for one request (401 if
// there is a fallback) in x-envoy-retriable-status-codes.
//
// Envoy's condition "5xx" is not used, because it includes timeouts and connection failures,
// which have their own settings here.
func retryPolicy(s catalog.RouterSettings) *route.RetryPolicy {
	// An upstream Envoy marks its 429 with x-envoy-ratelimited, which Envoy retries only with
	// this condition.
	on := []string{"connect-failure", "refused-stream", "retriable-status-codes", "envoy-ratelimited"}
	codes := []uint32{http.StatusTooManyRequests}
	if s.RetryOn.Has(catalog.RetryOnTimeout) {
		// A timed-out attempt ends as a local reset, and a broken connection as a remote reset.
		// Envoy's condition does not distinguish them.
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
			if code != contract.StatusNext { // already in the list
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
