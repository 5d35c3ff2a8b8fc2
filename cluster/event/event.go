package event

import (
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// The types of events that the gateway records.
const (
	TypeRequestRouted      = "request.routed"
	TypeRequestBlocked     = "request.blocked"
	TypeGuardrailTriggered = "request.guardrail_triggered"
	TypeRequestFailed      = "request.failed"
	TypeFallbackTriggered  = "request.fallback_triggered"
	TypeSpendDebited       = "spend.debited"
	TypeBudgetThreshold    = "budget.threshold_reached"
	TypeBudgetExceeded     = "budget.exceeded"
	TypeBudgetReset        = "budget.reset"
	TypeKeyBudgetExceeded  = "key.budget_exceeded"
	TypeKeyCreated         = "key.created"
	TypeKeyRotated         = "key.rotated"
	TypeKeyRevoked         = "key.revoked"
	TypeUserProvisioned    = "user.provisioned"
	TypeUserDeprovisioned  = "user.deprovisioned"
	TypeGuardrail          = "guardrail.configured"
	TypePromptVersion      = "prompt.version_published"
	TypePromptLabel        = "prompt.label_moved"
	TypeManagement         = "management.changed" // changes without their own type
)

// Types returns all types that queries accept: those that the gateway records, and
// reserved names.
func Types() []string {
	return []string{
		TypeRequestRouted, TypeRequestBlocked, TypeRequestFailed, TypeGuardrailTriggered, "request.cache_hit",
		"request.compressed", TypeFallbackTriggered,
		"policy.evaluated", "policy.changed", "policy.blocked",
		TypeUserProvisioned, TypeUserDeprovisioned, TypeKeyCreated, TypeKeyRotated, TypeKeyRevoked, TypeKeyBudgetExceeded,
		"login.success", "login.failed", "mfa.challenged",
		TypeBudgetThreshold, TypeBudgetExceeded, TypeBudgetReset, TypeSpendDebited,
		"memory.retrieved", "memory.stored", TypeGuardrail, TypePromptVersion, TypePromptLabel, "token_saving.plan_updated",
		TypeManagement,
	}
}

// KnownType reports whether s is one of Types.
func KnownType(s string) bool { return slices.Contains(Types(), s) }

// MaxListed limits the number of resources and of amounts in the details of an event.
const MaxListed = 100

// The kinds of resources in the audit log.
const (
	ResourceKey                = "key"
	ResourceUser               = "user"
	ResourceOrganization       = "organization"
	ResourceTeam               = "team"
	ResourceCustomer           = "customer"
	ResourceBudget             = "budget"
	ResourceOrganizationMember = "organization_member"
	ResourceTeamMember         = "team_member"
	resourceGuardrail          = "guardrail"
	resourcePrompt             = "prompt"
	resourcePromptLabel        = "prompt_label"
)

// Event is a change of one or several resources by a transaction. Fields that do not apply are
// empty.
type Event struct {
	Type         string
	Organization id.Organization
	Team         id.Team
	Key          *id.KeyHash // the affected key, not the caller's key
	Customer     id.Customer
	Resource     string   // the kind of the resource
	IDs          []string // of the resources
	Replaces     string   // of a rotated key: the hash of the previous key

	place   rank     // among the events of a transaction
	amounts []Amount // of a rotated key, or of a label
}

// rank orders the events of a transaction by kind.
type rank int

const (
	rankKeyRevoked rank = iota
	rankUserDeleted
	rankKeyCreated
	rankUserCreated
	rankGuardrail
	rankPrompt
	rankPromptLabel
	rankUserBlocked // in the order of the request
	rankManagement
)

// Place is the organization and the team that a key belongs to.
type Place struct {
	Organization id.Organization
	Team         id.Team
}

func ofKey(kind string, h id.KeyHash, in Place, at rank) Event {
	return Event{Type: kind, Organization: in.Organization, Team: in.Team, Key: &h, Resource: ResourceKey, IDs: []string{h.String()}, place: at}
}

// KeyCreated records a new key.
func KeyCreated(h id.KeyHash, in Place) Event { return ofKey(TypeKeyCreated, h, in, rankKeyCreated) }

// KeyRevoked records that a key was deleted.
func KeyRevoked(h id.KeyHash, in Place) Event { return ofKey(TypeKeyRevoked, h, in, rankKeyRevoked) }

// KeyRotated records that a key replaced another one, with the bounds that changed
// between the two.
func KeyRotated(h, replaced id.KeyHash, in Place, before, after Bounds) Event {
	e := ofKey(TypeKeyRotated, h, in, rankKeyCreated)
	e.Replaces, e.amounts = replaced.String(), Changed(ResourceKey, h.String(), before, after)
	return e
}

func of(kind, resource, name string, at rank) Event {
	return Event{Type: kind, Resource: resource, IDs: []string{name}, place: at}
}

// UserCreated records a new user.
func UserCreated(u id.User) Event {
	return of(TypeUserProvisioned, ResourceUser, string(u), rankUserCreated)
}

// UserDeleted records that a user was deleted.
func UserDeleted(u id.User) Event {
	return of(TypeUserDeprovisioned, ResourceUser, string(u), rankUserDeleted)
}

// UserBlocked records that the keys of a user are rejected from now on.
func UserBlocked(u id.User) Event {
	return of(TypeUserDeprovisioned, ResourceUser, string(u), rankUserBlocked)
}

// GuardrailConfigured records a new or changed guardrail of an organization.
func GuardrailConfigured(name string, o id.Organization) Event {
	e := of(TypeGuardrail, resourceGuardrail, name, rankGuardrail)
	e.Organization = o
	return e
}

// PromptPublished records a new version of a prompt of an organization.
func PromptPublished(name string, o id.Organization) Event {
	e := of(TypePromptVersion, resourcePrompt, name, rankPrompt)
	e.Organization = o
	return e
}

// PromptLabelMoved records that a label of a prompt names another version. before and after are
// what it named, such as "5" or "5:90 6:10" (versions with their weights); empty for nothing.
func PromptLabelMoved(name string, o id.Organization, label, before, after string) Event {
	e := of(TypePromptLabel, resourcePrompt, name, rankPromptLabel)
	e.Organization = o
	e.amounts = Changed(resourcePromptLabel, label, Bounds{}.Text("version", before), Bounds{}.Text("version", after))
	return e
}

// ManagementChanged records a change that has no type of its own.
func ManagementChanged(resource string, ids []string) Event {
	return Event{Type: TypeManagement, Resource: resource, IDs: ids, place: rankManagement}
}

// compare orders the events of a transaction. Except for blocked users, the order does not
// depend on that of the recording.
func compare(a, b Event) int {
	if a.place != b.place || a.place >= rankUserBlocked {
		return int(a.place - b.place)
	}
	return strings.Compare(a.IDs[0], b.IDs[0])
}

// same reports whether two events record the same change of the same resource.
func same(a, b Event) bool {
	return a.Type == b.Type && a.place == b.place && slices.Equal(a.IDs, b.IDs)
}

// Request has the facts of the request that makes the change, for the details.
type Request struct {
	Operation string   // without its service
	Action    string   // created, updated, deleted, …
	Actor     string   // as tenancy.Principal.Actor returns it
	ActorKey  string   // the hash of the caller's key; empty for the master key
	Fields    []string // the names of the fields that the request sets
}

// details returns the details of the event, with the amounts that it changed.
func (e Event) details(r Request, amounts []Amount) string {
	d := Details{}
	d.Text("action", r.Action)
	list(&d, "amounts", amounts[:min(len(amounts), MaxListed)])
	d.Text("changed_by", r.Actor)
	d.Text("changed_by_key", r.ActorKey)
	list(&d, "fields", r.Fields)
	d.Integer("more", int64(max(0, len(e.IDs)-MaxListed)))
	d.Integer("more_amounts", int64(max(0, len(amounts)-MaxListed)))
	d.Text("operation", r.Operation)
	d.Text("replaced_key_hash", e.Replaces)
	if len(e.IDs) == 1 {
		d.quoted("resource_id", e.IDs[0])
	} else {
		list(&d, "resource_ids", e.IDs[:min(len(e.IDs), MaxListed)])
	}
	d.Text("resource_type", e.Resource)
	return d.Object()
}

// Details returns the details of an event that changes no amounts.
func (e Event) Details(r Request) string { return e.details(r, nil) }
