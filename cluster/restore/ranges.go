package restore

import (
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

const (
	// stampField is the field number of the stamp in most records.
	stampField = 100
	// settingsKey is the only key of store.SpaceDelivery that is a setting; the others are
	// delivery positions.
	settingsKey = "settings"
)

// Ranges returns the ranges that a restore replaces. Everything else stays.
func Ranges() []*clusterv1.RestoreRange {
	part := func(space store.Space, name string) *clusterv1.RestoreRange {
		return &clusterv1.RestoreRange{Space: uint32(space), Name: name, StampField: stampField}
	}
	stamped := func(r *clusterv1.RestoreRange, field uint32) *clusterv1.RestoreRange {
		r.StampField = field
		return r
	}
	blocked := func(r *clusterv1.RestoreRange, field uint32) *clusterv1.RestoreRange {
		r.BlockedField = field
		return r
	}
	within := func(r *clusterv1.RestoreRange, from, to string) *clusterv1.RestoreRange {
		r.From, r.To = []byte(from), []byte(to)
		return r
	}
	marks := func(r *clusterv1.RestoreRange) *clusterv1.RestoreRange {
		r.Marks = true
		return r
	}
	named := func(r *clusterv1.RestoreRange) *clusterv1.RestoreRange {
		r.Named = true
		return r
	}
	const all, afterMarks = "", "\x01"
	out := []*clusterv1.RestoreRange{
		named(blocked(stamped(part(store.SpaceKey, "keys"), 8), 6)),
		part(store.SpaceKeyAlias, ""),
		part(store.SpaceOrganization, "organizations"),
		part(store.SpaceOrganizationAlias, ""),
		part(store.SpaceOrganizationMember, "organization_members"),
		blocked(part(store.SpaceTeam, "teams"), 7),
		part(store.SpaceTeamMember, "team_members"),
		blocked(part(store.SpaceUser, "users"), 8),
		part(store.SpaceUserName, ""),
		blocked(part(store.SpaceCustomer, "customers"), 3),
		part(store.SpaceBudget, "budgets"),
		marks(part(store.SpaceGrown, "")),
		stamped(part(store.SpaceDeployment, "models"), 19),
		stamped(part(store.SpaceSetting, "settings"), 17),
		marks(within(part(store.SpaceCredential, ""), all, afterMarks)),
		within(part(store.SpaceCredential, "credentials"), afterMarks, all),
		marks(within(part(store.SpacePriceMap, ""), all, afterMarks)),
		within(part(store.SpacePriceMap, "prices"), afterMarks, all),
	}
	for _, r := range store.NamedResources() {
		out = append(out, part(r.Records, r.Plural), part(r.Names, ""))
	}
	return append(out,
		part(store.SpacePromptVersion, "prompt_versions"),
		within(part(store.SpaceDelivery, "settings"), settingsKey, settingsKey+"\x00"),
	)
}

// Restored reports whether a restore brings back a record of a backup.
func Restored(ranges []*clusterv1.RestoreRange, space store.Space, key []byte) bool {
	for _, r := range ranges {
		if store.Space(r.GetSpace()) == space && string(key) >= string(r.GetFrom()) && (len(r.GetTo()) == 0 || string(key) < string(r.GetTo())) {
			return true
		}
	}
	return false
}
