package journal

import (
	"encoding/binary"
	"errors"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/usage"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// recordVersion is the version of all records of this package. Fields may be
// added without a new one; it changes when an old reader would misread.
const recordVersion = 1

// fullerVersion is the version of an intent or event that a reader of version 1 would post
// differently: its cost counts at accounts of parents, or its audit record has the caller's
// status, the steps of the request or why attempts failed. Such a reader stops, because all
// nodes must come to the same state.
const fullerVersion = 2

// endUserVersion is the version of an intent or event whose cost counts at an end user of
// an organization. A reader of an older version would post it to an end user that all
// organizations share; it stops instead.
const endUserVersion = 3

func versionOf(parents []id.KeyHash, endUser bool) uint32 {
	switch {
	case endUser:
		return endUserVersion
	case len(parents) > 0:
		return fullerVersion
	}
	return recordVersion
}

// errVersion is a record that a newer gateway wrote.
var errVersion = errors.New("record of an unknown version")

// errKey is a key that is not of the form that its space has.
var errKey = errors.New("malformed key")

// errGap is a number that is missing between two events.
var errGap = errors.New("the numbers of the events have a gap")

// encoder turns domain values into records. Its messages and its buffer serve
// again and again; what a method returns is valid until the next call.
type encoder struct {
	intent  clusterv1.UsageIntent
	event   clusterv1.UsageEvent
	tokens  clusterv1.TokenCounts
	notice  clusterv1.Notice
	account clusterv1.AccountID
	charges []*clusterv1.Charge // as many as there have been at once
	maxima  []int64             // of charges, for what is optional is a pointer
	buf     []byte
	key     [16]byte
}

func (e *encoder) marshal(m proto.Message) ([]byte, error) {
	var err error
	e.buf, err = proto.MarshalOptions{}.MarshalAppend(e.buf[:0], m)
	return e.buf, err
}

// intentKey is the key of the intent with that number.
func (e *encoder) intentKey(number uint64) []byte {
	return binary.BigEndian.AppendUint64(e.key[:0], number)
}

// eventKey is the key of the event with that number.
func (e *encoder) eventKey(epoch, seq uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(e.key[:0], epoch), seq)
}

// markKey is the key of the mark of an epoch.
func (e *encoder) markKey(epoch uint64) []byte {
	return binary.BigEndian.AppendUint64(e.key[:0], epoch)
}

func (e *encoder) mark(lastSeq uint64) ([]byte, error) {
	return e.marshal(&clusterv1.JournalMark{Version: recordVersion, LastSeq: lastSeq})
}

func (e *encoder) encodeIntent(in *Intent) ([]byte, error) {
	m := &e.intent
	m.EndUserOfOrganization = in.OfOrganization && in.EndUser != "" && in.Organization != ""
	m.Version = versionOf(in.Parents, m.GetEndUserOfOrganization())
	m.Request = text(string(in.Request))
	m.Attempt = int64(in.Attempt)
	m.KeyHash = in.Key[:]
	m.OriginHash = given(&in.Origin)
	m.ParentHashes = appendHashes(m.ParentHashes[:0], in.Parents)
	m.KeyAlias = text(in.KeyAlias)
	m.Deployment = text(string(in.Deployment))
	m.Group = text(string(in.Group))
	m.Provider = text(in.Provider)
	m.Model = text(in.Model)
	m.CallType = text(in.CallType)
	m.Stream = in.Stream
	m.EndUser = text(in.EndUser)
	m.Session = text(in.Session)
	m.Team = text(string(in.Team))
	m.User = text(string(in.User))
	m.Organization = text(string(in.Organization))
	m.Actor = text(in.Actor)
	m.Charges = e.encodeCharges(in.Charges)
	m.StartUnixNano = nanos(in.Start)
	m.OwnClock, m.NotBeforeUnixNano = in.OwnClock, nanos(in.NotBefore)
	m.Estimate = e.encodeTokens(&in.Estimate)
	m.EstimatedCostPico = int64(in.EstimatedCost)
	m.CountedApart, m.Retries, m.FallbacksTaken = encodeSteps(in.Steps)
	return e.marshal(m)
}

