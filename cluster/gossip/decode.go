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
	// maxRecord is the largest hint or part that is looked at. Decoded, it takes
	// some ten times its size, one at a time. To decode a full state at once would turn
	// 20 MiB of empty hints into a gigabyte.
	maxRecord = 16 << 10
	// maxRecords is how many records of one message are looked at.
	maxRecords = maxHints + maxParts
)

// errMalformed is what is wrong with a message that cannot be understood. What
// stood before the trouble is merged all the same: no record depends on another.
var errMalformed = errors.New("gossip: malformed message")

// news is what was new in a message.
type news struct {
	hints []Hint
	parts []ownPart
	from  []id.Node // whose parts these are
}

// Merge takes over what another node tells. StateConfig.Hinted and the other nodes
// hear of the hints that are news. It keeps nothing of b. A record that is
// malformed or over a limit is skipped; an error says that the rest of b could not be
// told into records, or is of a version that is not known here.
func (s *State) Merge(b []byte, now time.Time) error {
	n, err := s.merge(b, now)
	s.pass(n.hints)
	return err
}

// pass tells of hints that are news.
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

// merge is Merge without telling anybody.
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

// mergeHint takes over one hint.
func (s *State) mergeHint(record []byte, now time.Time, out *news) {
	var m clusterv1.CooldownHint
	if proto.Unmarshal(record, &m) != nil {
		return
	}
	length := min(time.Duration(m.GetRemainingMillis())*time.Millisecond, MaxRest)
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

// mergeNumbers takes over one part of a node's numbers.
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

// validNode reports whether s can be a node's name. A slash or a colon would
// make it something else to memberlist or to the transport.
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
