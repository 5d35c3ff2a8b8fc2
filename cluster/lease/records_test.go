package lease_test

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// records is an in-memory replicated state.
type records map[store.Space]map[string][]byte

func (r records) Get(space store.Space, key []byte) ([]byte, bool, error) {
	v, ok := r[space][string(key)]
	return v, ok, nil
}

func (r records) Set(space store.Space, key, value []byte) {
	if r[space] == nil {
		r[space] = map[string][]byte{}
	}
	r[space][string(key)] = bytes.Clone(value)
}

func (r records) Delete(space store.Space, key []byte) { delete(r[space], string(key)) }

func (r records) Scan(of store.Range, fn func(key, value []byte) bool) error {
	for _, key := range slices.Sorted(maps.Keys(r[of.Space])) {
		if bytes.HasPrefix([]byte(key), of.Prefix) && !fn([]byte(key), r[of.Space][key]) {
			break
		}
	}
	return nil
}

// reader reads records like a query.
type reader struct{ records }

func (r reader) Scan(_ context.Context, of store.Range, fn func(key, value []byte) bool) error {
	return r.records.Scan(of, fn)
}

// entry is a log entry: a proposal, a run of events, or a set spend.
type entry struct {
	at   time.Time
	move *clusterv1.MoveLeases
	post *clusterv1.PostUsage
	set  *clusterv1.SetSpend
}

// replica is the ledger after a part of the log.
type replica struct {
	records records
	applied int
}

func (r *replica) apply(e *entry) ([]ledger.Changed, *fault.Error) {
	r.applied++
	switch {
	case e.move != nil:
		done, f := ledger.Move(r.records, e.move, e.at)
		return done.Changed, f
	case e.set != nil:
		done, f := ledger.SetSpends(r.records, []*clusterv1.SetSpend{e.set}, e.at)
		return done.Changed, f
	}
	done, f := ledger.Post(r.records, e.post, e.at)
	return done.Changed, f
}

func (r *replica) account(a id.Account) ledger.State {
	s, _, err := ledger.Account(reader{r.records}, a)
	if err != nil {
		panic(err)
	}
	return s
}
