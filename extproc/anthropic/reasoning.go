package anthropic

import (
	"slices"

	"github.com/modelgateway/modelgateway/extproc/wire"
)

type thinkingConfig struct {
	Type    string `json:"type"`
	Budget  int64  `json:"budget_tokens,omitzero"`
	Display string `json:"display,omitzero"`
}

// Bounds on output and thinking.
const (
	defaultMaxTokens = 4096 // if neither the caller nor the target has a limit; the API requires one
	leastBudget      = 1024 // the API's own
)

// reasoning writes thinking, effort and max_tokens, which depend on each other:
// a budget must be below max_tokens.
//
// What a caller says in Anthropic's own words is passed as it is, and the API
// rejects a contradiction in it. An effort is a hint: if thinking is not possible,
// the request is sent without it.
func (b *builder) reasoning() error {
	r := b.in.Reasoning
	budget := int64(0)
	if r.Mode != "" {
		b.out.Thinking = &thinkingConfig{Type: r.Mode, Display: r.Display}
		if r.Mode == "enabled" {
			budget = max(r.Budget, leastBudget)
		}
	} else if b.effortThinks() && r.Effort != "none" && !b.target.Features.AdaptiveThinking && b.mayThink() {
		budget = wire.BudgetOf(r.Effort)
	}
	b.setLimit(budget)
	if r.Mode == "" && budget > 0 {
		// Half of the output at most: a budget of all of it leaves no text.
		if budget = min(budget, b.out.MaxTokens/2); budget < leastBudget {
			budget = 0
		}
	}
	switch {
	case r.Mode != "":
		b.out.Thinking.Budget = budget
	case budget > 0:
		b.out.Thinking = &thinkingConfig{Type: "enabled", Budget: budget}
	}
	b.effort()
	return nil
}

// effortThinks reports whether the caller's effort requests thinking: in Anthropic's own words
// it does not, since there thinking is said apart.
func (b *builder) effortThinks() bool {
	r := b.in.Reasoning
	return r.Mode == "" && r.Effort != "" && b.in.Caller != wire.Anthropic
}

// effort writes the effort for models that decide themselves how much to think.
func (b *builder) effort() {
	r := b.in.Reasoning
	if !b.target.Features.AdaptiveThinking || r.Effort == "" {
		return
	}
	effort := r.Effort
	switch effort {
	case "none":
		if r.Mode == "" {
			b.out.Thinking = &thinkingConfig{Type: "disabled"}
		}
		return
	case "minimal":
		effort = "low"
	case "xhigh", "max":
		if !b.target.Features.HighEfforts {
			effort = "high"
		}
	}
	if b.effortThinks() && b.mayThink() {
		b.out.Thinking = &thinkingConfig{Type: "adaptive"}
	}
	if b.out.Output == nil {
		b.out.Output = &outputConfig{}
	}
	b.out.Output.Effort = effort
}

// setLimit writes max_tokens: the caller's number, else the model's, else a
// default with room for the thinking; never more than the model's.
func (b *builder) setLimit(budget int64) {
	most := b.target.MaxOutputTokens
	limit := defaultMaxTokens + budget
	switch {
	case b.in.MaxTokens != nil:
		limit = *b.in.MaxTokens
	case most > 0:
		limit = most
	}
	if most > 0 {
		limit = min(limit, most)
	}
	b.out.MaxTokens = limit
}

// mayThink reports whether the API accepts thinking with this request: not with a
// forced tool, and not between a tool call and its result if the turn began without it.
func (b *builder) mayThink() bool {
	if b.forced || b.target.Features.NoReasoning {
		return false
	}
	for _, m := range slices.Backward(b.out.Messages) {
		if m.Role != "assistant" {
			continue
		}
		calls := slices.ContainsFunc(m.Content, func(c contentBlock) bool { return c.Type == "tool_use" })
		first := m.Content[0].Type
		return !calls || first == "thinking" || first == "redacted_thinking"
	}
	return true
}

// thinks reports whether the request enables thinking.
func (b *builder) thinks() bool {
	return b.out.Thinking != nil && b.out.Thinking.Type != "disabled"
}
