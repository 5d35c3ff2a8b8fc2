package rights

import (
	"cmp"
	"slices"

	"github.com/modelgateway/modelgateway/cluster/access"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/period"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
)

// MayChangeKey refuses who may not do an operation, named by its path such as
// "/key/update", with a key.
func (r *Rights) MayChangeKey(op string, k *tenancy.Key) error {
	switch {
	case r.Admin():
		return nil
	case r.user == nil:
		return denied("", "This API key belongs to no user who could do that. Use one of a user with the rights to.")
	case r.still:
		return denied("", "This API key may read only.")
	}
	if err := r.checkPlace(k); err != nil {
		return err
	}
	switch {
	case r.runs(r.organizationOf(k)):
		return nil
	case r.role != tenancy.RoleInternalUser:
		return denied("", "The role of this API key's user may read only.")
	case k.Team == "":
		if k.User != r.user.ID {
			return denied("key", "The key is not this API key's user's. Only a proxy_admin may do that.")
		}
		return nil
	}
	m, ok := r.place(k.Team)
	switch {
	case !ok:
		return denied("team_id", "This API key's user is not in the key's team.")
	case m.Role == tenancy.TeamAdmin, slices.Contains(r.permissions(k.Team), op):
		return nil
	}
	return denied("team_id", "The team does not let its members use %s. A team admin may, or may permit it with /team/permissions_update.", op)
}

// MayGrantKey refuses a key, as the operation would leave it, if the caller may
// not make it so, or that has rights which the asking key has not and the key had not
// before. Models that its team has not are model_access_denied for every caller.
func (r *Rights) MayGrantKey(op string, k *tenancy.Key) error {
	reveals := op == surface.PermitGenerateKey || op == surface.PermitGenerateServiceAccountKey || op == surface.PermitRegenerateKey
	before, there := r.set.Key(r.tx, k.Hash)
	asked := !there || before.Team != k.Team || before.Organization != k.Organization || !slices.Equal(before.Models, k.Models)
	if r.Admin() {
		if !asked || op == surface.PermitRegenerateKey {
			return nil
		}
		return r.teamHas(k)
	}
	if err := r.MayChangeKey(op, k); err != nil {
		return err
	}
	had := id.Budget("")
	if there {
		had = before.Limits.Budget
		if err := r.checkMove(before, k); err != nil {
			return err
		}
	}
	if err := r.checkBudget(had, k.Limits.Budget); err != nil && op != surface.PermitRegenerateKey {
		return err
	}
	if there && before.Blocked && !k.Blocked && !r.runs(r.organizationOf(before)) && !r.leads(before.Team) {
		// Whoever blocked it may have been above its owner.
		return denied("blocked", "Only a team admin, an org_admin or a proxy_admin may unblock a key.")
	}
	if asked && op != surface.PermitRegenerateKey && everything(k.Models) {
		return modelsDenied("Only a proxy_admin may name all models there are. Name models, or none for all that this API key may use.")
	}
	if reveals || !there || before.User != k.User || before.Team != k.Team || before.Organization != k.Organization {
		if err := r.mayHold(op, k); err != nil {
			return err
		}
	}
	// Only now: what a team or organization has not is for those that belong to it.
	if asked && op != surface.PermitRegenerateKey {
		if err := r.teamHas(k); err != nil {
			return err
		}
	}
	was := before
	if !there || reveals {
		was = nil
	}
	if err := r.checkService(was, k); err != nil {
		return err
	}
	own, after := effectiveOf(r.set, r.tx, r.key), effectiveOf(r.set, r.tx, k)
	asks, acts := after.exceeding(own), r.actsBeyond(after, own)
	if there && !reveals {
		old := effectiveOf(r.set, r.tx, before)
		if !old.team {
			old.personal = nil // the key that moves into a team could not do there what it could not do before
		}
		if err := r.checkRaise(before, after, old); err != nil {
			return err
		}
		if after.exceeding(old) == "" {
			asks = ""
		}
		if after.user == old.user && after.managesBeyond(old) == "" {
			acts = ""
		}
	}
	if what := cmp.Or(asks, acts); what != "" {
		return exceeds(what)
	}
	return nil
}

// MayGrantNewUserKey denies the first key of a user that the same operation makes,
// where MayGrantUser has let the user through. A key that an org_admin makes belongs to
// an organization that the admin runs, whose budget then bounds it.
func (r *Rights) MayGrantNewUserKey(u *tenancy.User, k *tenancy.Key) error {
	if r.Admin() {
		return nil
	}
	if r.key == nil || k.Team != "" || !r.runs(k.Organization) {
		return denied("user_id", "Only a proxy_admin may make that key with the user.")
	}
	if err := r.checkPlace(k); err != nil {
		e := *fault.From(err)
		e.Param = "organizations[0]"
		return &e
	}
	own, after := effectiveOf(r.set, r.tx, r.key), effectiveOf(r.set, r.tx, k)
	after.models = after.models.And(access.Compiled(u.Models))
	if what := cmp.Or(after.exceeding(own), after.managesBeyond(own)); what != "" {
		return exceeds(what)
	}
	return nil
}

// mayHold rejects a key of another user: its spend would count as theirs.
func (r *Rights) mayHold(op string, k *tenancy.Key) error {
	runs := r.runs(r.organizationOf(k))
	if k.Organization != "" && k.Team == "" && !runs && !r.belongs(k.Organization) {
		return denied("organization_id", "This API key's user is not in that organization.")
	}
	switch {
	case k.User == r.user.ID:
		return nil
	case k.User == "":
		if runs || k.Team != "" && (op == surface.PermitGenerateServiceAccountKey || r.leads(k.Team)) {
			return nil
		}
		return denied("user_id", "Only a team admin, for the team, an org_admin or a proxy_admin may make a key that belongs to no user.")
	case !runs && !r.leads(k.Team):
		return denied("user_id", "Only an admin may make a key for another user.")
	case !r.isMember(k):
		// Unknown users and users of others get the same response: otherwise it would
		// reveal which users exist.
		return denied("user_id", "The key's user must be a member of the team or organization that this API key's user manages. Add the user there first.")
	}
	return nil
}

