package bedrock

import (
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Bounds on output and thinking of Claude's.
const (
	roomForText = 4096 // next to the thinking, if neither the caller nor the target has a limit
	leastBudget = 1024
)

// reasoning writes how much to think, in the words of the model's own API, and the limit of the output. An
// effort is a hint: if thinking is not possible, the request is sent without it.
func (b *builder) reasoning() error {
	b.limit()
	if b.part && b.target.Deployment == "" {
		if word := b.in.Reasoning.Effort; word != "" {
			b.set("reasoning_effort", jsontext.Value(strconv.Quote(word)))
		}
		return nil
	}
	switch b.family.thinks {
	case thinksClaude:
		b.claudeThinks()
	case thinksNova:
		b.novaThinks()
	case thinksByWords:
		switch b.in.Reasoning.Word() {
		case "none", "minimal", "low":
			b.set("reasoning_effort", jsontext.Value(`"low"`))
		case "medium":
			b.set("reasoning_effort", jsontext.Value(`"medium"`))
		case "high", "xhigh", "max":
			b.set("reasoning_effort", jsontext.Value(`"high"`))
		}
	case thinksNot:
	}
	return nil
}

// limit writes maxTokens: the caller's number, never more than the model's. Without one the model has its own.
func (b *builder) limit() {
	if b.in.MaxTokens == nil {
		return
	}
	limit := dialect.Whole(*b.in.MaxTokens)
	if most := b.target.MaxOutputTokens; most > 0 {
		limit = min(limit, dialect.Whole(most))
	}
	b.out.Inference.MaxTokens = &limit
}

// claudeThinks writes thinking and effort. What a caller says in Anthropic's own words is passed as it is.
func (b *builder) claudeThinks() {
	r, f := b.in.Reasoning, b.target.Features
	switch {
	case f.NoReasoning:
	case r.Mode == "enabled":
		b.room(max(r.Budget, leastBudget))
		b.budget(max(r.Budget, leastBudget))
	case r.Mode != "":
		b.think(`{"type":"` + r.Mode + `"` + display(r.Display) + `}`)
		b.effort(r.Effort)
	case r.Effort == "", b.in.Caller == wire.Anthropic:
		b.effort(r.Effort)
	case f.AdaptiveThinking && r.Effort == "none":
		b.think(`{"type":"disabled"}`)
	case f.AdaptiveThinking:
		if b.mayThink() {
			b.think(`{"type":"adaptive"}`)
		}
		b.effort(r.Effort)
	case r.Effort != "none" && b.mayThink():
		budget := wire.BudgetOf(r.Effort)
		b.room(budget)
		// Half of the output at most: a budget of all of it leaves no text.
		if budget = min(budget, int64(*b.out.Inference.MaxTokens)/2); budget >= leastBudget {
			b.budget(budget)
		}
	}
}

func display(word string) string {
	if word == "" {
		return ""
	}
	return `,"display":` + strconv.Quote(word)
}

func (b *builder) think(value string) { b.set("thinking", jsontext.Value(value)) }

// room writes maxTokens, which must be above the budget of thinking, if the caller has none.
func (b *builder) room(budget int64) {
	if b.out.Inference.MaxTokens != nil {
		return
	}
	limit := dialect.Whole(budget + roomForText)
	if most := b.target.MaxOutputTokens; most > 0 {
		limit = min(limit, dialect.Whole(most))
	}
	b.out.Inference.MaxTokens = &limit
}

// budget writes a budget of thinking.
func (b *builder) budget(tokens int64) {
	b.think(`{"type":"enabled","budget_tokens":` + strconv.FormatInt(tokens, 10) + display(b.in.Reasoning.Display) + `}`)
}

// effort writes the effort for models that decide themselves how much to think.
func (b *builder) effort(word string) {
	if !b.target.Features.AdaptiveThinking || word == "" || word == "none" {
		return
	}
	switch word {
	case "minimal":
		word = "low"
	case "xhigh", "max":
		if !b.target.Features.HighEfforts {
			word = "high"
		}
	}
	if b.out.Output == nil {
		b.out.Output = &outputConfig{}
	}
	b.out.Output.Effort = word
}

// mayThink reports whether the API accepts thinking with this request: not with a forced tool, and not between a tool call
// and its result if the turn began without it.
func (b *builder) mayThink() bool {
	if b.forced {
		return false
	}
	for _, m := range slices.Backward(b.out.Messages) {
		if m.Role != roleAssistant {
			continue
		}
		calls := slices.ContainsFunc(m.Content, func(c block) bool { return c.ToolUse != nil })
		return !calls || m.Content[0].Reasoning != nil
	}
	return true
}

// thinksWithClaude reports whether the request enables the thinking of a Claude.
func (b *builder) thinksWithClaude() bool {
	at := slices.IndexFunc(b.fields, func(f wire.Field) bool { return f.Name == "thinking" })
	return b.family.thinks == thinksClaude && at >= 0 && string(b.fields[at].Value) != `{"type":"disabled"}`
}

// novaThinks writes reasoningConfig.
func (b *builder) novaThinks() {
	r := &b.in.Reasoning
	word := r.Word()
	switch {
	case r.Mode == "disabled", word == "none":
		b.set("reasoningConfig", jsontext.Value(`{"type":"disabled"}`))
		return
	case word == "" && r.Mode == "":
		return
	case word == "minimal":
		word = "low"
	case word == "":
		word = "medium"
	case word == "xhigh", word == "max":
		word = "high"
	}
	b.set("reasoningConfig", jsontext.Value(`{"type":"enabled","maxReasoningEffort":"`+word+`"}`))
	if word == "high" { // the model rejects limits with it
		b.out.Inference.MaxTokens = nil
	}
}
