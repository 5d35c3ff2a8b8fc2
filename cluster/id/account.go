package id

// AccountKind is what sort of thing an account of the ledger is of. The numbers are
// those of cluster.v1.AccountKind and are on disks.
type AccountKind uint8

// The kinds.
const (
	AccountKey                AccountKind = 1 + iota // a virtual key, or the master key
	AccountTeam                                      // a team
	AccountTeamMember                                // a user within a team
	AccountOrganization                              // an organization
	AccountOrganizationMember                        // a user within an organization
	AccountUser                                      // a user
	AccountCustomer                                  // an end user
	AccountKeyModel                                  // a model as one key uses it
	AccountTeamModel                                 // a model as one team uses it
	AccountUserModel                                 // a model as one user uses it
	AccountOrganizationModel                         // a model as one organization uses it
	AccountProvider                                  // a provider: the other side of what keys spend
)

// String returns the kind's name, for errors, logs and the API.
func (k AccountKind) String() string {
	switch k {
	case AccountKey:
		return "key"
	case AccountTeam:
		return "team"
	case AccountTeamMember:
		return "team_member"
	case AccountOrganization:
		return "organization"
	case AccountOrganizationMember:
		return "organization_member"
	case AccountUser:
		return "user"
	case AccountCustomer:
		return "customer"
	case AccountKeyModel:
		return "key_model"
	case AccountTeamModel:
		return "team_model"
	case AccountUserModel:
		return "user_model"
	case AccountOrganizationModel:
		return "organization_model"
	case AccountProvider:
		return "provider"
	}
	return "unknown"
}

// Account names an account of the ledger. It can be compared and be a map's key.
type Account struct {
	Kind  AccountKind
	Owner string // the hex hash of a key, or an id; of a member, the team or organization
	// Part is, of a member, the user; of a model, the operator's name for it, or what was
	// asked for where that is a pattern; of an end user, the organization.
	Part string
}
