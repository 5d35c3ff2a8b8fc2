package journal

import (
	"encoding/binary"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/usage"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

func decodeIntent(value []byte) (*usage.Attempt, error) {
	var m clusterv1.UsageIntent
	if err := proto.Unmarshal(value, &m); err != nil {
		return nil, err
	}
	event := m.GetEvent()
	switch v := m.GetVersion(); {
	case v >= recordVersion && v <= endUserVersion:
		event = &clusterv1.UsageEvent{}
		if err := olderIntent(event, value); err != nil {
			return nil, err
		}
	case v != intentVersion:
		return nil, fmt.Errorf("%w: %d", errVersion, v)
	}
	if err := known(event); err != nil {
		return nil, err
	}
	a := &usage.Attempt{}
	a.Decode(event)
	return a, nil
}

// known returns an error for an event that a newer gateway wrote.
func known(m *clusterv1.UsageEvent) error {
	if v := m.GetVersion(); v < recordVersion || v > guardrailVersion {
		return fmt.Errorf("%w: %d", errVersion, v)
	}
	return nil
}

// decodeEvent decodes an event of the journal of a node.
func decodeEvent(node id.Node, key, value []byte) (Event, error) {
	epoch, seq, err := parseEventKey(key)
	if err != nil {
		return Event{}, err
	}
	return unmarshalEvent(EventID{Node: node, Epoch: epoch, Seq: seq}, value)
}

func unmarshalEvent(name EventID, value []byte) (Event, error) {
	var m clusterv1.UsageEvent
	if err := proto.Unmarshal(value, &m); err != nil {
		return Event{}, err
	}
	if err := known(&m); err != nil {
		return Event{}, err
	}
	ev := Event{ID: name, Fallbacks: decodeFallbacks(m.GetFallbacks()), Notice: decodeNotice(m.GetNotice())}
	ev.Attempt.Decode(&m)
	ev.Result.Decode(&m)
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
		n.Account = id.Account{Kind: usage.DecodeKind(a.GetKind()), Owner: a.GetOwner(), Part: a.GetPart()}
	}
	return n
}
