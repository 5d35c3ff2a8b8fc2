package mgmt

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"strings"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/grpc-ecosystem/grpc-gateway/v2/utilities"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// formatCSV is the format of a whole file, which no message can carry.
const formatCSV = "csv"

// csvPage is how many records are read at once. What a slow client has not taken
// yet must not hold on to the state of a moment long gone.
const csvPage = 500

// withFiles answers requests for the audit log as a file, and leaves others to next.
// They have been found to be from somebody who may use the route.
func (s *Server) withFiles(op *operation, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		format := r.URL.Query().Get("format")
		if format != formatCSV && format != formatExport {
			next(w, r)
			return
		}
		in := &gatewayv1.ListAuditLogRequest{}
		err := conformQuery(r.URL.RawQuery, op.input.Descriptor().Fields(), nil)
		if err == nil {
			err = runtime.PopulateQueryParameters(in, r.URL.Query(), utilities.NewDoubleArray(nil))
		}
		if err == nil {
			err = s.validate(in)
		}
		if err == nil && format == formatExport {
			s.sendExport(w, r, in)
			return
		}
		var f audit.Filter
		if err == nil {
			f, err = auditFilter(r.Context(), in)
		}
		if err != nil {
			s.refuse(w, r, unreadable(err))
			return
		}
		f.Limit = int(in.GetLimit())
		s.sendCSV(w, r, f, csvName(in))
	}
}

// csvName is what a file is called that has what a request asks for.
func csvName(in *gatewayv1.ListAuditLogRequest) string {
	part := func(of string) string { return strings.ReplaceAll(cmp.Or(of, "all"), ":", "-") }
	return "audit-log_" + part(in.GetStartDate()) + "_" + part(in.GetEndDate()) + ".csv"
}

// sendCSV sends records as a file. What goes wrong before the first of them is told;
// later the connection is broken off, so that nobody takes a part for the whole.
func (s *Server) sendCSV(w http.ResponseWriter, r *http.Request, f audit.Filter, name string) {
	records := s.auditRecords(r.Context(), f)
	next, stop := iter.Pull2(records)
	defer stop()
	first, err, ok := next()
	if ok && err != nil {
		s.refuse(w, r, timely(r.Context(), surface.Report, cursorFault(err)))
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("Cache-Control", "no-store")
	err = audit.WriteCSV(w, func(yield func(audit.Record, error) bool) {
		for ok && yield(first, err) {
			first, err, ok = next()
		}
	})
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}

// auditRecords are the records that a filter wants, read piece by piece.
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
