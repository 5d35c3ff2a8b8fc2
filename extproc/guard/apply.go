package guard

import (
	"context"
	"strconv"

	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// Text is a text that is in no request.
type Text struct {
	Role texts.Role
	Text string
}

// Apply applies the engines of one hook to texts, and returns what they become and what was found, whose place is the
// number of its text. A *fault.Error of kind Blocked says that a request with them must not go on.
func (g *Guardrail) Apply(ctx context.Context, hook string, list []Text) (out []string, found []usage.Violation, err error) {
	s := New([]*Guardrail{g}, nil)
	defer s.Release()
	c, err := s.chain(ctx, hook)
	if err != nil {
		return nil, nil, err
	}
	size := 0
	for i, t := range list {
		if size += len(t.Text); size > MaxText {
			return nil, nil, tooLong()
		}
		c.place = func() string { return strconv.Itoa(i) }
		text, _, err := c.once(ctx, texts.Content, t.Role, []byte(t.Text))
		if err != nil {
			return nil, s.violations, err
		}
		out = append(out, string(text))
	}
	return out, s.violations, nil
}

// chain returns the chain of a hook.
func (s *Screen) chain(ctx context.Context, hook string) (*chain, error) {
	if hook == guardrails.PostCall {
		return s.answerChain(ctx)
	}
	return s.requestChain(ctx)
}