func (e *encoder) encodeEvent(ev *Event) ([]byte, error) {
	m := &e.event
	m.EndUserOfOrganization = ev.OfOrganization && ev.EndUser != "" && ev.Organization != ""
	m.Version = versionOf(ev.Parents, m.GetEndUserOfOrganization())
	if ev.Steps != nil || ev.ClientStatus != 0 || len(ev.Failures) > 0 {
		m.Version = max(m.GetVersion(), fullerVersion)
	}
	m.Request = text(string(ev.Request))
	m.Attempt = int64(ev.Attempt)
	m.KeyHash = ev.Key[:]
	m.OriginHash = given(&ev.Origin)
	m.ParentHashes = appendHashes(m.ParentHashes[:0], ev.Parents)
	m.KeyAlias = text(ev.KeyAlias)
	m.Deployment = text(string(ev.Deployment))
	m.Group = text(string(ev.Group))
	m.Provider = text(ev.Provider)
	m.Model = text(ev.Model)
	m.CallType = text(ev.CallType)
	m.Stream = ev.Stream
	m.EndUser = text(ev.EndUser)
	m.Session = text(ev.Session)
	m.Tags = m.Tags[:0]
	for _, tag := range ev.Tags {
		m.Tags = append(m.Tags, text(tag))
	}
	m.Team = text(string(ev.Team))
	m.User = text(string(ev.User))
	m.Organization = text(string(ev.Organization))
	m.Actor = text(ev.Actor)
	m.Charges = e.encodeCharges(ev.Charges)
	m.StartUnixNano = nanos(ev.Start)
	m.FirstTokenUnixNano = nanos(ev.FirstToken)
	m.EndUnixNano = nanos(ev.End)
	m.OwnClock, m.NotBeforeUnixNano = ev.OwnClock, nanos(ev.NotBefore)
	m.Status = int64(ev.Status)
	m.Outcome = encodeOutcome(ev.Outcome)
	m.ErrorCode = text(ev.ErrorCode)
	m.FinishReason = text(ev.FinishReason)
	m.Tokens = e.encodeTokens(&ev.Tokens)
	m.Source = encodeSource(ev.Source)
	m.CostPico = int64(ev.Cost)
	m.FallbackCount = int64(ev.FallbackCount)
	m.ServiceTier = text(ev.ServiceTier)
	m.UsageCapped = ev.UsageCapped
	m.Final = ev.Final
	m.Fallbacks = encodeFallbacks(m.Fallbacks[:0], ev.Fallbacks)
	m.ClientStatus = int64(ev.ClientStatus)
	m.CountedApart, m.Retries, m.FallbacksTaken = encodeSteps(ev.Steps)
	m.Failures = encodeFailures(m.Failures[:0], ev.Failures)
	m.Notice = e.encodeNotice(ev.Notice)
	return e.marshal(m)
}

func encodeSteps(s *Steps) (apart bool, retries, fallbacks int64) {
	if s == nil {
		return false, 0, 0
	}
	return true, int64(s.Retries), int64(s.Fallbacks)
}

func encodeFailures(dst []*clusterv1.AttemptFailure, list []Failure) []*clusterv1.AttemptFailure {
	for i := range list {
		f := &list[i]
		dst = append(dst, &clusterv1.AttemptFailure{
			Attempt: int64(f.Attempt), Deployment: text(string(f.Deployment)), Provider: text(f.Provider),
			Status: int64(f.Status), Cause: text(f.Cause), ErrorType: text(f.Type), ErrorCode: text(f.Code),
			Message: text(f.Message), ProviderRequestId: text(f.RequestID),
		})
	}
	return dst
}

