package journal

import (
	"encoding/binary"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/usage"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

func decodeIntent(value []byte) (*Intent, error) {
	var m clusterv1.UsageIntent
	if err := proto.Unmarshal(value, &m); err != nil {
		return nil, err
	}
	if v := m.GetVersion(); v < recordVersion || v > endUserVersion {
		return nil, fmt.Errorf("%w: %d", errVersion, m.GetVersion())
	}
	in := &Intent{
		Request: id.Request(m.GetRequest()), Attempt: int(m.GetAttempt()),
		KeyAlias:   m.GetKeyAlias(),
		Deployment: id.Deployment(m.GetDeployment()), Group: id.ModelName(m.GetGroup()),
		Provider: m.GetProvider(), Model: m.GetModel(), CallType: m.GetCallType(),
		Stream: m.GetStream(), EndUser: m.GetEndUser(), OfOrganization: m.GetEndUserOfOrganization(), Session: m.GetSession(),
		Team: id.Team(m.GetTeam()), User: id.User(m.GetUser()), Organization: id.Organization(m.GetOrganization()),
		Actor: m.GetActor(), Charges: decodeCharges(m.GetCharges()),
		Start: instant(m.GetStartUnixNano()), OwnClock: m.GetOwnClock(), NotBefore: instant(m.GetNotBeforeUnixNano()),
		Estimate: decodeTokens(m.GetEstimate()), EstimatedCost: money.Pico(m.GetEstimatedCostPico()),
		Steps: decodeSteps(&m),
	}
	copy(in.Key[:], m.GetKeyHash())
	copy(in.Origin[:], m.GetOriginHash())
	in.Parents = decodeHashes(m.GetParentHashes())
	return in, nil
}

// decodeEvent reads an event; node is whose journal it is in.
func decodeEvent(node id.Node, key, value []byte) (Event, error) {
	epoch, seq, err := parseEventKey(key)
	if err != nil {
		return Event{}, err
	}
	return unmarshalEvent(EventID{Node: node, Epoch: epoch, Seq: seq}, value)
}

// Decode reads an event that was shipped, in the bytes that Batch returned. The error
// is an *fault.Error of kind StorageUnavailable.
func Decode(node id.Node, epoch, seq uint64, value []byte) (Event, error) {
	ev, err := unmarshalEvent(EventID{Node: node, Epoch: epoch, Seq: seq}, value)
	if err != nil {
		return Event{}, damaged("usage event", err)
	}
	return ev, nil
}

func unmarshalEvent(name EventID, value []byte) (Event, error) {
	var m clusterv1.UsageEvent
	if err := proto.Unmarshal(value, &m); err != nil {
		return Event{}, err
	}
	if v := m.GetVersion(); v < recordVersion || v > endUserVersion {
		return Event{}, fmt.Errorf("%w: %d", errVersion, m.GetVersion())
	}
	ev := Event{
		ID:      name,
		Request: id.Request(m.GetRequest()), Attempt: int(m.GetAttempt()),
		KeyAlias:   m.GetKeyAlias(),
		Deployment: id.Deployment(m.GetDeployment()), Group: id.ModelName(m.GetGroup()),
		Provider: m.GetProvider(), Model: m.GetModel(), CallType: m.GetCallType(),
		Stream: m.GetStream(), EndUser: m.GetEndUser(), OfOrganization: m.GetEndUserOfOrganization(), Session: m.GetSession(), Tags: m.GetTags(),
		Team: id.Team(m.GetTeam()), User: id.User(m.GetUser()), Organization: id.Organization(m.GetOrganization()),
		Actor: m.GetActor(), Charges: decodeCharges(m.GetCharges()),
		Start: instant(m.GetStartUnixNano()), FirstToken: instant(m.GetFirstTokenUnixNano()), End: instant(m.GetEndUnixNano()),
		OwnClock: m.GetOwnClock(), NotBefore: instant(m.GetNotBeforeUnixNano()),
		Status: int(m.GetStatus()), Outcome: decodeOutcome(m.GetOutcome()),
		ErrorCode: m.GetErrorCode(), FinishReason: m.GetFinishReason(),
		Tokens: decodeTokens(m.GetTokens()), Source: decodeSource(m.GetSource()), Cost: money.Pico(m.GetCostPico()),
		FallbackCount: int(m.GetFallbackCount()), ServiceTier: m.GetServiceTier(), UsageCapped: m.GetUsageCapped(),
		ClientStatus: int(m.GetClientStatus()), Steps: decodeSteps(&m),
		Failures: decodeFailures(m.GetFailures()),
		Final:    m.GetFinal(), Fallbacks: decodeFallbacks(m.GetFallbacks()), Notice: decodeNotice(m.GetNotice()),
	}
	copy(ev.Key[:], m.GetKeyHash())
	copy(ev.Origin[:], m.GetOriginHash())
	ev.Parents = decodeHashes(m.GetParentHashes())
	return ev, nil
}

func parseIntentKey(key []byte) (uint64, error) {
	if len(key) != 8 {
		return 0, errKey
	}
	return binary.BigEndian.Uint64(key), nil
}

func parseEventKey(key []byte) (epoch, seq uint64, err error) {
	if len(key) != 16 {
		return 0, 0, errKey
	}
	return binary.BigEndian.Uint64(key), binary.BigEndian.Uint64(key[8:]), nil
}

func parseMark(value []byte) (lastSeq uint64, err error) {
	var m clusterv1.JournalMark
	if err := proto.Unmarshal(value, &m); err != nil {
		return 0, err
	}
	if m.GetVersion() != recordVersion {
		return 0, fmt.Errorf("%w: %d", errVersion, m.GetVersion())
	}
	return m.GetLastSeq(), nil
}

func decodeTokens(m *clusterv1.TokenCounts) usage.Tokens {
	return usage.Tokens{
		Input: m.GetInput(), CacheRead: m.GetCacheRead(), CacheWrite: m.GetCacheWrite(), CacheWrite1h: m.GetCacheWrite_1H(),
		InputAudio: m.GetInputAudio(), InputImage: m.GetInputImage(),
		Output: m.GetOutput(), Reasoning: m.GetReasoning(), OutputAudio: m.GetOutputAudio(),
		OutputImage: m.GetOutputImage(), SearchQueries: m.GetSearchQueries(),
		Images: m.GetImages(), InputCharacters: m.GetInputCharacters(),
		InputMillis: m.GetInputMillis(), OutputMillis: m.GetOutputMillis(), Pages: m.GetPages(),
	}
}

func decodeHashes(list [][]byte) []id.KeyHash {
	if len(list) == 0 {
		return nil
	}
	out := make([]id.KeyHash, len(list))
	for i := range list {
		copy(out[i][:], list[i])
	}
	return out
}

func decodeCharges(list []*clusterv1.Charge) []usage.Charge {
	if len(list) == 0 {
		return nil
	}
	out := make([]usage.Charge, len(list))
	for i, m := range list {
		out[i] = usage.Charge{
			Kind: decodeKind(m.GetKind()), Epoch: m.GetEpoch(),
			Hold: money.Pico(m.GetHoldPico()), Soft: money.Pico(m.GetSoftPico()),
			Max: money.Pico(m.GetMaxPico()), Bounded: m.MaxPico != nil,
		}
		copy(out[i].Key[:], m.GetKeyHash())
	}
	return out
}

// counted is what an intent and an event say of the steps before an attempt.
type counted interface {
	GetCountedApart() bool
	GetRetries() int64
	GetFallbacksTaken() int64
}

func decodeSteps(m counted) *Steps {
	if !m.GetCountedApart() {
		return nil
	}
	return &Steps{Retries: int(m.GetRetries()), Fallbacks: int(m.GetFallbacksTaken())}
}

func decodeFailures(list []*clusterv1.AttemptFailure) []Failure {
	if len(list) == 0 {
		return nil
	}
	out := make([]Failure, len(list))
	for i, m := range list {
		out[i] = Failure{
			Attempt: int(m.GetAttempt()), Deployment: id.Deployment(m.GetDeployment()), Provider: m.GetProvider(),
			Status: int(m.GetStatus()), Cause: m.GetCause(), Type: m.GetErrorType(), Code: m.GetErrorCode(),
			Message: m.GetMessage(), RequestID: m.GetProviderRequestId(),
		}
	}
	return out
}

func decodeFallbacks(list []*clusterv1.FallbackTaken) []Fallback {
	if len(list) == 0 {
		return nil
	}
	out := make([]Fallback, len(list))
	for i, m := range list {
		out[i] = Fallback{
			Attempt: int(m.GetAttempt()), Deployment: id.Deployment(m.GetDeployment()), Provider: m.GetProvider(), Model: m.GetModel(),
			Status: int(m.GetStatus()), ErrorCode: m.GetErrorCode(), From: m.GetFrom(), To: m.GetTo(),
		}
	}
	return out
}

func decodeNotice(m *clusterv1.Notice) *Notice {
	if m == nil {
		return nil
	}
	n := &Notice{
		Type: m.GetType(), Code: m.GetCode(), Count: m.GetCount(), Details: m.GetDetailsJson(),
		AccountEpoch: m.GetAccountEpoch(),
	}
	if a := m.GetAccount(); a != nil {
		n.Account = id.Account{Kind: decodeKind(a.GetKind()), Owner: a.GetOwner(), Part: a.GetPart()}
	}
	return n
}

// decodeKind takes a kind that no version can have for none.
func decodeKind(k clusterv1.AccountKind) id.AccountKind {
	if k < 0 || k > 0xff {
		return 0
	}
	return id.AccountKind(k)
}

// decodeOutcome takes an outcome that only a newer gateway knows for none.
func decodeOutcome(o clusterv1.Outcome) Outcome {
	switch o {
	case clusterv1.Outcome_OUTCOME_SUCCESS:
		return Success
	case clusterv1.Outcome_OUTCOME_FAILED:
		return Failed
	case clusterv1.Outcome_OUTCOME_CANCELED:
		return Canceled
	case clusterv1.Outcome_OUTCOME_CRASHED:
		return Crashed
	case clusterv1.Outcome_OUTCOME_UNSPECIFIED:
	}
	return 0
}

// decodeSource takes a source that only a newer gateway knows for an estimate:
// numbers of unknown origin are not to be trusted more than that.
func decodeSource(s clusterv1.UsageSource) usage.Source {
	switch s {
	case clusterv1.UsageSource_USAGE_SOURCE_NONE:
		return usage.None
	case clusterv1.UsageSource_USAGE_SOURCE_PROVIDER:
		return usage.Provider
	case clusterv1.UsageSource_USAGE_SOURCE_ESTIMATED, clusterv1.UsageSource_USAGE_SOURCE_UNSPECIFIED:
	}
	return usage.Estimated
}

func instant(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
