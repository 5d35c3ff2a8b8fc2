package mgmt

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/mgmt/rest"
	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// formatExport is the format of a file that contains everything needed to verify it.
const formatExport = "jsonl"

// sendExport sends the chain from the record after starting_after on. It takes no other
// parameter, because a chain with gaps cannot be verified. A file without its last line was
// interrupted, and its verification fails.
func (s *Server) sendExport(w http.ResponseWriter, r *http.Request, in *gatewayv1.ListAuditLogRequest) error {
	ctx := r.Context()
	after, err := eventNumber("starting_after", in.GetStartingAfter())
	if err == nil {
		err = exportable(in)
	}
	if err == nil && !viewer(ctx).rights.SeesAll() {
		err = notYours("format", "Only a caller that sees everything may export the audit log; format=csv shows an organization's records.")
	}
	if err != nil {
		return err
	}
	out := &file{w: w, media: "application/jsonl", name: "audit-log.jsonl"}
	return out.send(r, surface.Report, func(ctx context.Context) error { return s.cfg.Audit.Export(ctx, out, after+1) })
}

// exportable rejects parameters that would leave records out.
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

// formatCSV is the format of a file for spreadsheets.
const formatCSV = "csv"

// csvPage bounds the records that are read at once. A slow client must not keep an old
// snapshot of the store open.
const csvPage = 500

// withFiles serves requests for the audit log as a file, and passes other requests to next. The
// route has checked already that the caller may use it.
func (s *Server) withFiles(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		format := r.URL.Query().Get("format")
		if format != formatCSV && format != formatExport {
			next(w, r)
			return
		}
		in := &gatewayv1.ListAuditLogRequest{}
		err := rest.ReadQuery(r.URL.RawQuery, in)
		if err == nil {
			err = s.operations.Validate(in)
		}
		send := s.sendCSV
		if format == formatExport {
			send = s.sendExport
		}
		if err == nil {
			err = send(w, r, in)
		}
		if err != nil {
			s.reject(w, r, err)
		}
	}
}

// sendCSV sends the records of a request.
func (s *Server) sendCSV(w http.ResponseWriter, r *http.Request, in *gatewayv1.ListAuditLogRequest) error {
	f, err := auditFilter(r.Context(), in)
	if err != nil {
		return err
	}
	f.Limit = int(in.GetLimit())
	out := &file{w: w, media: "text/csv; charset=utf-8", name: csvName(in)}
	return out.send(r, surface.Report, func(ctx context.Context) error { return cursorFault(audit.WriteCSV(out, s.auditRecords(ctx, f))) })
}

// csvName returns the file name for the records of a request.
func csvName(in *gatewayv1.ListAuditLogRequest) string {
	part := func(of string) string { return strings.ReplaceAll(cmp.Or(of, "all"), ":", "-") }
	return "audit-log_" + part(in.GetStartDate()) + "_" + part(in.GetEndDate()) + ".csv"
}

// auditRecords yields the records that match a filter. It reads them in pages.
func (s *Server) auditRecords(ctx context.Context, f audit.Filter) iter.Seq2[audit.Record, error] {
	return func(yield func(audit.Record, error) bool) {
		left := f.Limit // 0: no bound
		for {
			if f.Limit = csvPage; left > 0 {
				f.Limit = min(csvPage, left)
			}
			var page []audit.Record
			err := s.cfg.Audit.Query(ctx, f, func(r audit.Record) bool {
				page = append(page, r)
				return true
			})
			if err != nil {
				yield(audit.Record{}, err)
				return
			}
			for _, r := range page {
				if !yield(r, nil) {
					return
				}
			}
			if len(page) < f.Limit || left > 0 && left == len(page) {
				return
			}
			if left > 0 {
				left -= len(page)
			}
			f.After = page[len(page)-1].Number
		}
	}
}
