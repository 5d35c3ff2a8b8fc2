package audit

import "slices"

// DefaultWorkspace is the workspace there is.
const DefaultWorkspace = "default"

// TypeManagement is the type of changes that have no type of their own.
const TypeManagement = "management.changed"

// Types returns the event types there are.
func Types() []string {
	return []string{
		"request.routed", "request.blocked", "request.failed", "request.guardrail_triggered", "request.cache_hit",
		"request.compressed", "request.fallback_triggered",
		"policy.evaluated", "policy.changed", "policy.blocked",
		"user.provisioned", "user.deprovisioned", "key.created", "key.rotated", "key.revoked", "key.budget_exceeded",
		"login.success", "login.failed", "mfa.challenged",
		"budget.threshold_reached", "budget.exceeded", "budget.reset", "spend.debited",
		"memory.retrieved", "memory.stored", "guardrail.configured", "prompt.version_published", "token_saving.plan_updated",
		TypeManagement,
	}
}

// KnownType reports whether s is one of Types.
func KnownType(s string) bool { return slices.Contains(Types(), s) }

// maxWorkspace is how long a workspace's name may be.
const maxWorkspace = 64

// validWorkspace reports whether a name can be part of keys and of checkpoints.
func validWorkspace(name string) bool {
	for i := range len(name) {
		c := name[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return name != "" && len(name) <= maxWorkspace
}