// isMember reports whether the user of a key is a member of the key's team or
// organization.
func (r *Rights) isMember(k *tenancy.Key) bool {
	if _, ok := r.set.TeamMember(r.tx, k.Team, k.User); ok && k.Team != "" {
		return true
	}
	o := r.organizationOf(k)
	_, ok := r.set.OrganizationMember(r.tx, o, k.User)
	return ok && o != ""
}

// checkService denies a key of a team that belongs to no user, if its bounds are
// looser than those of the team admin or member that makes or changes it. No account
// of a user counts what such a key spends, so its own limits have to keep those
// bounds. An org_admin has no such bounds. before is nil for a new key, and for one
// whose new text the response shows.
func (r *Rights) checkService(before, k *tenancy.Key) error {
	if k.User != "" || k.Team == "" || r.runs(r.organizationOf(k)) {
		return nil
	}
	t, ok := r.set.Team(r.tx, k.Team)
	m, in := r.place(k.Team)
	if !ok || !in {
		return nil // MayChangeKey has denied it
	}
	kept := before != nil && before.User == "" && before.Team == k.Team
	limits := r.set.Terms(r.tx, k.Limits)
	for _, bound := range []tenancy.Limits{r.set.Terms(r.tx, r.user.Limits), m.LimitsIn(t)} {
		what := exceedingLimit(limits, bound)
		if what == "" || kept && exceedingLimit(limits, r.set.Terms(r.tx, before.Limits)) == "" {
			continue
		}
		return denied(what, "This API key's user, or the user's place in the team, has a %s, and a key of the team that belongs to no user needs one that does not exceed it.", what)
	}
	if t.MemberKeyDuration == "" || kept && k.Expires.Equal(before.Expires) {
		return nil
	}
	longest, err := period.Parse("team_member_key_duration", t.MemberKeyDuration)
	if err != nil {
		return err
	}
	if k.Expires.IsZero() || k.Expires.After(longest.After(r.tx.Time())) {
		return denied("duration", "The keys that members of the team make are valid for %s at most. Give a duration that is not longer.", t.MemberKeyDuration)
	}
	return nil
}

// actsBeyond names what of the management that e has o has not; empty for nothing.
// Whoever manages a user may act as the user.
func (r *Rights) actsBeyond(e, o effective) string {
	if e.user != "" && e.user != o.user && e.routes.Manages() {
		if u, ok := r.set.User(r.tx, e.user); !ok || !r.controls(u) {
			return "user_id"
		}
	}
	return e.managesBeyond(o)
}

// everything reports whether a list of models names all there are.
func everything(models []string) bool {
	return slices.Contains(models, access.EveryModel) || slices.Contains(models, "*")
}

// teamHas refuses models that the team, or the organization, of a key has not.
func (r *Rights) teamHas(k *tenancy.Key) error {
	if len(k.Models) == 0 {
		return nil
	}
	list, bad := access.Compile(k.Models)
	if bad >= 0 {
		return access.BadPattern("", bad)
	}
	if k.Team != "" {
		if t, ok := r.set.Team(r.tx, k.Team); ok && !(access.Intersection{}).And(list.InTeam()).Within((access.Intersection{}).And(t.Allowed())) {
			if list.InTeam() != nil || !slices.Contains(k.Models, access.TeamModels) {
				return modelsDenied("The team may not use all of these models. Leave out those that the team has not, or add them to the team first.")
			}
		}
	}
	if org := r.organizationOf(k); org != "" {
		if o, ok := r.set.Organization(r.tx, org); ok && !slices.Contains(k.Models, access.TeamModels) && !(access.Intersection{}).And(list).Within((access.Intersection{}).And(o.Allowed())) {
			return modelsDenied("The organization may not use all of these models. Leave out those that the organization has not.")
		}
	}
	return nil
}

func modelsDenied(text string) error {
	return &fault.Error{Kind: fault.Denied, Code: "model_access_denied", Param: "models", Detail: text}
}

// exceeds is the refusal of what the asking key has not.
func exceeds(what string) error {
	switch what {
	case "models":
		return modelsDenied("That includes models that this API key may not use. Name only such as it may.")
	case "user_id":
		return denied(what, "A key that acts as that user would have rights that this API key has not. Leave user_id out, or make the key with key_type llm_api.")
	case "duration":
		return denied(what, "This API key expires, and what it makes must not be valid for longer. Give a duration that ends before.")
	case "allowed_routes":
		return denied(what, "That includes routes that this API key may not use. Choose its key_type, and allowed_routes among its own.")
	case tenancy.FieldAllowedPrompts:
		return denied(what, "That includes prompts that requests of this API key may not name. Give allowed_prompts that has only such as they may.")
	case tenancy.FieldRequirePrompt:
		return denied(what, "Requests of this API key must have a prompt, and so must those of what it makes. Set require_prompt.")
	case tenancy.FieldGuardrails:
		return denied(what, "Guardrails always apply to requests of this API key, and must to those of what it makes. Give guardrails that has all of this key's.")
	case "budget_duration":
		return denied(what, "What that may spend would begin again sooner than what this API key may spend. Leave budget_duration out, or give one that is not shorter than this key's, if it has one.")
	}
	return denied(what, "This API key has a %s itself, and what it makes needs one that does not exceed it.", what)
}
