package tenancy

import (
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
)

// JoinOrganization notes that a transaction makes something that belongs to an
// organization and is kept elsewhere: the organization has to be there, and its
// deletion then sees what was made. It returns NotFound with param if it does
// not exist.
func (s *Set) JoinOrganization(tx *record.Txn, param string, o id.Organization) error {
	if _, ok := s.organizations.Read(tx, []byte(o)); !ok {
		return absent(codeNoOrganization, param, "There is no organization %s. Make it with /organization/new, or name another.", short(string(o)))
	}
	s.grow(tx, collection{ofOrganization, string(o)})
	return nil
}
