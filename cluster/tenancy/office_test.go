package tenancy_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/rights"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/tenancy/tenancytest"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// office is a tenancytest.Office with what these tests ask of it.
type office struct{ *tenancytest.Office }

func newOffice(tb rapid.TB) *office {
	tb.Helper()
	return &office{tenancytest.NewOffice(tb)}
}

// newKeys is an office with what keys may belong to.
func newKeys(o *office) *office {
	o.AddOwners()
	return o
}

// operator has the rights of a proxy_admin.
func operator(s *tenancy.Set, tx *record.Txn) *rights.Rights {
	return rights.Of(s, tx, tenancy.Principal{Master: true})
}

// claims returns the names of a space that are taken, and by whom.
func (o *office) claims(space store.Space) map[string]string {
	out := map[string]string{}
	err := o.State.Scan(context.Background(), store.Range{Space: space}, func(key, value []byte) bool {
		c := &clusterv1.Claim{}
		if err := proto.Unmarshal(value, c); err != nil {
			o.TB.Fatal(err)
		}
		out[string(key)] = string(c.GetOwner())
		return true
	})
	if err != nil {
		o.TB.Fatal(err)
	}
	return out
}

// check holds the state to what has to be so after every transaction: whatever a
// record refers to is there, and the names that are taken are those that are used.
func (o *office) check() {
	o.TB.Helper()
	s := o.Set
	organizations, emails := map[string]string{}, map[string]string{}
	need := func(what string, ok bool) {
		if !ok {
			o.TB.Fatalf("%s is not there", what)
		}
	}
	for org := range s.Organizations() {
		organizations[org.Alias] = string(org.ID)
		for m := range s.OrganizationMembers(org.ID) {
			_, ok := s.User(nil, m.User)
			need(fmt.Sprintf("user %s of organization %s", m.User, org.ID), ok)
		}
	}
	for u := range s.AllUsers() {
		if u.Email != "" {
			name := "e\x00" + strings.ToLower(u.Email)
			switch d := u.Directory; {
			case d.Organization != "":
				name += "\x00o\x00" + string(d.Organization)
			case d.Team != "":
				name += "\x00t\x00" + string(d.Team)
			}
			emails[name] = string(u.ID)
		}
		if u.SSO != "" {
			emails["s\x00"+u.SSO] = string(u.ID)
		}
		for m := range s.OrganizationsOf(u.ID) {
			_, ok := s.Organization(nil, m.Organization)
			need(fmt.Sprintf("organization %s of user %s", m.Organization, u.ID), ok)
		}
		for m := range s.TeamsOf(u.ID) {
			_, ok := s.Team(nil, m.Team)
			need(fmt.Sprintf("team %s of user %s", m.Team, u.ID), ok)
		}
	}
	for k := range s.KeysByAge().From(0) {
		if k.User != "" {
			_, ok := s.User(nil, k.User)
			need(fmt.Sprintf("user %s of key %s", k.User, k.Alias), ok)
		}
		if k.Organization != "" {
			_, ok := s.Organization(nil, k.Organization)
			need(fmt.Sprintf("organization %s of key %s", k.Organization, k.Alias), ok)
		}
		if k.Team != "" {
			t, ok := s.Team(nil, k.Team)
			need(fmt.Sprintf("team %s of key %s", k.Team, k.Alias), ok)
			if t.Organization != k.Organization {
				o.TB.Fatalf("key %s is of organization %q, its team of %q", k.Alias, k.Organization, t.Organization)
			}
		}
	}
	o.checkMemberships()
	for _, want := range []struct {
		space store.Space
		names map[string]string
	}{{store.SpaceOrganizationAlias, organizations}, {store.SpaceUserName, emails}, {store.SpaceKeyAlias, o.aliases()}} {
		if diff := cmp.Diff(want.names, o.claims(want.space)); diff != "" {
			o.TB.Fatalf("names of the space %q (- used, + taken):\n%s", string(rune(want.space)), diff)
		}
	}
}

// aliases returns the names that claim the aliases of keys, by the records of the state.
func (o *office) aliases() map[string]string {
	out := map[string]string{}
	err := o.State.Scan(context.Background(), store.Range{Space: store.SpaceKey}, func(key, value []byte) bool {
		k := &clusterv1.VirtualKey{}
		if err := proto.Unmarshal(value, k); err != nil {
			o.TB.Fatal(err)
		}
		name := k.GetAlias()
		switch {
		case name == "":
			return true
		case k.GetAliasInPlace() && k.GetTeamId() != "":
			name = "\x00t\x00" + k.GetTeamId() + "\x00" + name
		case k.GetAliasInPlace():
			name = "\x00u\x00" + k.GetOrganizationId() + "\x00" + k.GetUserId() + "\x00" + name
		}
		if other, twice := out[name]; twice {
			o.TB.Fatalf("the keys %x and %x both have the alias %q", other, key, name)
		}
		out[name] = string(key)
		return true
	})
	if err != nil {
		o.TB.Fatal(err)
	}
	return out
}

// checkMemberships reads memberships from the state, where those are found as well
// that are of nobody.
func (o *office) checkMemberships() {
	o.TB.Helper()
	for c := range o.Set.Customers() {
		if _, ok := o.Set.Organization(nil, c.Organization); c.Organization != "" && !ok {
			o.TB.Fatalf("the customer %s is of %s, which is not there", c.ID, c.Organization)
		}
	}
	for _, of := range []store.Space{store.SpaceOrganizationMember, store.SpaceTeamMember} {
		err := o.State.Scan(context.Background(), store.Range{Space: of}, func(key, _ []byte) bool {
			where, who, _ := strings.Cut(string(key), "\x00")
			_, user := o.Set.User(nil, id.User(who))
			_, organization := o.Set.Organization(nil, id.Organization(where))
			_, team := o.Set.Team(nil, id.Team(where))
			if !user || of == store.SpaceOrganizationMember && !organization || of == store.SpaceTeamMember && !team {
				o.TB.Fatalf("the membership %q is of what is not there", key)
			}
			return true
		})
		if err != nil {
			o.TB.Fatal(err)
		}
	}
}
