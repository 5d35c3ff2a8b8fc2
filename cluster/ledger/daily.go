package ledger

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// DailyFilter says which rows to show. What is not set does not narrow.
type DailyFilter struct {
	Kind     id.AccountKind // key, team, organization, user or customer; 0: everything
	Owners   []string       // none: all of the kind
	From, To string         // the first and the last day, both included: 2026-11-21
	Model    id.ModelName   // as Group of a row is
	Key      *id.KeyHash    // of this account: see KeyAccount
}

// DailyRow is what one combination of whom and what has used on one day (UTC).
type DailyRow struct {
	Kind     id.AccountKind
	Owner    string     // empty for kind 0
	Day      string     // 2026-11-21
	Key      id.KeyHash // the account
	KeyAlias string
	Team     id.Team
	Group    id.ModelName // the operator's name for the model; where that is a pattern, what was asked for
	Model    string
	Provider string
	CallType string
	Counts
}

// Counts are the sums of a row.
type Counts struct {
	Spend            money.Total
	PromptTokens     int64
	CompletionTokens int64
	CacheReadTokens  int64
	CacheWriteTokens int64
	Successful       int64 // requests whose last attempt succeeded
	Failed           int64 // requests whose last attempt did not
	Attempts         int64
	Duration         time.Duration // sum of the attempts' durations
}

// dateLayout is a day as people write it.
const dateLayout = "2006-01-02"

// Daily calls fn for each row that the filter matches, by owner and then by day,
// until fn returns false.
func Daily(ctx context.Context, r Reader, f DailyFilter, fn func(DailyRow) bool) error {
	from, to, err := f.days()
	if err != nil {
		return err
	}
	switch {
	case f.Kind == everybody:
		_, err = f.owner(ctx, r, appendDaily(nil, everybody, "", from), to, fn)
		return err
	case len(f.Owners) > 0:
		owners := slices.Clone(f.Owners)
		slices.Sort(owners)
		for _, owner := range slices.Compact(owners) {
			on, err := f.owner(ctx, r, appendDaily(nil, f.Kind, clean(owner), from), to, fn)
			if err != nil || !on {
				return err
			}
		}
		return nil
	}
	next := []byte{byte(f.Kind)}
	for {
		owner, ok, err := nextOwner(ctx, r, f.Kind, next)
		if err != nil || !ok {
			return err
		}
		on, err := f.owner(ctx, r, appendDaily(nil, f.Kind, owner, from), to, fn)
		if err != nil || !on {
			return err
		}
		next = append(append([]byte{byte(f.Kind)}, owner...), 1) // behind all days of this one
	}
}

// days are the first and the last day as keys have them.
func (f *DailyFilter) days() (from, to string, err error) {
	from, to = "00000000", "99999999"
	for _, d := range [...]struct {
		param, text string
		key         *string
	}{{"start_date", f.From, &from}, {"end_date", f.To, &to}} {
		if d.text == "" {
			continue
		}
		day, err := time.Parse(dateLayout, d.text)
		if err != nil {
			return "", "", fault.Field(d.param, "invalid_value", "%s is not a day; write it as 2026-11-21.", d.param)
		}
		*d.key = day.Format(dayLayout)
	}
	return from, to, nil
}

// nextOwner returns the owner of the first row of a kind from a key on.
func nextOwner(ctx context.Context, r Reader, kind id.AccountKind, from []byte) (owner string, ok bool, err error) {
	var broken error
	err = r.Scan(ctx, store.Range{Space: store.SpaceDaily, Prefix: []byte{byte(kind)}, From: from, Limit: 1}, func(key, _ []byte) bool {
		var of id.Account
		of, _, broken = parseDaily(key)
		owner, ok = of.Owner, true
		return false
	})
	if err == nil {
		err = broken
	}
	if err != nil {
		return "", false, unreadable(err)
	}
	return owner, ok, nil
}

// owner shows the rows of one owner from a key on, up to a day, and reports whether
// more are wanted.
func (f *DailyFilter) owner(ctx context.Context, r Reader, from []byte, to string, fn func(DailyRow) bool) (on bool, err error) {
	on = true
	owner := from[:len(from)-len(dayLayout)]
	end := append(append(bytes.Clone(owner), to...), bytes.Repeat([]byte{0xff}, digestSize+1)...)
	var broken error
	err = r.Scan(ctx, store.Range{Space: store.SpaceDaily, Prefix: owner, From: from, To: end}, func(key, value []byte) bool {
		var row DailyRow
		if row, broken = readRow(key, value); broken != nil {
			return false
		}
		if (f.Model == "" || row.Group == f.Model) && (f.Key == nil || row.Key == *f.Key) {
			on = fn(row)
		}
		return on
	})
	if err == nil {
		err = broken
	}
	if err != nil {
		return false, unreadable(err)
	}
	return on, nil
}

func readRow(key, value []byte) (DailyRow, error) {
	of, day, err := parseDaily(key)
	if err != nil {
		return DailyRow{}, err
	}
	m := &clusterv1.DailyRow{}
	if err := proto.Unmarshal(value, m); err != nil {
		return DailyRow{}, err
	}
	c := m.GetCounts()
	row := DailyRow{
		Kind: of.Kind, Owner: of.Owner, Day: strings.Join([]string{day[:4], day[4:6], day[6:]}, "-"),
		KeyAlias: m.GetKeyAlias(), Team: id.Team(m.GetTeam()),
		Group: id.ModelName(m.GetGroup()), Model: m.GetModel(), Provider: m.GetProvider(), CallType: m.GetCallType(),
		Counts: Counts{
			Spend:        spendOf(c),
			PromptTokens: c.GetPromptTokens(), CompletionTokens: c.GetCompletionTokens(),
			CacheReadTokens: c.GetCacheReadTokens(), CacheWriteTokens: c.GetCacheWriteTokens(),
			Successful: c.GetSuccessfulRequests(), Failed: c.GetFailedRequests(), Attempts: c.GetAttempts(),
			Duration: time.Duration(c.GetDurationMillis()) * time.Millisecond,
		},
	}
	copy(row.Key[:], m.GetKeyHash())
	return row, nil
}
