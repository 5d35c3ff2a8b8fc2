package ledger

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// kindTotals is the kind of the rows of the totals.
const kindTotals id.AccountKind = 0

// digestSize is the length of the hash at the end of a row's key, which stands for the fields
// that are not in the key.
const digestSize = 16

// rows are the daily rows that one run of events touches. Each is read once and written once.
type rows struct {
	tx    Tx
	rows  map[string]*dailyRow
	order []*dailyRow
	key   []byte // reused, like text
	text  []byte
}

type dailyRow struct {
	*clusterv1.DailyRow

	key string
}

func newRows(tx Tx) *rows { return &rows{tx: tx, rows: map[string]*dailyRow{}} }

// add counts an attempt in all rows to which it belongs.
func (r *rows) add(e *clusterv1.UsageEvent) *fault.Error {
	day, digest := dayOf(endOf(e)), r.digest(e)
	for _, of := range [...]id.Account{
		{Kind: kindTotals},
		{Kind: id.AccountKey, Owner: keyAccount(e).Hex()},
		{Kind: id.AccountTeam, Owner: clean(e.GetTeam())},
		{Kind: id.AccountOrganization, Owner: clean(e.GetOrganization())},
		{Kind: id.AccountUser, Owner: clean(e.GetUser())},
		endUserOf(e),
	} {
		if of.Owner == "" && of.Kind != kindTotals && of.Kind != id.AccountKey {
			continue
		}
		r.key = append(appendDaily(r.key[:0], of, day), digest[:digestSize]...)
		row, f := r.row()
		if f != nil {
			return f
		}
		row.count(e)
	}
	return nil
}

// digest hashes the caller and the target of a row, with length prefixes.
func (r *rows) digest(e *clusterv1.UsageEvent) [sha256.Size]byte {
	hash := keyAccount(e)
	r.text = append(r.text[:0], hash[:]...)
	for _, s := range [...]string{e.GetGroup(), e.GetModel(), e.GetProvider(), e.GetCallType()} {
		r.text = binary.AppendUvarint(r.text, uint64(len(s)))
		r.text = append(r.text, s...)
	}
	return sha256.Sum256(r.text)
}

// row returns the row of r.key. A missing row is empty.
func (r *rows) row() (*dailyRow, *fault.Error) {
	if found, ok := r.rows[string(r.key)]; ok {
		return found, nil
	}
	value, _, err := r.tx.Get(store.SpaceDaily, r.key)
	if err != nil {
		return nil, unreadable(err)
	}
	made := &dailyRow{DailyRow: &clusterv1.DailyRow{}, key: string(r.key)}
	if err := proto.Unmarshal(value, made.DailyRow); err != nil {
		return nil, unreadable(err)
	}
	r.rows[made.key] = made
	r.order = append(r.order, made)
	return made, nil
}

// count adds an attempt. A request counts once, with the outcome of its last attempt. A caller
// that left before the end received no response.
func (r *dailyRow) count(e *clusterv1.UsageEvent) {
	r.KeyHash, r.KeyAlias, r.Team = e.GetKeyHash(), e.GetKeyAlias(), e.GetTeam()
	if account := keyAccount(e); account != hashOf(e) {
		r.KeyHash = account[:]
	}
	r.Group, r.Model, r.Provider, r.CallType = e.GetGroup(), e.GetModel(), e.GetProvider(), e.GetCallType()
	if r.Counts == nil {
		r.Counts = &clusterv1.Counts{}
	}
	c, t := r.GetCounts(), e.GetTokens()
	spend := spendOf(c).Add(money.Pico(e.GetCostPico()).Total())
	c.SpendHigh, c.SpendPico = spend.High, int64(spend.Low)
	c.PromptTokens += t.GetInput()
	c.CompletionTokens += t.GetOutput()
	c.CacheReadTokens += t.GetCacheRead()
	c.CacheWriteTokens += t.GetCacheWrite() + t.GetCacheWrite_1H()
	c.Attempts++
	if e.GetFinal() {
		if e.GetOutcome() == clusterv1.Outcome_OUTCOME_SUCCESS {
			c.SuccessfulRequests++
		} else {
			c.FailedRequests++
		}
	}
	if e.GetStartUnixNano() != 0 && e.GetEndUnixNano() > e.GetStartUnixNano() {
		c.DurationMillis += (e.GetEndUnixNano() - e.GetStartUnixNano()) / int64(time.Millisecond)
	}
}

func spendOf(c *clusterv1.Counts) money.Total {
	return money.Total{High: c.GetSpendHigh(), Low: money.Pico(c.GetSpendPico())}
}

func (r *rows) write() *fault.Error {
	for _, row := range r.order {
		var err error
		if r.text, err = (proto.MarshalOptions{Deterministic: true}).MarshalAppend(r.text[:0], row.DailyRow); err != nil {
			return unreadable(err)
		}
		r.key = append(r.key[:0], row.key...)
		r.tx.Set(store.SpaceDaily, r.key, r.text)
	}
	return nil
}
