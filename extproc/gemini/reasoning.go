package gemini

import (
	"strings"

	"github.com/modelgateway/modelgateway/extproc/wire"
)

type thinkingConfig struct {
	IncludeThoughts bool   `json:"includeThoughts,omitzero"`
	Budget          *int64 `json:"thinkingBudget,omitzero"`
	Level           string `json:"thinkingLevel,omitzero"`
}

// Bounds of a budget that all models with budgets take, the least one of those that always think, and
// the value that leaves it to the model.
const (
	leastBudget  = 512
	mostBudget   = 24576
	leastAlways  = 128
	dynamicThink = -1
)

// reasoning writes how much to think, and whether to show it. All of it is a hint: models that do not
// think get nothing of it.
func (b *builder) reasoning() {
	r, f := b.in.Reasoning, b.target.Features
	if f.NoReasoning {
		return
	}
	out := thinkingConfig{IncludeThoughts: b.shows()}
	switch word := r.Word(); {
	case r.Mode == "disabled", word == "none":
		b.least(&out)
	case f.AdaptiveThinking:
		out.Level = b.level(word)
	case r.Mode == "enabled" && r.Budget > 0:
		budget := max(leastBudget, min(r.Budget, mostBudget))
		out.Budget = &budget
	case word != "":
		b.budget(&out, word)
	case r.Mode != "":
		budget := int64(dynamicThink)
		out.Budget = &budget
	}
	if out.Budget != nil && *out.Budget == 0 {
		out.IncludeThoughts = false // the API rejects the request to show none
	}
	if out != (thinkingConfig{}) {
		b.out.Generation.Thinking = &out
	}
}

// shows reports whether the caller wants to read the reasoning. Callers of OpenAI's chats have no
// other word for that than an effort.
func (b *builder) shows() bool {
	r := &b.in.Reasoning
	thinks := r.Mode != "" && r.Mode != "disabled"
	if b.in.Caller == "" || b.in.Caller == wire.OpenAI {
		thinks = thinks || r.Effort != "" && r.Effort != "none"
	}
	return thinks && r.Display != "omitted" || r.Summary != ""
}

// level names an effort as models with levels do; empty if it is left to the model.
func (b *builder) level(effort string) string {
	switch effort {
	case "minimal":
		if b.target.Features.AlwaysThinks {
			return "LOW"
		}
	case "xhigh", "max":
		return "HIGH"
	}
	return strings.ToUpper(effort)
}

// least turns thinking off, as far as the model can.
func (b *builder) least(out *thinkingConfig) {
	budget := int64(0)
	switch f := b.target.Features; {
	case f.AdaptiveThinking:
		out.Level = b.level("minimal")
		return
	case f.AlwaysThinks:
		budget = leastAlways
	}
	out.Budget = &budget
}

// budget writes the budget that an effort means: half of the output at most, because the output
// includes the thinking.
func (b *builder) budget(out *thinkingConfig, effort string) {
	budget := wire.BudgetOf(effort)
	if limit := b.out.Generation.MaxOutputTokens; limit != nil {
		budget = min(budget, *limit/2)
	}
	if budget < leastBudget {
		b.least(out)
		return
	}
	out.Budget = &budget
}
