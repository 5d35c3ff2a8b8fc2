package gemini

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// looseUsage is a report. Numbers that are zero are left out. Each event of a stream has one, and
// the last one counts.
type looseUsage struct {
	counts
	broken   bool
	searches int64
}

type counts struct {
	Prompt     driver.Count    `json:"promptTokenCount"`
	ToolUse    driver.Count    `json:"toolUsePromptTokenCount"`
	Cached     driver.Count    `json:"cachedContentTokenCount"`
	Candidates driver.Count    `json:"candidatesTokenCount"`
	Thoughts   driver.Count    `json:"thoughtsTokenCount"`
	Total      driver.Count    `json:"totalTokenCount"`
	In         []modalityCount `json:"promptTokensDetails"`
	InTools    []modalityCount `json:"toolUsePromptTokensDetails"`
	Out        []modalityCount `json:"candidatesTokensDetails"`
	Traffic    string          `json:"trafficType"`
}

type modalityCount struct {
	Modality string       `json:"modality"`
	Tokens   driver.Count `json:"tokenCount"`
}

// add reads a report in place of an earlier one.
func (u *looseUsage) add(raw jsontext.Value) {
	if !driver.Given(raw) {
		return
	}
	u.counts = counts{}
	u.broken = driver.DecodeLoose(raw, &u.counts) != nil
}

// searched counts the searches of the web. Before version 3 Google charges for a response with
// searches, however many there were.
func (u *looseUsage) searched(g *looseGrounding, model string) {
	n := int64(0)
	for _, query := range g.Queries {
		if query != "" {
			n++
		}
	}
	if !Features(model).SignedCalls {
		n = min(n, 1)
	}
	u.searches = max(u.searches, n)
}

// tokens returns the report in the canonical form; not ok if it cannot be true. Thoughts are output.
// Some models count them among the candidates' tokens, which the total shows.
func (u *looseUsage) tokens() (t usage.Tokens, ok bool) {
	all := driver.Counts{u.Prompt, u.ToolUse, u.Cached, u.Candidates, u.Thoughts, u.Total}
	bad := u.broken || all.Bad()
	for _, list := range [...][]modalityCount{u.In, u.InTools, u.Out} {
		for i := range list {
			bad = bad || driver.Counts{list[i].Tokens}.Bad()
		}
	}
	if bad {
		return t, false
	}
	t = usage.Tokens{
		Input: u.Prompt.N + u.ToolUse.N, CacheRead: u.Cached.N,
		InputAudio: of("AUDIO", u.In, u.InTools), InputImage: of("IMAGE", u.In, u.InTools),
		Output: u.Candidates.N + u.Thoughts.N, Reasoning: u.Thoughts.N,
		OutputAudio: of("AUDIO", u.Out), OutputImage: of("IMAGE", u.Out), SearchQueries: u.searches,
	}
	if u.Thoughts.N > 0 && u.Thoughts.N <= u.Candidates.N && u.Total.N == t.Input+u.Candidates.N {
		t.Output = u.Candidates.N
	}
	return t, true
}

// of sums the tokens of a modality.
func of(modality string, lists ...[]modalityCount) int64 {
	var sum int64
	for _, list := range lists {
		for _, m := range list {
			if m.Modality == modality {
				sum += m.Tokens.N
			}
		}
	}
	return sum
}

// begun reports whether any output has been reported.
func (u *looseUsage) begun() bool { return u.Candidates.N+u.Thoughts.N > 0 }

// report returns the usage so far. That of a stream is complete if the response is.
func (u *looseUsage) report() wire.Usage {
	t, ok := u.tokens()
	switch {
	case !ok:
		return wire.Usage{Bad: true}
	case !u.Prompt.Given:
		return wire.Usage{}
	}
	return driver.Reported(t)
}

// before returns the usage before any output: the input alone.
func (u *looseUsage) before() wire.Usage {
	out := u.report()
	out.Tokens.Output, out.Tokens.Reasoning, out.Tokens.OutputAudio, out.Tokens.OutputImage = 0, 0, 0, 0
	out.Partial = out.Source == usage.Provider
	out.Source = usage.None
	return out
}

// tier returns the service tier that the response was made in; empty if it is not reported.
func (u *looseUsage) tier() string {
	switch u.Traffic {
	case "ON_DEMAND_PRIORITY":
		return "priority"
	case "ON_DEMAND_FLEX":
		return "flex"
	}
	return ""
}
