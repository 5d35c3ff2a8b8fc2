package mgmt

import (
	"cmp"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// keyRecord is a key as the API shows it.
func keyRecord(k *tenancy.Key) *gatewayv1.KeyRecord {
	now := time.Now()
	token := tokenOf(k.Hash)
	out := &gatewayv1.KeyRecord{
		Key: token, Token: token, TokenId: token, KeyName: k.Name, KeyAlias: textOrNull(k.Alias), Models: k.Models,
		Expires: moment(k.Expires), Blocked: k.Blocked, Metadata: showMetadata(k.Metadata),
		TeamId: textOrNull(string(k.Team)), UserId: textOrNull(string(k.User)), OrganizationId: textOrNull(string(k.Organization)),
		Tags: k.Tags, Aliases: k.Aliases, AllowedRoutes: k.AllowedRoutes, KeyType: cmp.Or(k.Type, typeDefault),
		RotationCount: k.Rotations, LastRotationAt: moment(k.Rotated), Status: k.Status(now),
		AccountId: tokenOf(k.Account()),
	}
	if k.Parent != (id.KeyHash{}) {
		out.ParentAccountId = textOrNull(tokenOf(k.Parent))
	}
	if k.GraceUntil.After(now) {
		out.GraceUntil = moment(k.GraceUntil)
	}
	showLimits(out, k.Limits)
	showMeta(out, k.Meta)
	return out
}

// typeDefault is what the API calls a key that may do all that its role allows.
const typeDefault = "default"

// moment is a time as the API shows it: null for none.
func moment(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

// patchKey returns a key as a request wants it, at a time. A key that goes to
// another team goes to the team's organization with it.
func patchKey(k tenancy.Key, m proto.Message, clears []string, now time.Time) (tenancy.Key, error) {
	before, p := k, patchOf(m, clears, limitFields("models", "duration", "key_alias", "metadata", "team_id", "user_id", "organization_id",
		"tags", "aliases", "allowed_routes", "key_type")...)
	k.Alias = p.text("key_alias", k.Alias)
	k.Models = p.list("models", k.Models)
	k.Metadata = p.free("metadata", k.Metadata)
	k.Blocked = p.flag("blocked", k.Blocked)
	k.Team = id.Team(p.text("team_id", string(k.Team)))
	k.User = id.User(p.text("user_id", string(k.User)))
	if k.Team != before.Team && k.Team != "" {
		k.Organization = ""
	}
	k.Organization = id.Organization(p.text("organization_id", string(k.Organization)))
	k.Tags = p.list("tags", k.Tags)
	k.Aliases = p.pairs("aliases", k.Aliases)
	k.AllowedRoutes = p.list("allowed_routes", k.AllowedRoutes)
	if k.Type = p.text("key_type", k.Type); k.Type == typeDefault {
		k.Type = tenancy.TypeDefault
	}
	if f, clears := p.given("duration"); clears {
		k.Expires = time.Time{}
	} else if f != nil {
		end, err := after("duration", p.text("duration", ""), now)
		p.fail(err)
		k.Expires = end
	}
	if strings.TrimSpace(k.Alias) != k.Alias {
		p.fail(fault.Field("key_alias", "invalid_value", "key_alias begins or ends with a space."))
	}
	k.Limits = p.limits(k.Limits)
	return k, p.err
}

// after is the end of a duration that begins now.
func after(param, text string, now time.Time) (time.Time, error) {
	d, err := tenancy.ParsePeriod(param, text)
	if err != nil {
		return time.Time{}, err
	}
	return d.After(now), nil
}
