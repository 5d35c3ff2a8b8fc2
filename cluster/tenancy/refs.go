package tenancy

import (
	"fmt"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/table"
)

// Codes of what a request names and what is not there.
const (
	codeNoOrganization = "organization_not_found"
	codeNoUser         = "user_not_found"
	codeNoTeam         = "team_not_found"
	codeNoBudget       = "budget_not_found"
	codeNoMember       = "member_not_found"
)

// absent is the error for a record that a request names and that does not exist.
func absent(code, param, format string, args ...any) *fault.Error {
	return &fault.Error{Op: "keys", Kind: fault.NotFound, Code: code, Param: param, Detail: fmt.Sprintf(format, args...)}
}

// occupied is the error for a name that another record has.
func occupied(param, format string, args ...any) *fault.Error {
	return &fault.Error{Op: "keys", Kind: fault.Exists, Code: codeExists, Param: param, Detail: fmt.Sprintf(format, args...)}
}

// find reads a record: for a transaction, or for an answer where tx is nil.
func find[T any](tx *record.Txn, t *table.Table[T], key []byte) (*T, bool) {
	if tx == nil {
		return t.Get(key)
	}
	return t.Read(tx, key)
}

// useBudget records in the transaction that a record refers to the budget after, and no longer to
// before. Either may be empty.
func (s *Set) useBudget(tx *record.Txn, before, after id.Budget) error {
	if after == "" || after == before {
		return nil
	}
	if _, ok := s.budgets.Read(tx, []byte(after)); !ok {
		return absent(codeNoBudget, "budget_id", "There is no budget %s. Make it with /budget/new, or leave budget_id out.", fault.Short(string(after)))
	}
	s.grow(tx, collection{ofBudget, string(after)})
	return nil
}
