package mgmt

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/usage"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// GetPromptUsage sums the usage records of requests with a prompt, by version and label. Callers see
// what they see of /spend/logs.
func (s promptService) GetPromptUsage(ctx context.Context, in *gatewayv1.GetPromptUsageRequest) (*gatewayv1.PromptUsage, error) {
	_, p, err := s.find(ctx, in.GetPromptId())
	if err != nil {
		return nil, err
	}
	f := ledger.LogFilter{Prompt: p.ID, Organization: id.Organization(in.GetOrganizationId())}
	if f.From, f.To, err = between(in); err != nil {
		return nil, err
	}
	if err := (spendService{ledger: s.ledger}).own(ctx, viewer(ctx), &f); err != nil {
		return nil, err
	}
	return shared(ctx, s.reports, in, func() (*gatewayv1.PromptUsage, error) {
		sums, err := s.sumPrompt(ctx, f)
		if err != nil {
			return nil, err
		}
		return sums.shown(p.ID, p.Name), nil
	})
}

// sumPrompt sums the records that a filter selects, however many they are.
func (s promptService) sumPrompt(ctx context.Context, f ledger.LogFilter) (promptSums, error) {
	sums := make(promptSums)
	for {
		err := s.ledger.Logs(ctx, f, func(r ledger.Record) bool {
			sums.add(&r)
			return true
		})
		more, unfinished := errors.AsType[*ledger.MoreError](err)
		if !unfinished {
			return sums, err
		}
		f.After = more.After
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
	}
}

// promptSums are the sums of a prompt, by version and label.
type promptSums map[promptVersion]*promptSum

type promptVersion struct {
	number uint32
	label  string
}

type promptSum struct {
	requests, errors, input, output int64
	cost                            money.Pico
	firstToken                      *hdrhistogram.Histogram // of streams, in microseconds
}

// longestFirstToken bounds what the histogram tells apart; three significant digits up to it.
const longestFirstToken = time.Hour

func (s promptSums) add(r *ledger.Record) {
	of := promptVersion{r.Prompt.Version, r.Prompt.Label}
	sum := s[of]
	if sum == nil {
		sum = &promptSum{firstToken: hdrhistogram.New(1, longestFirstToken.Microseconds(), 3)}
		s[of] = sum
	}
	if r.Final {
		sum.requests++
		if r.Outcome == usage.Failed {
			sum.errors++
		}
	}
	sum.input += r.Tokens.Input
	sum.output += r.Tokens.Output
	sum.cost = money.Add(sum.cost, r.Cost)
	if !r.FirstToken.IsZero() {
		took := min(max(r.FirstToken.Sub(r.Start), time.Microsecond), longestFirstToken)
		_ = sum.firstToken.RecordValue(took.Microseconds()) // only a value out of range fails
	}
}

// shown returns the sums in the form of the API: the latest version first, and its labels by name.
func (s promptSums) shown(prompt, name string) *gatewayv1.PromptUsage {
	out := &gatewayv1.PromptUsage{PromptId: prompt, PromptName: name}
	for of, sum := range s {
		row := &gatewayv1.PromptVersionUsage{
			Version: of.number, Label: textOrNull(of.label), Requests: float64(sum.requests), Errors: float64(sum.errors),
			PromptTokens: float64(sum.input), CompletionTokens: float64(sum.output), Spend: inDollars(sum.cost),
		}
		if sum.firstToken.TotalCount() > 0 {
			row.TimeToFirstTokenMsP50 = wrapperspb.Double(float64(sum.firstToken.ValueAtQuantile(50)) / 1000)
		}
		out.Versions = append(out.GetVersions(), row)
	}
	slices.SortFunc(out.GetVersions(), func(a, b *gatewayv1.PromptVersionUsage) int {
		return cmp.Or(-cmp.Compare(a.GetVersion(), b.GetVersion()), cmp.Compare(a.GetLabel().GetValue(), b.GetLabel().GetValue()))
	})
	return out
}
