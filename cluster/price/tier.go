package price

// Tier is a provider's service tier, spelled as the suffix that its prices have
// in the price table; Standard has none.
type Tier string

// The tiers that the price table knows.
const (
	Standard  Tier = ""
	Flex      Tier = "flex"
	Priority  Tier = "priority"
	Batch     Tier = "batches"
	Balanced  Tier = "balanced"
	Ultrafast Tier = "ultrafast"
	Decisions Tier = "decisions"
)

// ParseTier reads a provider's `service_tier`. The ways to say "the usual one"
// (`default`, `auto`, `standard`, `standard_only`, nothing) and every tier without
// prices of its own are Standard.
func ParseTier(serviceTier string) Tier {
	switch serviceTier {
	case "batch":
		return Batch
	case "flex", "priority", "batches", "balanced", "ultrafast", "decisions":
		return Tier(serviceTier)
	}
	return Standard
}
