package xds_test

import (
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/xds"
)

// A route has one way to the gateway: the module's filter takes short bodies while it is
// attached, and ext_proc all other requests.
func TestAttached(t *testing.T) {
	for _, attached := range []bool{false, true} {
		r, err := xds.Translate(xds.Input{Attached: attached})
		if err != nil {
			t.Fatal(err)
		}
		short, long := 0, 0
		for _, route := range r.Routes[0].GetVirtualHosts()[0].GetRoutes() {
			if !strings.HasPrefix(route.GetName(), "inference_") {
				if len(route.GetTypedPerFilterConfig()) > 0 {
					t.Errorf("%s enables a filter", route.GetName())
				}
				continue
			}
			pieces := strings.HasSuffix(route.GetName(), "_long") || strings.HasSuffix(route.GetName(), "_undeclared")
			reads := strings.HasSuffix(route.GetName(), "_read") // without a body
			want := contract.FilterProcessor
			if attached && !pieces && !reads {
				want = contract.FilterAttach
			}
			if _, ok := route.GetTypedPerFilterConfig()[want]; !ok || len(route.GetTypedPerFilterConfig()) != 1 {
				t.Errorf("attached %v: %s enables %v, want %s alone", attached, route.GetName(), route.GetTypedPerFilterConfig(), want)
			}
			switch {
			case pieces:
				long++
			case !reads:
				short++
			}
		}
		if short == 0 || long != 2*short {
			t.Errorf("%d routes of short bodies and %d of long ones", short, long)
		}
	}
}
