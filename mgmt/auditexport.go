package mgmt

import (
	"net/http"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// formatExport is the format of a file that has all that is needed to verify it.
const formatExport = "jsonl"

// sendExport sends the chain from the record behind starting_after on. It is the
// only parameter: with records left out the others would prove nothing. A file whose
// last line is missing was broken off, and does not verify.
func (s *Server) sendExport(w http.ResponseWriter, r *http.Request, in *gatewayv1.ListAuditLogRequest) {
	ctx := r.Context()
	after, err := eventNumber("starting_after", in.GetStartingAfter())
	if err == nil {
		err = exportable(in)
	}
	if err == nil && !viewOf(ctx).Keys.Rights(nil, principal(ctx)).SeesAll() {
		err = notYours("format", "Only who sees everything may export the audit log; format=csv shows an organization's records.")
	}
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	out := &exportAnswer{w: w}
	if err := s.cfg.Audit.Export(ctx, out, after+1); err != nil {
		if !out.begun {
			s.refuse(w, r, timely(ctx, surface.Report, err))
			return
		}
		panic(http.ErrAbortHandler) // so that nobody takes a part for the whole
	}
}

// exportable refuses what would leave records out.
func exportable(in *gatewayv1.ListAuditLogRequest) error {
	var refused []string
	for _, p := range []struct {
		name  string
		given bool
	}{
		{"limit", in.Limit != nil},
		{"key_hash", in.GetKeyHash() != ""},
		{"start_date", in.GetStartDate() != ""},
		{"end_date", in.GetEndDate() != ""},
		{"event_type", in.GetEventType() != ""},
		{"org_id", in.GetOrgId() != ""},
		{"team_id", in.GetTeamId() != ""},
		{"customer_id", in.GetCustomerId() != ""},
		{"model", in.GetModel() != ""},
		{"provider", in.GetProvider() != ""},
		{"request_id", in.GetRequestId() != ""},
		{"order", in.GetOrder() == "desc"},
	} {
		if p.given {
			refused = append(refused, p.name)
		}
	}
	if len(refused) == 0 {
		return nil
	}
	return fault.Field(refused[0], "invalid_value", "An export that can be verified has no gaps: leave out %s, or ask for format=csv.", strings.Join(refused, ", "))
}

// exportAnswer is a file's answer, which begins with its first bytes.
type exportAnswer struct {
	w     http.ResponseWriter
	begun bool
}

func (a *exportAnswer) Write(b []byte) (int, error) {
	if !a.begun {
		a.begun = true
		h := a.w.Header()
		h.Set("Content-Type", "application/jsonl")
		h.Set("Content-Disposition", `attachment; filename="audit-log.jsonl"`)
		h.Set("Cache-Control", "no-store")
	}
	return a.w.Write(b)
}