func encodeFallbacks(dst []*clusterv1.FallbackTaken, list []Fallback) []*clusterv1.FallbackTaken {
	for i := range list {
		f := &list[i]
		dst = append(dst, &clusterv1.FallbackTaken{
			Attempt: int64(f.Attempt), Deployment: text(string(f.Deployment)), Provider: text(f.Provider), Model: text(f.Model),
			Status: int64(f.Status), ErrorCode: text(f.ErrorCode), From: text(f.From), To: text(f.To),
		})
	}
	return dst
}

func (e *encoder) encodeTokens(t *usage.Tokens) *clusterv1.TokenCounts {
	m := &e.tokens
	m.Input = t.Input
	m.CacheRead = t.CacheRead
	m.CacheWrite = t.CacheWrite
	m.CacheWrite_1H = t.CacheWrite1h
	m.InputAudio = t.InputAudio
	m.InputImage = t.InputImage
	m.Output = t.Output
	m.Reasoning = t.Reasoning
	m.OutputAudio = t.OutputAudio
	m.OutputImage = t.OutputImage
	m.SearchQueries = t.SearchQueries
	m.Images = t.Images
	m.InputCharacters = t.InputCharacters
	m.InputMillis = t.InputMillis
	m.OutputMillis = t.OutputMillis
	m.Pages = t.Pages
	return m
}

func (e *encoder) encodeCharges(list []usage.Charge) []*clusterv1.Charge {
	for len(e.charges) < len(list) {
		e.charges = append(e.charges, &clusterv1.Charge{})
		e.maxima = append(e.maxima, 0)
	}
	for i := range list {
		c, m := &list[i], e.charges[i]
		m.Kind = clusterv1.AccountKind(c.Kind)
		m.KeyHash = given(&c.Key)
		m.Epoch = c.Epoch
		m.HoldPico = int64(c.Hold)
		m.SoftPico = int64(c.Soft)
		m.MaxPico = nil
		if c.Bounded {
			e.maxima[i] = int64(c.Max)
			m.MaxPico = &e.maxima[i]
		}
	}
	return e.charges[:len(list)]
}

func (e *encoder) encodeNotice(n *Notice) *clusterv1.Notice {
	if n == nil {
		return nil
	}
	m := &e.notice
	m.Type = text(n.Type)
	m.Code = text(n.Code)
	m.Count = n.Count
	m.DetailsJson = text(n.Details)
	m.Account = nil
	if n.Account != (id.Account{}) {
		a := &e.account
		a.Kind = clusterv1.AccountKind(n.Account.Kind)
		a.Owner = text(n.Account.Owner)
		a.Part = text(n.Account.Part)
		m.Account = a
	}
	m.AccountEpoch = n.AccountEpoch
	return m
}

func encodeOutcome(o Outcome) clusterv1.Outcome {
	switch o {
	case Success:
		return clusterv1.Outcome_OUTCOME_SUCCESS
	case Failed:
		return clusterv1.Outcome_OUTCOME_FAILED
	case Canceled:
		return clusterv1.Outcome_OUTCOME_CANCELED
	case Crashed:
		return clusterv1.Outcome_OUTCOME_CRASHED
	}
	return clusterv1.Outcome_OUTCOME_UNSPECIFIED
}

func encodeSource(s usage.Source) clusterv1.UsageSource {
	switch s {
	case usage.None:
		return clusterv1.UsageSource_USAGE_SOURCE_NONE
	case usage.Provider:
		return clusterv1.UsageSource_USAGE_SOURCE_PROVIDER
	case usage.Estimated:
		return clusterv1.UsageSource_USAGE_SOURCE_ESTIMATED
	}
	return clusterv1.UsageSource_USAGE_SOURCE_UNSPECIFIED
}

// text makes s fit for a protobuf string. A record that cannot be encoded would
// be money lost, and callers choose some of these texts.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// given is a hash as records have it; nothing for none.
func given(h *id.KeyHash) []byte {
	if *h == (id.KeyHash{}) {
		return nil
	}
	return h[:]
}

func appendHashes(dst [][]byte, hashes []id.KeyHash) [][]byte {
	for i := range hashes {
		dst = append(dst, hashes[i][:])
	}
	return dst
}

// nanos is t as records have it; 0 for no time.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}
