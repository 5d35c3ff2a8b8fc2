package ledger

import (
	"context"
	"encoding/base64"
	"errors"
	"math"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/usage"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// LogFilter says which usage records to show. What is not set does not narrow.
type LogFilter struct {
	Request  id.Request
	Key      *id.KeyHash // of this account: see KeyAccount
	Team     id.Team
	User     id.User
	Customer id.Customer
	// Organization is that of the key.
	Organization id.Organization
	Session      string
	From, To     time.Time // of their end: From itself included, To excluded

	NewestFirst bool
	After       string // Record.Cursor of the last that was seen; empty: from the beginning
	Limit       int    // at most so many; 0: all
	// Reads is how many records may be looked at. 0 means 100,000. Where they do not
	// suffice, Logs ends with a *MoreError that says where to go on.
	Reads int
}

// Record is a posted event: an attempt at a provider.
type Record struct {
	Node         id.Node
	Epoch, Seq   uint64
	Request      id.Request
	Attempt      int
	Final        bool       // the last of its request
	Key          id.KeyHash // the one that was used
	KeyAlias     string
	Actor        string
	Team         id.Team
	User         id.User
	Organization id.Organization
	Customer     id.Customer
	Deployment   id.Deployment
	Group        id.ModelName
	Provider     string
	Model        string
	CallType     string
	Stream       bool
	Session      string // the caller's own name for what the request is a part of
	Tags         []string
	ServiceTier  string

	Start, FirstToken, End time.Time // FirstToken is zero when none came

	Status        int
	Outcome       string // success, failed, canceled, crashed or unknown
	ErrorCode     string
	FinishReason  string
	Tokens        usage.Tokens
	Source        usage.Source
	Cost          money.Pico
	FallbackCount int  // steps to a fallback; in records that do not count them apart, attempts before this one
	UsageCapped   bool // the provider reported more than is possible
	Retries       int
	ClientStatus  int // 0 in all but the last record of a request
	Failures      []Failure
	Account       id.KeyHash // the key that has paid: the one that was used, or that it comes of by regeneration

	at string // its key
}

// Cursor is where the record is: LogFilter.After of a query that goes on behind it.
func (r *Record) Cursor() string { return base64.RawURLEncoding.EncodeToString([]byte(r.at)) }

// defaultReads is enough for any page that has an index, and holds a node up for a
// second at the most.
const defaultReads = 100_000

// CodeWide is the code of the fault of a query that matches too little of what it
// has to read.
const CodeWide = "search_too_wide"

// MoreError is the cause of that fault.
type MoreError struct {
	After string // LogFilter.After of a query that goes on
}

// Error says what a MoreError is.
func (e *MoreError) Error() string { return "the query was not finished" }

// Logs calls fn for each usage record that the filter matches, in the order of when
// the attempts ended, until fn returns false. It goes by the index of requests or of
// keys if the filter names one, or else by time. Where it would read too much, it
// faults with CodeWide; what it has shown until then counts.
func Logs(ctx context.Context, r Reader, f LogFilter, fn func(Record) bool) error {
	span, skip, err := f.span()
	if err != nil {
		return err
	}
	reads, shown := f.Reads, 0
	if reads <= 0 {
		reads = defaultReads
	}
	var broken error
	err = r.Scan(ctx, span, func(key, value []byte) bool {
		place := key[min(skip, len(key)):]
		if span.Space == store.SpaceUsageIndex {
			var ok bool
			if value, ok, broken = r.Get(store.SpaceUsage, place); broken != nil || !ok {
				return broken == nil
			}
		}
		var rec Record
		if rec, broken = readRecord(place, value); broken != nil {
			return false
		}
		if f.matches(&rec) {
			if shown++; !fn(rec) || shown == f.Limit {
				return false
			}
		}
		if reads--; reads == 0 {
			broken = tooWide(&rec)
		}
		return reads > 0
	})
	if err == nil {
		err = broken
	}
	if err != nil {
		return unreadable(err)
	}
	return nil
}

// tooWide is the fault of a query that has read enough; at is the last record.
func tooWide(at *Record) error {
	f := fault.New(fault.Malformed, CodeWide, "Too little of what there is matches the filter: narrow it to fewer days, a key or a request.")
	f.Err = &MoreError{After: at.Cursor()}
	return f
}

// span is the part of the state that has what the filter wants, and how many bytes
// are before the key of a record in the keys there.
func (f *LogFilter) span() (store.Range, int, error) {
	span := store.Range{Space: store.SpaceUsage, Reverse: f.NewestFirst}
	switch {
	case f.Request != "":
		span.Space, span.Prefix = store.SpaceUsageIndex, appendRequestIndex(nil, string(f.Request))
	case f.Key != nil:
		span.Space, span.Prefix = store.SpaceUsageIndex, appendKeyIndex(nil, *f.Key)
	}
	before := func(place []byte) []byte { return append(append([]byte{}, span.Prefix...), place...) }
	if !f.From.IsZero() {
		span.From = before(appendMoment(nil, nanosOf(f.From)))
	}
	if !f.To.IsZero() {
		span.To = before(appendMoment(nil, nanosOf(f.To)))
	}
	if f.After == "" {
		return span, len(span.Prefix), nil
	}
	after, err := base64.RawURLEncoding.Strict().DecodeString(f.After)
	if err != nil || len(after) < momentSize {
		return span, 0, fault.Field("starting_after", "invalid_value", "starting_after is not a cursor that a page came with; leave it out to begin anew.")
	}
	if at := before(after); f.NewestFirst {
		if len(span.To) == 0 || string(at) < string(span.To) {
			span.To = at
		}
	} else if at = append(at, 0); string(at) > string(span.From) {
		span.From = at
	}
	return span, len(span.Prefix), nil
}

// nanosOf is a time as keys have it. Those that they cannot hold are brought to the
// first and the last that they can.
func nanosOf(t time.Time) int64 {
	switch first, last := time.Unix(0, 0), time.Unix(0, math.MaxInt64); {
	case t.Before(first):
		return 0
	case t.After(last):
		return math.MaxInt64
	}
	return t.UnixNano()
}

// matches reports whether the filter wants a record of its span.
func (f *LogFilter) matches(r *Record) bool {
	return (f.Request == "" || r.Request == f.Request) &&
		(f.Key == nil || r.Account == *f.Key) &&
		(f.Team == "" || r.Team == f.Team) &&
		(f.User == "" || r.User == f.User) &&
		(f.Customer == "" || r.Customer == f.Customer) &&
		(f.Organization == "" || r.Organization == f.Organization) &&
		(f.Session == "" || r.Session == f.Session)
}

// errRecord is a record without an event.
var errRecord = errors.New("usage record without an event")

// readRecord reads the usage record of a key.
func readRecord(place, value []byte) (Record, error) {
	m := &clusterv1.UsageRecord{}
	if err := proto.Unmarshal(value, m); err != nil {
		return Record{}, err
	}
	e := m.GetEvent()
	if e == nil {
		return Record{}, errRecord
	}
	return Record{
		Node: id.Node(m.GetNode()), Epoch: m.GetEpoch(), Seq: m.GetSeq(),
		Request: id.Request(e.GetRequest()), Attempt: int(e.GetAttempt()), Final: e.GetFinal(),
		Key: hashOf(e), KeyAlias: e.GetKeyAlias(), Actor: e.GetActor(),
		Team: id.Team(e.GetTeam()), User: id.User(e.GetUser()),
		Organization: id.Organization(e.GetOrganization()), Customer: id.Customer(e.GetEndUser()),
		Deployment: id.Deployment(e.GetDeployment()), Group: id.ModelName(e.GetGroup()),
		Provider: e.GetProvider(), Model: e.GetModel(), CallType: e.GetCallType(),
		Stream: e.GetStream(), Session: e.GetSession(), Tags: e.GetTags(), ServiceTier: e.GetServiceTier(),
		Start: record.FromNanos(e.GetStartUnixNano()), FirstToken: record.FromNanos(e.GetFirstTokenUnixNano()),
		End: record.FromNanos(e.GetEndUnixNano()), Status: int(e.GetStatus()),
		Outcome: outcome(e.GetOutcome()), ErrorCode: e.GetErrorCode(), FinishReason: e.GetFinishReason(),
		Tokens: tokens(e.GetTokens()), Source: source(e.GetSource()), UsageCapped: e.GetUsageCapped(), Cost: money.Pico(e.GetCostPico()),
		FallbackCount: fallbacksOf(e), Retries: int(e.GetRetries()), ClientStatus: int(e.GetClientStatus()), Failures: failuresOf(e),
		Account: keyAccount(e), at: string(place),
	}, nil
}

// fallbacksOf is how many fallbacks came before an attempt. Events that do not count
// them apart from retries have the number of attempts.
func fallbacksOf(e *clusterv1.UsageEvent) int {
	if e.GetCountedApart() {
		return int(e.GetFallbacksTaken())
	}
	return int(e.GetFallbackCount())
}

// Failure says why one attempt of a request failed.
type Failure struct {
	Attempt             int // from 1
	Deployment          id.Deployment
	Provider            string
	Status              int // the provider's; 0 if there was none
	Cause               string
	Type, Code, Message string // the provider's own
	RequestID           string // the provider's own
}

func failuresOf(e *clusterv1.UsageEvent) []Failure {
	if len(e.GetFailures()) == 0 {
		return nil
	}
	out := make([]Failure, len(e.GetFailures()))
	for i, f := range e.GetFailures() {
		out[i] = Failure{
			Attempt: int(f.GetAttempt()), Deployment: id.Deployment(f.GetDeployment()), Provider: f.GetProvider(),
			Status: int(f.GetStatus()), Cause: f.GetCause(), Type: f.GetErrorType(), Code: f.GetErrorCode(),
			Message: f.GetMessage(), RequestID: f.GetProviderRequestId(),
		}
	}
	return out
}

func tokens(t *clusterv1.TokenCounts) usage.Tokens {
	return usage.Tokens{
		Input: t.GetInput(), CacheRead: t.GetCacheRead(), CacheWrite: t.GetCacheWrite(), CacheWrite1h: t.GetCacheWrite_1H(),
		InputAudio: t.GetInputAudio(), InputImage: t.GetInputImage(),
		Output: t.GetOutput(), Reasoning: t.GetReasoning(), OutputAudio: t.GetOutputAudio(), OutputImage: t.GetOutputImage(),
		SearchQueries: t.GetSearchQueries(), Images: t.GetImages(), InputCharacters: t.GetInputCharacters(),
		InputMillis: t.GetInputMillis(), OutputMillis: t.GetOutputMillis(), Pages: t.GetPages(),
	}
}

// outcome is the name of an outcome, as the API shows it.
func outcome(o clusterv1.Outcome) string {
	switch o {
	case clusterv1.Outcome_OUTCOME_SUCCESS:
		return "success"
	case clusterv1.Outcome_OUTCOME_FAILED:
		return "failed"
	case clusterv1.Outcome_OUTCOME_CANCELED:
		return "canceled"
	case clusterv1.Outcome_OUTCOME_CRASHED:
		return "crashed"
	case clusterv1.Outcome_OUTCOME_UNSPECIFIED:
	}
	return "unknown"
}

// source takes what only a newer version knows for an estimate.
func source(s clusterv1.UsageSource) usage.Source {
	switch s {
	case clusterv1.UsageSource_USAGE_SOURCE_NONE:
		return usage.None
	case clusterv1.UsageSource_USAGE_SOURCE_PROVIDER:
		return usage.Provider
	case clusterv1.UsageSource_USAGE_SOURCE_ESTIMATED, clusterv1.UsageSource_USAGE_SOURCE_UNSPECIFIED:
	}
	return usage.Estimated
}
