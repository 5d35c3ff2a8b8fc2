package gossip

import (
	"errors"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/id"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

const (
	// maxRecord is the largest hint or part that is decoded. Decoding, one record at a time,
	// takes about ten times its size. Decoding a full state at once would turn 20 MiB of empty
	// hints into a gigabyte.
	maxRecord = 16 << 10
	// maxRecords is the highest number of decoded records per message.
	maxRecords = maxHints + maxParts
)

// errMalformed reports a malformed message. Records before the error are merged, because no
// record depends on another.
var errMalformed = errors.New("gossip: malformed message")

// news is the new content of a message.
type news struct {
	hints []Hint
	parts []ownPart
	from  []id.Node // the nodes of these parts
}

// Merge merges another node's message. It passes new hints to StateConfig.Hinted and to the
// other nodes. It keeps nothing of b. It skips malformed or too large records. An error means
// that the rest of b could not be split into records, or has an unknown version.
func (s *State) Merge(b []byte, now time.Time) error {
	n, err := s.merge(b, now)
	s.pass(n.hints)
	return err
}

// pass passes on new hints.
func (s *State) pass(hints []Hint) {
	s.mu.RLock()
	announce := s.mu.announce
	s.mu.RUnlock()
	for _, h := range hints {
		if announce != nil {
			announce(h)
		}
		if s.cfg.Hinted != nil {
			s.cfg.Hinted(h)
		}
	}
}

// merge is Merge without passing on hints.
func (s *State) merge(b []byte, now time.Time) (news, error) {
	var out news
	for records := 0; len(b) > 0; {
		field, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return out, errMalformed
		}
		b = b[n:]
		if typ != protowire.BytesType || field < fieldCooldowns || field > fieldRates {
			v := b
			if n = protowire.ConsumeFieldValue(field, typ, b); n < 0 {
				return out, errMalformed
			}
			b = b[n:]
			if field == fieldVersion && typ == protowire.VarintType {
				if version, _ := protowire.ConsumeVarint(v); version != recordVersion {
					return out, errMalformed
				}
			}
			continue
		}
		record, n := protowire.ConsumeBytes(b)
		if records++; n < 0 || records > maxRecords {
			return out, errMalformed
		}
		b = b[n:]
		switch {
		case len(record) > maxRecord:
		case field == fieldCooldowns:
			s.mergeHint(record, now, &out)
		case field == fieldRates:
			s.mergeRates(record, now)
		default:
			s.mergeNumbers(record, now, &out)
		}
	}
	return out, nil
}

// mergeHint merges one hint.
func (s *State) mergeHint(record []byte, now time.Time, out *news) {
	var m clusterv1.CooldownHint
	if proto.Unmarshal(record, &m) != nil {
		return
	}
	length := min(time.Duration(m.GetRemainingMillis())*time.Millisecond, MaxCooldown)
	h := Hint{
		Deployment: id.Deployment(m.GetDeployment()), Observer: id.Node(m.GetObserver()),
		Version: m.GetVersion(), Reason: uint8(m.GetReason()), Until: now.Add(length),
	}
	if length <= 0 || !validName(m.GetDeployment()) || !validNode(m.GetObserver()) || h.Version == 0 || h.Version > maxVersion || m.GetReason() > 0xff {
		return
	}
	s.mu.Lock()
	fresh := s.mergeHintLocked(h, now)
	if fresh {
		h.Until = s.mu.hints[hintKey{h.Deployment, h.Observer}].until
	}
	s.mu.Unlock()
	if fresh {
		out.hints = append(out.hints, h)
	}
}

// mergeNumbers merges one part of a node's numbers.
func (s *State) mergeNumbers(record []byte, now time.Time, out *news) {
	var m clusterv1.NodeNumbers
	if proto.Unmarshal(record, &m) != nil {
		return
	}
	if !validNode(m.GetNode()) || m.GetVersion() == 0 || m.GetVersion() > maxVersion || m.GetPart() >= maxParts {
		return
	}
	p := &part{version: m.GetVersion(), heard: now}
	for _, n := range m.GetInFlight() {
		if validName(n.GetName()) && n.GetValue() > 0 {
			p.inFlight = append(p.inFlight, number{n.GetName(), min(n.GetValue(), maxFlight)})
		}
	}
	for _, n := range m.GetCounters() {
		if validName(n.GetName()) {
			p.counters = append(p.counters, number{n.GetName(), n.GetValue()})
		}
	}
	who := id.Node(m.GetNode())
	s.mu.Lock()
	fresh := s.mergePartLocked(who, m.GetPart(), p)
	s.mu.Unlock()
	if fresh {
		out.parts = append(out.parts, ownPart{m.GetPart(), *p})
		out.from = append(out.from, who)
	}
}

func validName(s string) bool { return s != "" && len(s) <= maxName && utf8.ValidString(s) }

// validNode reports whether s is a valid node name. A slash or a colon would have a special
// meaning for memberlist or the transport.
func validNode(s string) bool {
	if s == "" || len(s) > maxNode {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.':
		default:
			return false
		}
	}
	return true
}
