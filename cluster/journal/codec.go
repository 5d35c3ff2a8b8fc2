package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/usage"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// recordVersion is the version of all records of this package. Fields may be
// added without a new one; it changes when an old reader would misread.
const recordVersion = 1

// errVersion is a record that a newer gateway wrote.
var errVersion = errors.New("record of an unknown version")

// errKey is a key that is not of the form that its space has.
var errKey = errors.New("malformed key")

// encoder turns domain values into records. Its messages and its buffer serve
// again and again; what a method returns is valid until the next call.
type encoder struct {
	intent clusterv1.UsageIntent
	event  clusterv1.UsageEvent
	tokens clusterv1.TokenCounts
	buf    []byte
	key    [16]byte
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
	m.Version = recordVersion
	m.Request = text(string(in.Request))
	m.Attempt = int64(in.Attempt)
	m.KeyHash = in.Key[:]
	m.KeyAlias = text(in.KeyAlias)
	m.Deployment = text(string(in.Deployment))
	m.Group = text(string(in.Group))
	m.Provider = text(in.Provider)
	m.Model = text(in.Model)
	m.CallType = text(in.CallType)
	m.Stream = in.Stream
	m.EndUser = text(in.EndUser)
	m.StartUnixNano = nanos(in.Start)
	m.Estimate = e.encodeTokens(&in.Estimate)
	m.EstimatedCostPico = int64(in.EstimatedCost)
	return e.marshal(m)
}

func (e *encoder) encodeEvent(ev *Event) ([]byte, error) {
	m := &e.event
	m.Version = recordVersion
	m.Request = text(string(ev.Request))
	m.Attempt = int64(ev.Attempt)
	m.KeyHash = ev.Key[:]
	m.KeyAlias = text(ev.KeyAlias)
	m.Deployment = text(string(ev.Deployment))
	m.Group = text(string(ev.Group))
	m.Provider = text(ev.Provider)
	m.Model = text(ev.Model)
	m.CallType = text(ev.CallType)
	m.Stream = ev.Stream
	m.EndUser = text(ev.EndUser)
	m.Tags = m.Tags[:0]
	for _, tag := range ev.Tags {
		m.Tags = append(m.Tags, text(tag))
	}
	m.StartUnixNano = nanos(ev.Start)
	m.FirstTokenUnixNano = nanos(ev.FirstToken)
	m.EndUnixNano = nanos(ev.End)
	m.Status = int64(ev.Status)
	m.Outcome = encodeOutcome(ev.Outcome)
	m.ErrorCode = text(ev.ErrorCode)
	m.FinishReason = text(ev.FinishReason)
	m.Tokens = e.encodeTokens(&ev.Tokens)
	m.Source = encodeSource(ev.Source)
	m.CostPico = int64(ev.Cost)
	m.FallbackCount = int64(ev.FallbackCount)
	return e.marshal(m)
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
	m.SearchQueries = t.SearchQueries
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

func decodeIntent(value []byte) (*Intent, error) {
	var m clusterv1.UsageIntent
	if err := proto.Unmarshal(value, &m); err != nil {
		return nil, err
	}
	if m.GetVersion() != recordVersion {
		return nil, fmt.Errorf("%w: %d", errVersion, m.GetVersion())
	}
	in := &Intent{
		Request: id.Request(m.GetRequest()), Attempt: int(m.GetAttempt()),
		KeyAlias:   m.GetKeyAlias(),
		Deployment: id.Deployment(m.GetDeployment()), Group: id.ModelName(m.GetGroup()),
		Provider: m.GetProvider(), Model: m.GetModel(), CallType: m.GetCallType(),
		Stream: m.GetStream(), EndUser: m.GetEndUser(),
		Start:    instant(m.GetStartUnixNano()),
		Estimate: decodeTokens(m.GetEstimate()), EstimatedCost: money.Pico(m.GetEstimatedCostPico()),
	}
	copy(in.Key[:], m.GetKeyHash())
	return in, nil
}

// decodeEvent reads an event; node is whose journal it is in.
func decodeEvent(node id.Node, key, value []byte) (Event, error) {
	var m clusterv1.UsageEvent
	if err := proto.Unmarshal(value, &m); err != nil {
		return Event{}, err
	}
	if m.GetVersion() != recordVersion {
		return Event{}, fmt.Errorf("%w: %d", errVersion, m.GetVersion())
	}
	epoch, seq, err := parseEventKey(key)
	if err != nil {
		return Event{}, err
	}
	ev := Event{
		ID:      EventID{Node: node, Epoch: epoch, Seq: seq},
		Request: id.Request(m.GetRequest()), Attempt: int(m.GetAttempt()),
		KeyAlias:   m.GetKeyAlias(),
		Deployment: id.Deployment(m.GetDeployment()), Group: id.ModelName(m.GetGroup()),
		Provider: m.GetProvider(), Model: m.GetModel(), CallType: m.GetCallType(),
		Stream: m.GetStream(), EndUser: m.GetEndUser(), Tags: m.GetTags(),
		Start: instant(m.GetStartUnixNano()), FirstToken: instant(m.GetFirstTokenUnixNano()), End: instant(m.GetEndUnixNano()),
		Status: int(m.GetStatus()), Outcome: decodeOutcome(m.GetOutcome()),
		ErrorCode: m.GetErrorCode(), FinishReason: m.GetFinishReason(),
		Tokens: decodeTokens(m.GetTokens()), Source: decodeSource(m.GetSource()), Cost: money.Pico(m.GetCostPico()),
		FallbackCount: int(m.GetFallbackCount()),
	}
	copy(ev.Key[:], m.GetKeyHash())
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
		SearchQueries: m.GetSearchQueries(),
	}
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

// text makes s fit for a protobuf string. A record that cannot be encoded would
// be money lost, and callers choose some of these texts.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// nanos is t as records have it; 0 for no time.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func instant(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
