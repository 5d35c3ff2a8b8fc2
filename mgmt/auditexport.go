package mgmt

import (
	"net/http"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// formatExport is the format of a file that has all that is needed to verify it.
const formatExport = "jsonl"

// sendExport sends the chain from the record behind starting_after on. It is the
// only parameter: with records left out the others would prove nothing. A file whose
// last line is missing was broken off, and does not verify.
func (s *Server) sendExport(w http.ResponseWriter, r *http.Request, in *gatewayv1.ListAuditLogRequest) error {
	ctx := r.Context()
	after, err := eventNumber("starting_after", in.GetStartingAfter())
	if err == nil {
		err = exportable(in)
	}
	if err == nil && !operation.View(ctx).Keys.Rights(nil, operation.Principal(ctx)).SeesAll() {
		err = notYours("format", "Only who sees everything may export the audit log; format=csv shows an organization's records.")
	}
	if err != nil {
		return err
	}
	out := &file{w: w, media: "application/jsonl", name: "audit-log.jsonl"}
	return out.send(r, surface.Report, func() error { return s.cfg.Audit.Export(ctx, out, after+1) })
}

// exportable refuses what would leave records out.
func exportable(in *gatewayv1.ListAuditLogRequest) error {
	var refused []string
	m := in.ProtoReflect()
	for i := range m.Descriptor().Fields().Len() {
		f := m.Descriptor().Fields().Get(i)
		switch name := string(f.Name()); {
		case name == "format", name == "starting_after", name == "order" && in.GetOrder() == "asc":
		case m.Has(f):
			refused = append(refused, name)
		}
	}
	if len(refused) == 0 {
		return nil
	}
	return fault.Field(refused[0], "invalid_value", "An export that can be verified has no gaps: leave out %s, or ask for format=csv.", strings.Join(refused, ", "))
}
