package tenancy_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/rights"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/tenancy/tenancytest"
)

// TestIntegrity runs operations that are decided by sets that others have changed
// meanwhile, as nodes do. Whatever of them is committed, no key and no membership
// refers to what is not there, and the names that are taken are those in use.
func TestIntegrity(t *testing.T) {
	t.Parallel()
	made, stale := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		o := newOffice(t)
		var waiting []*record.Txn
		n := 0
		for range rapid.IntRange(5, 60).Draw(t, "steps") {
			if len(waiting) < 4 && rapid.IntRange(0, 2).Draw(t, "decide") > 0 {
				n++
				tx := record.NewTxn(o.Time.Add(time.Duration(n)*time.Second), "ada")
				if err := anOperation(t, n)(o.Set, tx); err == nil && !tx.Empty() {
					waiting = append(waiting, tx)
				} else if f := fault.From(err); f != nil && f.Kind == fault.Internal {
					t.Fatal(err)
				}
				continue
			}
			if len(waiting) == 0 {
				continue
			}
			i := rapid.IntRange(0, len(waiting)-1).Draw(t, "which")
			tx := waiting[i]
			waiting = append(waiting[:i], waiting[i+1:]...)
			if _, err := o.Commit(tx); err == nil {
				made++
			} else if stale++; fault.From(err).Code != record.CodeStale {
				t.Fatal(err)
			}
			o.check()
		}
	})
	if made < 100 || stale < 10 {
		t.Errorf("%d transactions were made and %d were stale, which tries little", made, stale)
	}
}

// anOperation is any of the operations, about a handful of records.
func anOperation(t *rapid.T, n int) func(*tenancy.Set, *record.Txn) error {
	pick := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(t, label) }
	org := id.Organization(pick("organization", "o1", "o2"))
	team := id.Team(pick("team", "t1", "t2"))
	user := id.User(pick("user", "u1", "u2"))
	who := tenancy.User{
		ID: user, Role: tenancy.RoleInternalUser, Email: pick("email", "", "a@x.org", "A@x.org", "b@x.org"), SSO: pick("sso", "", "s1", "s2"),
	}
	switch rapid.IntRange(0, 22).Draw(t, "operation") {
	case 0:
		return tenancytest.CreateOrganization(tenancy.Organization{ID: org, Alias: pick("alias", "x", "y", "z")})
	case 1:
		return tenancytest.UpdateOrganization(tenancy.Organization{ID: org, Alias: pick("alias", "x", "y", "z")}, 0)
	case 2:
		return tenancytest.DeleteOrganization(org)
	case 3, 4:
		return tenancytest.CreateUser(who)
	case 5:
		return tenancytest.UpdateUser(who, 0)
	case 6:
		return tenancytest.DeleteUser(user)
	case 7:
		return tenancytest.JoinOrganization(tenancy.OrganizationMember{Organization: org, User: user, Role: tenancy.RoleInternalUser})
	case 8:
		return tenancytest.LeaveOrganization(org, user)
	case 9:
		return tenancytest.CreateTeam(tenancy.Team{ID: team, Organization: org})
	case 10:
		return tenancytest.JoinTeam(tenancy.TeamMember{Team: team, User: user, Role: tenancy.TeamUser})
	case 11:
		return func(s *tenancy.Set, tx *record.Txn) error {
			_, err := s.UpdateTeam(tx, tenancy.Team{ID: team, Organization: id.Organization(pick("next", "", "o1", "o2"))}, 0)
			return err
		}
	case 12:
		return func(s *tenancy.Set, tx *record.Txn) error {
			_, _, err := s.DeleteTeam(tx, team)
			return err
		}
	case 13:
		return func(s *tenancy.Set, tx *record.Txn) error {
			_, err := s.DeleteTeamMember(tx, team, user)
			return err
		}
	case 14:
		return func(s *tenancy.Set, tx *record.Txn) error {
			in := rights.Invitation{User: tenancy.User{Email: pick("invited", "a@x.org", "c@x.org"), Role: tenancy.RoleInternalUser}, Fresh: id.User(fmt.Sprint("fresh", n))}
			inviter := operator(s, tx)
			if pick("inviter", "operator", "mere user") != "operator" {
				inviter = rights.Of(s, tx, tenancy.Principal{})
			}
			in.To.Organization = id.Organization(pick("to", "", "o1", "o2"))
			_, _, err := inviter.Invite(s.UserBatch(tx), in)
			return err
		}
	case 15, 16:
		end := id.EndUser{ID: "alice", Organization: id.Organization(pick("customers", "", "o1", "o2"))}
		return func(s *tenancy.Set, tx *record.Txn) error {
			_, err := s.BlockCustomer(tx, end)
			return err
		}
	default:
		k := tenancy.Key{Alias: pick("alias", "", "k1", "k2"), Hash: id.HashKey(fmt.Sprintf("sk-%020d", n))}
		switch pick("of", "user", "team", "both", "organization") {
		case "user":
			k.User = user
		case "team":
			k.Team = team
		case "both":
			k.Team, k.User = team, user
		case "organization":
			k.Organization = org
		}
		return tenancytest.CreateKey(k)
	}
}
