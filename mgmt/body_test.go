package mgmt

import (
	"net/http"
	"testing"

	"google.golang.org/protobuf/proto"

	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// A missing body is the empty object; the rules decide whether that is enough.
func TestNoBody(t *testing.T) {
	s, _ := newFake(t)
	var got proto.Message
	take(t, s, gatewayv1.KeyService_CheckKeyHealth_FullMethodName, &got)
	for _, media := range []string{"", "application/json"} {
		if a := ask(t, s, "POST /key/health", "", with("Content-Type", media)); a.status != http.StatusOK {
			t.Errorf("as %q: %d %s", media, a.status, a.body)
		}
	}
	if a := ask(t, s, "POST /key/health", "", with("Content-Type", "text/plain")); a.status != http.StatusUnsupportedMediaType {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := ask(t, s, "POST /model/new", "", nil); a.status != http.StatusUnprocessableEntity || a.refusal(t) != "missing_required_parameter model_name" {
		t.Errorf("%d %s", a.status, a.body)
	}
}
