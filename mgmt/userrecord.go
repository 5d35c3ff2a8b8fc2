package mgmt

import (
	"encoding/hex"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// userRecord is a user as the API shows it to a caller with these rights. Of a user who
// is also in organizations of others it shows only memberships and keys that the caller
// may see.
func userRecord(set *tenancy.Set, r *tenancy.Rights, u *tenancy.User) *gatewayv1.UserRecord {
	out := &gatewayv1.UserRecord{
		UserId: string(u.ID), UserEmail: textOrNull(u.Email), UserAlias: textOrNull(u.Alias), UserRole: string(u.Role),
		Models: u.Models, Metadata: showMetadata(u.Metadata), SsoUserId: textOrNull(u.SSO), Blocked: u.Blocked,
	}
	whole := r.SeesWhole(u)
	for m := range set.TeamsOf(u.ID) {
		if t, ok := set.Team(nil, m.Team); whole || ok && r.MaySeeTeam(t) {
			out.Teams = append(out.GetTeams(), string(m.Team))
		}
	}
	for m := range set.OrganizationsOf(u.ID) {
		if whole || r.Administers(m.Organization) {
			addPlace(out, m)
		}
	}
	for k := range set.KeysOf(u.ID) {
		if whole || r.MaySeeKey(k) {
			out.KeyCount++
		}
	}
	showLimits(out, u.Limits)
	showMeta(out, u.Meta)
	return out
}

// addPlace adds an organization to a user's record, where it belongs by id.
func addPlace(to *gatewayv1.UserRecord, m *tenancy.OrganizationMember) {
	place := &gatewayv1.OrganizationPlace{OrganizationId: string(m.Organization), UserRole: string(m.Role)}
	list := to.GetOrganizationMemberships()
	i := slices.IndexFunc(list, func(p *gatewayv1.OrganizationPlace) bool { return p.GetOrganizationId() > place.GetOrganizationId() })
	if i < 0 {
		i = len(list)
	}
	to.OrganizationMemberships = slices.Insert(list, i, place)
}

// sortedInsert adds a text to a sorted list.
func sortedInsert(list []string, text string) []string {
	i, _ := slices.BinarySearch(list, text)
	return slices.Insert(list, i, text)
}

// tokenOf is a key's hash as the API shows it.
func tokenOf(h id.KeyHash) string { return hex.EncodeToString(h[:]) }

// counted is a number of things, for people.
func counted(n uint32, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// copyFields gives a message what another has under the same names.
func copyFields(to, from proto.Message) {
	into := to.ProtoReflect()
	from.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if same := into.Descriptor().Fields().ByName(f.Name()); same != nil {
			into.Set(same, v)
		}
		return true
	})
}
