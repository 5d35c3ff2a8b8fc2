package sealed

import (
	"compress/flate"
	"encoding/base64"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/openai"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// A model that thinks before it calls a tool wants its reasoning back, unchanged and with its proof,
// next to the tool's result. OpenAI's chats have no member for it, and clients drop the gateway's own
// one; some clients of messages and responses drop the members that these have. All of them send the ids of
// calls back, so the id of a call has the reasoning before it, sealed.
// No provider gets such an id.

const (
	callPrefix  = "call_mgw1_" // begins the id of a call with sealed reasoning
	longestCall = 8 << 10      // bytes of such an id; longer reasoning is in the caller's members only
	mostSealed  = 8 * longestCall
)

// sealedCall is what the id of a call stands for.
type sealedCall struct {
	ID       string        `json:"i"` // the provider's
	Maker    id.Deployment `json:"d"`
	Thinking []sealedBlock `json:"t"` // in the order in which the model wrote it
}

type sealedBlock struct {
	Text      string `json:"t,omitzero"`
	Signature string `json:"s,omitzero"`
	Redacted  string `json:"r,omitzero"`
}

// Proven returns the blocks with a proof: others are of no use to a provider.
func Proven(blocks []wire.Thinking) []wire.Thinking {
	return slices.DeleteFunc(slices.Clone(blocks), func(b wire.Thinking) bool { return b.Signature == "" && b.Redacted == "" })
}

// Call returns the caller's id of a call: the provider's own, if there is no reasoning
// before it, if it is too long, or if it cannot be sealed. The model then goes on without it.
func (s *Sealer) Call(owner *tenancy.Principal, maker id.Deployment, blocks []wire.Thinking, own string) string {
	if len(blocks) == 0 || own == "" {
		return own
	}
	call := sealedCall{ID: own, Maker: maker}
	for _, b := range blocks {
		call.Thinking = append(call.Thinking, sealedBlock{b.Text, b.Signature, b.Redacted})
	}
	plain, err := json.Marshal(&call)
	if err != nil || len(plain) > mostSealed {
		return own
	}
	sealed, err := s.Seal(vault.NewSecret(s.packed(plain)), contextOf(owner, "call"))
	out := callPrefix + base64.RawURLEncoding.EncodeToString(sealed)
	if err != nil || len(out) > longestCall {
		return own
	}
	return out
}

// packed compresses a text. Proofs are base64 of random bytes, so only the lengths of codes help,
// and no search for repetitions.
func (s *Sealer) packed(plain []byte) string {
	var out strings.Builder
	w, reused := s.packers.Get().(*flate.Writer)
	if reused {
		w.Reset(&out)
	} else {
		w, _ = flate.NewWriter(&out, flate.HuffmanOnly) // the level is valid
	}
	_, _ = w.Write(plain) // a Builder takes everything
	_ = w.Close()
	s.packers.Put(w)
	return out.String()
}

// openCall returns what the id of a call stands for; not ok for an id that was not sealed here, or
// for another tenant.
func (s *Sealer) openCall(owner *tenancy.Principal, text string) (call sealedCall, ok bool) {
	encoded, ok := strings.CutPrefix(text, callPrefix)
	if !ok || len(text) > longestCall {
		return call, false
	}
	sealed, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return call, false
	}
	packed, err := s.Open(sealed, contextOf(owner, "call"))
	if err != nil {
		return call, false
	}
	plain, err := io.ReadAll(io.LimitReader(flate.NewReader(strings.NewReader(packed.Reveal())), mostSealed+1))
	return call, err == nil && json.Unmarshal(plain, &call) == nil
}

// Restore gives the calls of a request, and their results, the ids that their provider knows, and
// puts the reasoning back in its place. Ids that cannot be opened stay: codecs shorten them. It
// reports whether it has put back any reasoning.
func (s *Sealer) Restore(owner *tenancy.Principal, r *wire.Request) (reasoned bool) {
	opened := map[string]sealedCall{}
	open := func(text string) (sealedCall, bool) {
		call, known := opened[text]
		if known {
			return call, call.ID != ""
		}
		if strings.HasPrefix(text, callPrefix) {
			call, _ = s.openCall(owner, text)
			opened[text] = call
		}
		return call, call.ID != ""
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		kept := slices.ContainsFunc(m.Parts, isProven)
		for j := 0; j < len(m.Parts); j++ {
			part := &m.Parts[j]
			if part.Result != nil {
				if call, ok := open(part.Result.CallID); ok {
					part.Result.CallID = call.ID
				}
			}
			if part.Call == nil {
				continue
			}
			call, ok := open(part.Call.ID)
			if !ok {
				continue
			}
			if part.Call.ID = call.ID; kept {
				continue // the caller has the reasoning still
			}
			at := j
			if first := slices.IndexFunc(m.Parts, isCall); first == j {
				at = 0 // providers require that a turn begins with it
			}
			blocks := call.parts()
			m.Parts = slices.Insert(m.Parts, at, blocks...)
			j += len(blocks)
			reasoned = true
		}
	}
	return reasoned
}

func isCall(p wire.Part) bool { return p.Call != nil }

// isProven reports whether a part is reasoning that its provider takes back.
func isProven(p wire.Part) bool {
	return (p.Kind == wire.ThinkingPart || p.Kind == wire.RedactedPart) && p.Signature != ""
}

// parts returns the reasoning in the canonical form.
func (c *sealedCall) parts() []wire.Part {
	out := make([]wire.Part, len(c.Thinking))
	for i, b := range c.Thinking {
		out[i] = wire.Part{Kind: wire.ThinkingPart, Text: b.Text, Signature: b.Signature, Maker: string(c.Maker)}
		if b.Redacted != "" {
			out[i].Kind, out[i].Signature = wire.RedactedPart, b.Redacted
		}
	}
	return out
}

// AppendCalls appends to edits, which are in order, those that replace the ids of calls in a body that is
// passed on.
func (s *Sealer) AppendCalls(edits []splice.Edit, owner *tenancy.Principal, body []byte) []splice.Edit {
	names := []string{"id", "tool_call_id", "tool_use_id", "call_id"}
	return splice.ReplaceStrings(edits, body, callPrefix, names, func(text string) string {
		if call, ok := s.openCall(owner, text); ok {
			text = call.ID
		}
		return string(splice.Quote(nil, openai.CallID(text)))
	})
}
