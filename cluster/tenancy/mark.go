package tenancy

import (
	"bytes"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/table"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// collection is something that records are added to: the keys and members of a
// team, what belongs to a user or an organization, those who have a budget's terms, what
// needs a prompt or a guardrail, the hashes that have followed the first one of an account.
type collection struct {
	what string // one of the letters below
	id   string
}

// What collections are of.
const (
	ofTeam         = "t"
	ofUser         = "u"
	ofOrganization = "o"
	ofBudget       = "b"
	ofAccount      = "a"
	ofPrompt       = "p"
	ofGuardrail    = "g"
)

func (c collection) key() []byte { return record.Join(c.what, c.id) }

// mark is the record of when a collection has grown last.
type mark struct {
	at []byte
	record.Meta
}

func newMarks() *table.Table[mark] {
	return table.New(&table.Spec[mark]{
		Space:    store.SpaceGrown,
		Key:      func(m *mark) []byte { return m.at },
		Revision: func(m *mark) uint64 { return m.Revision },
		Encode:   func(*mark) proto.Message { return &clusterv1.Mark{} },
		Decode: func(key, value []byte) (*mark, error) {
			r := &clusterv1.Mark{}
			if err := proto.Unmarshal(value, r); err != nil {
				return nil, err
			}
			return &mark{at: bytes.Clone(key), Meta: record.MetaOf(r.GetStamp())}, nil
		},
	})
}

// grow notes that a transaction adds to a collection.
func (s *Set) grow(tx *record.Txn, c collection) {
	tx.Touch(record.At{Space: store.SpaceGrown, Key: c.key()})
}

// sawAll makes the whole content of a collection a precondition of the transaction.
func (s *Set) sawAll(tx *record.Txn, c collection) { s.marks.Read(tx, c.key()) }

// SawAllOfUser makes all keys and memberships of a user a precondition of the transaction.
func (s *Set) SawAllOfUser(tx *record.Txn, u id.User) { s.sawAll(tx, collection{ofUser, string(u)}) }
