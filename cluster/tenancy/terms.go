package tenancy

import "github.com/modelgateway/modelgateway/cluster/record"

// The terms of a record are its limits with those of the budget that it names. With a
// transaction, what they follow from is a precondition of its commit.

// Terms returns limits with those of their budget in them.
func (s *Set) Terms(tx *record.Txn, l Limits) Limits {
	if l.Budget == "" {
		return l
	}
	b, ok := s.Budget(tx, l.Budget)
	if !ok {
		return l
	}
	of := b.Limits
	if l.MaxBudget == nil {
		l.MaxBudget = of.MaxBudget
	}
	if l.BudgetDuration == "" {
		l.BudgetDuration = of.BudgetDuration
	}
	l.SoftBudget = or(l.SoftBudget, of.SoftBudget)
	l.MaxParallel, l.TPM, l.RPM, l.TPD = or(l.MaxParallel, of.MaxParallel), or(l.TPM, of.TPM), or(l.RPM, of.RPM), or(l.TPD, of.TPD)
	if l.Models == nil {
		l.Models = of.Models
	}
	return l
}

// KeyTerms returns the terms of a key, with the models to which their names resolve now.
func (s *Set) KeyTerms(tx *record.Txn, k *Key) Limits {
	l := s.Terms(tx, k.Limits)
	l.Models = resolved(l.Models, s.namesOf(tx, k), nil, naming{})
	return l
}

// TeamTerms is KeyTerms for a team.
func (s *Set) TeamTerms(tx *record.Txn, t *Team) Limits {
	l := s.Terms(tx, t.Limits)
	l.Models = resolved(l.Models, naming{team: t.ModelAliases, operator: s.operator}, nil, naming{})
	return l
}

// UserTerms is KeyTerms for a user.
func (s *Set) UserTerms(tx *record.Txn, u *User) Limits {
	l := s.Terms(tx, u.Limits)
	l.Models = s.models(l)
	return l
}

func or[T any](own, budget *T) *T {
	if own != nil {
		return own
	}
	return budget
}
