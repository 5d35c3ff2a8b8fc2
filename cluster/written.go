package cluster

import (
	"bytes"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// Written is what a transaction does to the resources whose fate the audit log has
// types of events for. New and changed ones are not told apart: the View that it was
// decided from knows which are there.
type Written struct {
	Keys, KeysGone   []id.KeyHash
	Users, UsersGone []id.User
	Guardrails       []string // ids
	Prompts          []string // ids of those that get a version
	Prices           int      // models of the table of prices, those that go included
}

// WrittenBy reads a transaction, in the order of the state.
func WrittenBy(tx *record.Txn) (Written, error) {
	var out Written
	m, err := tx.Message()
	if err != nil {
		return out, err
	}
	for _, d := range m.GetDeletes() {
		switch key := d.GetKey(); store.Space(d.GetSpace()) { //nolint:exhaustive // the others have no events
		case store.SpaceKey:
			if len(key) == len(id.KeyHash{}) {
				out.KeysGone = append(out.KeysGone, id.KeyHash(key))
			}
		case store.SpaceUser:
			out.UsersGone = append(out.UsersGone, id.User(key))
		case store.SpacePriceMap:
			out.Prices++
		}
	}
	for _, p := range m.GetPuts() {
		switch key := p.GetAt().GetKey(); store.Space(p.GetAt().GetSpace()) { //nolint:exhaustive // as above
		case store.SpaceKey:
			if len(key) == len(id.KeyHash{}) {
				out.Keys = append(out.Keys, id.KeyHash(key))
			}
		case store.SpaceUser:
			out.Users = append(out.Users, id.User(key))
		case store.SpaceGuardrail:
			out.Guardrails = append(out.Guardrails, string(key))
		case store.SpacePromptVersion:
			of, _, _ := bytes.Cut(key, []byte{0})
			out.Prompts = append(out.Prompts, string(of))
		case store.SpacePriceMap:
			out.Prices++
		}
	}
	return out, nil
}
