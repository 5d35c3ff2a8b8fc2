package mgmt

import (
	"context"
	"slices"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

type auditService struct {
	gatewayv1.UnimplementedAuditServiceServer
	audit AuditLog
}

// ListAuditLog shows a page of the records that match.
func (s auditService) ListAuditLog(ctx context.Context, in *gatewayv1.ListAuditLogRequest) (*gatewayv1.ListAuditLogResponse, error) {
	if format := in.GetFormat(); format == formatCSV || format == formatExport { // over HTTP it does not come here
		return nil, fault.Field("format", "invalid_value", "A file is for HTTP: GET /audit-log?format=%s. Leave format out.", format)
	}
	f, err := auditFilter(ctx, in)
	if err != nil {
		return nil, err
	}
	limit := int(orElse(in.Limit, defaultLimit))
	f.Limit = limit + 1 // whether there are more
	out := &gatewayv1.ListAuditLogResponse{Object: objectList}
	var bad error
	err = s.audit.Query(ctx, f, func(r audit.Record) bool {
		if len(out.GetData()) == limit {
			out.HasMore = true
			return false
		}
		var one *gatewayv1.AuditRecord
		if one, bad = auditRecord(r); bad != nil {
			return false
		}
		out.Data = append(out.GetData(), one)
		return true
	})
	if err == nil {
		err = bad
	}
	if err != nil {
		return nil, cursorFault(err)
	}
	if out.GetHasMore() {
		out.NextCursor = wrapperspb.String(out.GetData()[limit-1].GetEventId())
	}
	return out, nil
}

// cursorFault sets the code of the fault for a cursor whose record was deleted.
func cursorFault(err error) error {
	if e := fault.From(err); err != nil && e.Kind == fault.Malformed && e.Code == "" {
		coded := *e
		coded.Code = "invalid_value"
		return &coded
	}
	return err
}

// auditRecord returns a record in the form of the API, which is that of the record itself.
func auditRecord(r audit.Record) (*gatewayv1.AuditRecord, error) {
	out := &gatewayv1.AuditRecord{}
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(r.Full(), out); err != nil {
		return nil, &fault.Error{Op: "mgmt.audit", Kind: fault.Internal, Detail: "A record of the audit log cannot be shown.", Err: err}
	}
	return out, nil
}

// auditFilter returns the filter of a request, narrowed to what the caller may see.
func auditFilter(ctx context.Context, in *gatewayv1.ListAuditLogRequest) (audit.Filter, error) {
	f := audit.Filter{
		Type: in.GetEventType(), Request: in.GetRequestId(), Org: in.GetOrgId(), Team: in.GetTeamId(), Customer: in.GetCustomerId(),
		Model: in.GetModel(), Provider: in.GetProvider(), OldestFirst: in.GetOrder() == "asc",
	}
	if f.Type != "" && !event.KnownType(f.Type) {
		return f, fault.Field("event_type", "invalid_value", "There are no events of that type. Name one such as key.created, or leave event_type out.")
	}
	if in.GetKeyHash() != "" {
		h, err := keyHash("key_hash", in.GetKeyHash())
		if err != nil {
			return f, err
		}
		f.KeyHash = &h
	}
	var err error
	if f.After, err = eventNumber("starting_after", in.GetStartingAfter()); err != nil {
		return f, err
	}
	if f.From, f.To, err = between(in); err != nil {
		return f, err
	}
	f.Org, err = auditOrganization(ctx, f.Org)
	return f, err
}

// auditOrganization returns the organization whose records the response shows; empty for all.
// An org_admin sees the records of its organizations, of one in each response.
func auditOrganization(ctx context.Context, asked string) (string, error) {
	c := viewer(ctx)
	if c.rights.SeesAll() {
		return asked, nil
	}
	own := c.overseen()
	switch {
	case len(own) == 0:
		return "", noAuditLog()
	case asked == "" && len(own) == 1:
		return own[0], nil
	case asked == "":
		return "", fault.Field("org_id", "missing_required_parameter", "org_id is missing: name one of the organizations of which this API key's user is org_admin.")
	case !slices.Contains(own, asked):
		return "", notYours("org_id", "This API key may read the records of the organizations of which its user is org_admin.")
	}
	return asked, nil
}

func noAuditLog() error {
	return notYours("", "Only an org_admin, for its organization, or a caller that sees everything, may read the audit log.")
}

// eventNumber reads an event_id; 0 for an empty one.
func eventNumber(param, text string) (uint64, error) {
	if text == "" {
		return 0, nil
	}
	n, ok := audit.ParseEventID(text)
	if !ok {
		return 0, fault.Field(param, "invalid_value", "%s must be an event_id: evt_ and 16 hex digits.", param)
	}
	return n, nil
}

// GetAuditRecord shows one record.
func (s auditService) GetAuditRecord(ctx context.Context, in *gatewayv1.GetAuditRecordRequest) (*gatewayv1.AuditRecord, error) {
	number, err := eventNumber("event_id", in.GetEventId())
	if err != nil {
		return nil, err
	}
	c := viewer(ctx)
	own := c.overseen()
	if !c.rights.SeesAll() && len(own) == 0 {
		return nil, noAuditLog()
	}
	found, ok, err := s.audit.Record(ctx, number)
	if err != nil {
		return nil, err
	}
	if ok {
		out, err := auditRecord(found)
		if err != nil {
			return nil, err
		}
		if c.rights.SeesAll() || slices.Contains(own, out.GetOrgId().GetValue()) {
			return out, nil
		}
	}
	return nil, &fault.Error{Kind: fault.NotFound, Code: "event_not_found", Param: "event_id", Detail: "The audit log has no such event, or not any more."}
}

// VerifyAuditLog checks every link of the chain.
func (s auditService) VerifyAuditLog(ctx context.Context, in *gatewayv1.VerifyAuditLogRequest) (*gatewayv1.VerifyAuditLogResponse, error) {
	if !viewer(ctx).rights.SeesAll() {
		return nil, notYours("", "Only a caller that sees everything may verify the audit log.")
	}
	from, err := eventNumber("start", in.GetStart())
	if err != nil {
		return nil, err
	}
	to, err := eventNumber("end", in.GetEnd())
	if err != nil {
		return nil, err
	}
	if to != 0 && to < from {
		return nil, fault.Field("end", "invalid_value", "end is before start. Exchange them.")
	}
	r, err := s.audit.Verify(ctx, from, to)
	if err != nil {
		return nil, err
	}
	out := &gatewayv1.VerifyAuditLogResponse{
		Valid: r.Valid, Checked: float64(r.Checked), FirstEventId: eventOrNull(r.First), LastEventId: eventOrNull(r.Last),
		HeadHash: id.KeyHash(r.Head).String(), BrokenAt: eventOrNull(r.BrokenAt), Reason: textOrNull(r.Reason), Checkpoints: float64(r.Checkpoints),
		CoveredEventId: eventOrNull(r.Covered), Dropped: float64(r.Before),
	}
	if len(r.Verifiers) > 0 {
		out.CheckpointKey = wrapperspb.String(r.Verifiers[0].String())
	}
	return out, nil
}

func eventOrNull(number uint64) *wrapperspb.StringValue {
	if number == 0 {
		return nil
	}
	return wrapperspb.String(audit.EventID(number))
}
