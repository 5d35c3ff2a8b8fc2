package tenancy

import (
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/period"
	"github.com/modelgateway/modelgateway/cluster/record"
)

// Completed returns a key with its derived fields: the organization of its team, if the key names
// none, and the models to which the names in its limits resolve. It rejects nothing: rights are
// checked on the whole key before an error could reveal which records exist.
func (s *Set) Completed(tx *record.Txn, k Key) Key {
	before, ok := s.Key(tx, k.Hash)
	if !ok {
		before = &Key{}
	}
	k.Limits.Models = s.keyModels(tx, before, &k)
	if k.Team == "" || k.Organization != "" {
		return k
	}
	if t, ok := s.Team(tx, k.Team); ok {
		k.Organization = t.Organization
	}
	return k
}

// place checks that a key's owners exist and fit together, and fills in the derived fields.
// before is the key as it is, empty for a new one.
func (s *Set) place(tx *record.Txn, before, k *Key) error {
	if k.Team == "" && k.Organization != "" {
		if _, err := s.needOrganization(tx, k.Organization); err != nil {
			return err
		}
	}
	if k.User != "" {
		if _, err := s.needUser(tx, k.User); err != nil {
			return err
		}
	}
	if k.Team == "" {
		return nil
	}
	t, err := s.NeedTeam(tx, k.Team)
	if err != nil {
		return err
	}
	switch k.Organization {
	case t.Organization:
	case "":
		k.Organization = t.Organization
	default:
		return fault.Field("organization_id", "invalid_value", "The team %s is not in the organization %s. Leave organization_id out: a key in a team belongs to the team's organization.", fault.Short(string(t.ID)), fault.Short(string(k.Organization)))
	}
	if k.User == "" {
		return nil
	}
	if _, ok := s.TeamMember(tx, k.Team, k.User); !ok {
		return fault.Field("user_id", "invalid_value", "The user %s is not in the team %s. Add the user with /team/member_add, or leave user_id out.", fault.Short(string(k.User)), fault.Short(string(k.Team)))
	}
	return t.bound(tx.Time(), before, k)
}

// bound holds the key of a member to the longest time that the team lets such keys
// be valid for. One that stays as it was is left alone, whatever the team says by
// now; a new one without an end gets that.
func (t *Team) bound(now time.Time, before, k *Key) error {
	if t.MemberKeyDuration == "" || k.Team == before.Team && k.User == before.User && k.Expires.Equal(before.Expires) {
		return nil
	}
	longest, err := period.Parse("team_member_key_duration", t.MemberKeyDuration)
	if err != nil {
		return err
	}
	last := longest.After(now)
	switch {
	case k.Expires.IsZero() && before.Hash == k.Hash:
		return fault.Field("duration", "invalid_value", "The keys of the team's members are valid for %s at most. Give a duration.", t.MemberKeyDuration)
	case k.Expires.IsZero():
		k.Expires = last
	case k.Expires.After(last):
		return fault.Field("duration", "invalid_value", "The keys of the team's members are valid for %s at most. Give a shorter duration.", t.MemberKeyDuration)
	}
	return nil
}

// join notes that a key is added to what it belongs to.
func (s *Set) join(tx *record.Txn, before, k *Key) {
	if k.Team != "" && k.Team != before.Team {
		s.grow(tx, collection{ofTeam, string(k.Team)})
	}
	if k.User != "" && (k.User != before.User || k.Team != before.Team) {
		s.grow(tx, collection{ofUser, string(k.User)})
	}
	if k.Organization != "" && (k.Organization != before.Organization || k.Team != before.Team) {
		s.grow(tx, collection{ofOrganization, string(k.Organization)})
	}
}

// States of keys.
const (
	StatusActive  = "active"
	StatusBlocked = "blocked"
	StatusExpired = "expired"
	StatusRotated = "rotated" // replaced, and accepted until it expires
)

// Status returns the state that a key is in.
func (k *Key) Status(now time.Time) string {
	switch {
	case !k.Expires.IsZero() && !now.Before(k.Expires):
		return StatusExpired
	case k.Blocked:
		return StatusBlocked
	case k.Replaced():
		return StatusRotated
	default:
		return StatusActive
	}
}
