package ledger

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// DailyFilter selects rows. Zero values do not filter.
type DailyFilter struct {
	Kind   id.AccountKind // key, team, organization, user or customer; 0 for the totals
	Owners []string       // empty means all of the kind
	// Organization selects end users of one organization; empty selects those without one. With
	// nil, an owner stands for the end users with that id in all organizations. It must be nil
	// for other kinds.
	Organization *id.Organization
	From, To     string       // the first and the last day, both inclusive: 2026-11-21
	Model        id.ModelName // as in DailyRow.Group
	Key          *id.KeyHash  // of this account: see KeyAccount
}

// DailyRow is the usage of one combination of caller and target on one day (UTC).
type DailyRow struct {
	Kind         id.AccountKind
	Owner        string          // empty for kind 0
	Organization id.Organization // of an end user; empty without an organization, and for other kinds
	Day          string          // 2026-11-21
	Key          id.KeyHash      // the account
	KeyAlias     string
	Team         id.Team
	Group        id.ModelName // the model group; for a pattern, the requested model
	Model        string
	Provider     string
	CallType     string
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
	Failed           int64 // requests whose last attempt failed
	Attempts         int64
	Duration         time.Duration // of all attempts
}

// dateLayout is the day format of the API.
const dateLayout = "2006-01-02"

// Daily calls fn for each matching row, by owner and then by day, until fn returns false. Rows
// of an end user of an organization come before those of an end user with the same id without
// one.
func Daily(ctx context.Context, r Reader, f DailyFilter, fn func(DailyRow) bool) error {
	from, to, err := f.days()
	if err != nil {
		return err
	}
	q := dailyQuery{DailyFilter: &f, r: r, from: from, to: to, fn: fn}
	switch {
	case f.Kind == kindTotals:
		_, err = q.account(ctx, id.Account{Kind: kindTotals})
		return err
	case len(f.Owners) == 0:
		_, err = q.each(ctx, []byte{byte(f.Kind)})
		return err
	}
	owners := slices.Clone(f.Owners)
	slices.Sort(owners)
	for _, owner := range slices.Compact(owners) {
		on, err := q.owner(ctx, clean(owner))
		if err != nil || !on {
			return err
		}
	}
	return nil
}

// dailyQuery is a running query: its source and the receiver of the rows.
type dailyQuery struct {
	*DailyFilter

	r        Reader
	from, to string // days in the format of keys
	fn       func(DailyRow) bool
}

// owner yields the rows of an owner, and reports whether to continue.
func (q *dailyQuery) owner(ctx context.Context, owner string) (on bool, err error) {
	a := id.Account{Kind: q.Kind, Owner: owner}
	switch {
	case q.Kind != id.AccountCustomer:
	case q.Organization == nil:
		return q.each(ctx, appendDays(nil, a))
	default:
		a.Part = clean(string(*q.Organization))
	}
	return q.account(ctx, a)
}

// mostSkipped is how many rows of other days a scan skips before it seeks.
const mostSkipped = 32

// each yields the matching rows of all accounts whose keys have the prefix, and reports whether
// to continue. One scan covers many accounts, because with 100,000 accounts the start of a scan
// for each would dominate. If it meets many rows of other days, it ends and another scan starts
// after them.
func (q *dailyQuery) each(ctx context.Context, prefix []byte) (on bool, err error) {
	var rows rowReader
	var broken error
	on = true
	for next := prefix; next != nil; {
		start, skipped := next, 0
		next = nil
		err := q.r.Scan(ctx, store.Range{Space: store.SpaceDaily, Prefix: prefix, From: start}, func(key, value []byte) bool {
			n := len(key) - digestSize - len(dayLayout)
			if n < 2 || key[n-1] != 0 {
				broken = errKey
				return false
			}
			early, late := string(key[n:n+len(dayLayout)]) < q.from, string(key[n:n+len(dayLayout)]) > q.to
			if early || late {
				if skipped++; skipped <= mostSkipped {
					return true
				}
				next = bytes.Clone(key[:n])
				if early {
					next = append(next, q.from...)
				} else {
					next[n-1]++ // after all days of this account: no name contains byte 1
				}
				return false
			}
			skipped = 0
			on, broken = q.show(&rows, key, value)
			return on
		})
		if err = cmp.Or(err, broken); err != nil {
			return false, unreadable(err)
		}
	}
	return on, nil
}

// days returns the first and the last day in the format of keys.
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

// account yields the rows of one account in a range of days, and reports whether to continue.
func (q *dailyQuery) account(ctx context.Context, a id.Account) (on bool, err error) {
	on = true
	end := append(appendDaily(nil, a, q.to), bytes.Repeat([]byte{0xff}, digestSize+1)...)
	var rows rowReader
	var broken error
	err = q.r.Scan(ctx, store.Range{Space: store.SpaceDaily, Prefix: appendDays(nil, a), From: appendDaily(nil, a, q.from), To: end}, func(key, value []byte) bool {
		on, broken = q.show(&rows, key, value)
		return on
	})
	if err = cmp.Or(err, broken); err != nil {
		return false, unreadable(err)
	}
	return on, nil
}

// show yields a row if the filter matches, and reports whether to continue.
func (q *dailyQuery) show(rows *rowReader, key, value []byte) (bool, error) {
	row, err := rows.read(key, value)
	if err != nil {
		return false, err
	}
	if (q.Model == "" || row.Group == q.Model) && (q.Key == nil || row.Key == *q.Key) && (q.Organization == nil || row.Organization == *q.Organization) {
		return q.fn(row), nil
	}
	return true, nil
}
