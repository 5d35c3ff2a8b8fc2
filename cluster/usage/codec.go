package usage

import (
	"strings"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Encoder encodes attempts and their results into messages. It reuses its buffers: a message
// refers to them until the next call. It is not safe for concurrent use.
type Encoder struct {
	tokens  clusterv1.TokenCounts
	charges []*clusterv1.Charge // as many as have been in use at once
	maxima  []int64             // of charges, because an optional field is a pointer
}

func (e *Encoder) encodeTokens(t *Tokens) *clusterv1.TokenCounts {
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

func decodeTokens(m *clusterv1.TokenCounts) Tokens {
	return Tokens{
		Input: m.GetInput(), CacheRead: m.GetCacheRead(), CacheWrite: m.GetCacheWrite(), CacheWrite1h: m.GetCacheWrite_1H(),
		InputAudio: m.GetInputAudio(), InputImage: m.GetInputImage(),
		Output: m.GetOutput(), Reasoning: m.GetReasoning(), OutputAudio: m.GetOutputAudio(), OutputImage: m.GetOutputImage(),
		SearchQueries: m.GetSearchQueries(), Images: m.GetImages(), InputCharacters: m.GetInputCharacters(),
		InputMillis: m.GetInputMillis(), OutputMillis: m.GetOutputMillis(), Pages: m.GetPages(),
	}
}

func (e *Encoder) encodeCharges(list []Charge) []*clusterv1.Charge {
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

func decodeCharges(list []*clusterv1.Charge) []Charge {
	if len(list) == 0 {
		return nil
	}
	out := make([]Charge, len(list))
	for i, m := range list {
		out[i] = Charge{
			Kind: DecodeKind(m.GetKind()), Epoch: m.GetEpoch(),
			Hold: money.Pico(m.GetHoldPico()), Soft: money.Pico(m.GetSoftPico()),
			Max: money.Pico(m.GetMaxPico()), Bounded: m.MaxPico != nil,
		}
		copy(out[i].Key[:], m.GetKeyHash())
	}
	return out
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

// DecodeKind returns 0 for an invalid kind.
func DecodeKind(k clusterv1.AccountKind) id.AccountKind {
	if k < 0 || k > 0xff {
		return 0
	}
	return id.AccountKind(k)
}

// Text makes s valid for a protobuf string. Callers choose some of these texts, and a record
// that cannot be encoded would lose money.
func Text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// given returns a hash for records; nil for none.
func given(h *id.KeyHash) []byte {
	if *h == (id.KeyHash{}) {
		return nil
	}
	return h[:]
}

// nanos returns t for records; 0 for the zero time.
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
