package attempt_test

import (
	"strings"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/attempt"
	"github.com/modelgateway/modelgateway/extproc/cause"
)

// The first report of a failure counts, and a later one adds what it lacks.
func TestLaterReportsAddToTheFirst(t *testing.T) {
	var f attempt.Failures
	f.Begin(2)
	changed := f.Changed()
	if !f.Report(0, attempt.Failure{Status: 503, Code: "upstream_error", Cause: cause.ConnectFailed}) {
		t.Error("the first report is not reported as the first")
	}
	select {
	case <-changed:
	default:
		t.Error("a report wakes nobody")
	}
	if f.Report(0, attempt.Failure{Status: 200, Code: "other", Cause: cause.DNS, RequestID: "req_1", RetryAfter: time.Second}) {
		t.Error("a second report is reported as the first")
	}
	got := f.Of(0)
	if got.Status != 503 || got.Code != "upstream_error" || got.Cause != cause.DNS || got.RequestID != "req_1" || got.RetryAfter != time.Second {
		t.Errorf("%+v", got)
	}
	if f.Report(2, attempt.Failure{}) || f.Report(-1, attempt.Failure{}) {
		t.Error("an attempt outside of the plan is reported")
	}
}

// How many attempts were made follows from those that failed, and from the loss of the log.
func TestMade(t *testing.T) {
	for _, c := range []struct {
		name         string
		failed       int // attempts, in order
		kind         fault.Kind
		lost         bool
		sent, expect int
	}{
		{"nothing is known", 0, 0, false, 1, 1},
		{"two failed, and the third was prepared", 2, fault.Upstream, false, 3, 3},
		{"two failed", 2, fault.Upstream, false, 1, 2},
		{"two failed before the log broke off", 2, fault.Upstream, true, 1, 3},
		{"the caller left before the log broke off", 2, fault.Canceled, true, 1, 2},
		{"all failed before the log broke off", 3, fault.Upstream, true, 1, 3},
	} {
		var f attempt.Failures
		f.Begin(3)
		for i := range c.failed {
			f.Report(i, attempt.Failure{Kind: c.kind})
		}
		if c.lost {
			f.LoseLog()
		}
		if got := f.Made(c.sent, 3); got != c.expect {
			t.Errorf("%s: %d attempts, want %d", c.name, got, c.expect)
		}
	}
}

// A lost log ends every wait for it.
func TestALostLogEndsWaits(t *testing.T) {
	var f attempt.Failures
	f.Begin(2)
	if f.KnowsFirst(1) || f.HasEntry(0) || f.KnowsCanceled() {
		t.Error("something is known of a new plan")
	}
	f.LoseLog()
	if !f.KnowsFirst(2) || !f.HasEntry(1) || !f.KnowsCanceled() {
		t.Error("a wait for a lost log goes on")
	}
}

// A header that would be too long loses the messages and nothing else.
func TestDebugHeaderIsBounded(t *testing.T) {
	d := &catalog.Deployment{ID: "d1", Provider: "openai"}
	record := (&attempt.Failure{Status: 500, RequestID: "req_1"}).Record(1, d)
	record.Message = strings.Repeat("x", 5000)
	value, ok := attempt.Debug([]usage.Failure{record})
	if want := `[{"attempt":2,"deployment":"d1","provider":"openai","upstream_status":500,"cause":"unknown","provider_request_id":"req_1"}]`; !ok || value != want {
		t.Errorf("%v %s", ok, value)
	}
}
