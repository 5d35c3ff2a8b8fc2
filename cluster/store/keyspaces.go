package store

// Space is a keyspace: the first byte of all its keys. Only its owner reads and writes it. The
// bytes are stored, so they are never reused.
type Space byte

// The keyspaces of a NodeStore.
const (
	// SpaceMeta belongs to this package: the node's identity.
	//	"identity" → cluster.v1.NodeIdentity
	SpaceMeta Space = 'm'
	// SpaceMark belongs to cluster/journal: the last sequence number.
	//	epoch (8 bytes, big endian) → cluster.v1.JournalMark
	SpaceMark Space = 'k'
	// SpaceIntent belongs to cluster/journal: attempts in flight.
	//	number (8 bytes, big endian) → cluster.v1.UsageIntent
	SpaceIntent Space = 'i'
	// SpaceEvent belongs to cluster/journal: attempts that have ended.
	//	epoch, seq (8 bytes each, big endian) → cluster.v1.UsageEvent
	SpaceEvent Space = 'e'
	// SpaceFormation belongs to cluster: which cluster the node is part of.
	//	"formation" → cluster.v1.Formation
	SpaceFormation Space = 'f'
	// SpaceLog belongs to cluster/consensus: the replicated log.
	//	index (8 bytes, big endian) → an entry
	SpaceLog Space = 'l'
	// SpaceStable belongs to cluster/consensus: its term, its vote.
	SpaceStable Space = 's'
)

// The keyspaces of a StateStore: the replicated state. All nodes have the same
// keys and values here.
const (
	// SpaceApplied belongs to cluster/consensus: the position of the state in the log.
	//	"applied" → cluster.v1.AppliedMark
	SpaceApplied Space = 'a'
	// SpaceOutcome belongs to cluster/consensus: the outcomes of recent commands.
	//	command id (16 bytes) → cluster.v1.CommandOutcome
	SpaceOutcome Space = 'o'
	// SpaceOutcomeTime belongs to cluster/consensus: the outcomes ordered by age.
	//	time (8 bytes, big endian), command id → nothing
	SpaceOutcomeTime Space = 't'
	// SpaceDeployment belongs to cluster/catalog.
	//	id → cluster.v1.Deployment
	SpaceDeployment Space = 'd'
	// SpaceSetting belongs to cluster/catalog.
	//	name → cluster.v1.RouterSettings
	SpaceSetting Space = 'r'
	// SpaceKey belongs to cluster/tenancy.
	//	hash (32 bytes) → cluster.v1.VirtualKey
	SpaceKey Space = 'q'
	// SpaceKeyAlias belongs to cluster/tenancy: assigned aliases.
	//	0, "t", 0, team, 0, alias → cluster.v1.Claim of a hash
	//	0, "u", 0, organization or nothing, 0, user or nothing, 0, alias → cluster.v1.Claim of a hash
	//	alias → cluster.v1.Claim of a hash; of a key without alias_in_place
	SpaceKeyAlias Space = 'n'
	// SpaceOrganization belongs to cluster/tenancy.
	//	id → cluster.v1.Organization
	SpaceOrganization Space = 'O'
	// SpaceOrganizationAlias belongs to cluster/tenancy: assigned names.
	//	name → cluster.v1.Claim of an id
	SpaceOrganizationAlias Space = 'A'
	// SpaceOrganizationMember belongs to cluster/tenancy.
	//	organization, 0, user → cluster.v1.OrganizationMember
	SpaceOrganizationMember Space = 'N'
	// SpaceTeam belongs to cluster/tenancy.
	//	id → cluster.v1.Team
	SpaceTeam Space = 'T'
	// SpaceTeamMember belongs to cluster/tenancy.
	//	team, 0, user → cluster.v1.TeamMember
	SpaceTeamMember Space = 'M'
	// SpaceUser belongs to cluster/tenancy.
	//	id → cluster.v1.User
	SpaceUser Space = 'U'
	// SpaceUserName belongs to cluster/tenancy: addresses and ids at identity
	// providers that are assigned.
	//	"e", 0, address in lower case → cluster.v1.Claim of an id; in the gateway's directory
	//	"e", 0, address in lower case, 0, "o" or "t", 0, organization or team → cluster.v1.Claim of an id
	//	"s", 0, id at the identity provider → cluster.v1.Claim of an id
	SpaceUserName Space = 'E'
	// SpaceCustomer belongs to cluster/tenancy.
	//	id → cluster.v1.Customer
	//	id, 0, organization → cluster.v1.Customer of an organization
	SpaceCustomer Space = 'C'
	// SpaceBudget belongs to cluster/tenancy.
	//	id → cluster.v1.Budget
	SpaceBudget Space = 'B'
	// SpaceGrown belongs to cluster/tenancy: collections that have grown.
	//	"t", "u", "o" or "b", 0, id of a team, user, organization or budget → cluster.v1.Mark
	//	"a", 0, hex hash of a key that was regenerated → cluster.v1.Mark
	SpaceGrown Space = 'G'
	// SpaceCredential belongs to cluster/catalog.
	//	name → cluster.v1.Credential
	//	0, name → cluster.v1.Mark of the deployments that name it
	SpaceCredential Space = 'c'
	// SpaceGuardrail belongs to cluster/guardrails.
	//	id → cluster.v1.Guardrail
	SpaceGuardrail Space = 'g'
	// SpaceGuardrailName belongs to cluster/guardrails: assigned names.
	//	organization or nothing, 0, name → cluster.v1.Claim of an id
	SpaceGuardrailName Space = 'h'
	// SpacePrompt belongs to cluster/prompts.
	//	id → cluster.v1.Prompt
	SpacePrompt Space = 'p'
	// SpacePromptName belongs to cluster/prompts: assigned names.
	//	organization or nothing, 0, name → cluster.v1.Claim of an id
	SpacePromptName Space = 'j'
	// SpacePromptVersion belongs to cluster/prompts.
	//	id, 0, version (4 bytes, big endian) → cluster.v1.PromptVersion
	SpacePromptVersion Space = 'w'
	// SpaceKeyring belongs to cluster.
	//	"keyring" → cluster.v1.Keyring
	SpaceKeyring Space = 'y'
	// SpaceReplay belongs to cluster: responses of operations that a client may repeat.
	//	scope (32 bytes) → cluster.v1.Replay
	SpaceReplay Space = 'z'
	// SpaceView belongs to cluster: the last entry that changed the View.
	//	"revision" → index (8 bytes, big endian)
	//	"version" → the highest version of transactions (4 bytes, big endian); absent up to 2
	SpaceView Space = 'v'
	// SpaceAccount belongs to cluster/ledger: the spend of each account.
	//	kind (1 byte), owner, 0, part → cluster.v1.Account
	SpaceAccount Space = 'b'
	// SpaceAccountEnd belongs to cluster/ledger: the ends of the accounts' windows.
	//	time (8 bytes, big endian), kind, owner, 0, part → nothing
	SpaceAccountEnd Space = 'Z'
	// SpaceShipped belongs to cluster/ledger: the last posted event of each journal.
	//	node, 0, epoch (8 bytes, big endian) → cluster.v1.AppliedEvents
	SpaceShipped Space = 'H'
	// SpaceUsage belongs to cluster/ledger: posted events.
	//	end (8 bytes, big endian), node, 0, epoch, seq (8 bytes each) → cluster.v1.UsageRecord
	SpaceUsage Space = 'u'
	// SpaceUsageIndex belongs to cluster/ledger: posted events by account and by request.
	//	"k", hash of the key of the account (32 bytes), key in SpaceUsage → nothing
	//	"r", request, 0, key in SpaceUsage → nothing
	//	"a", hash (32 bytes) → hash of the other key whose account it used last
	SpaceUsageIndex Space = 'I'
	// SpaceUsageLog belongs to cluster/ledger: posted events in the order of the log, as cluster/block
	// keeps them.
	SpaceUsageLog Space = 'J'
	// SpaceDaily belongs to cluster/ledger: sums by day.
	//	kind (1 byte), owner, 0, day (8 digits), digest (16 bytes) → cluster.v1.DailyRow
	SpaceDaily Space = 'D'
	// SpaceAudit belongs to cluster/audit: the records of the chains.
	//	workspace, 0, number (8 bytes, big endian) → cluster.v1.AuditEntry
	SpaceAudit Space = 'L'
	// SpaceAuditHead belongs to cluster/audit.
	//	workspace → cluster.v1.AuditHead
	SpaceAuditHead Space = 'R'
	// SpaceAuditSegment belongs to cluster/audit: the first records of the chains' segments.
	//	workspace, 0, number of the first record (8 bytes, big endian) → cluster.v1.AuditSegment
	SpaceAuditSegment Space = 'W'
	// SpaceAuditIndex belongs to cluster/audit: records by time, by key, by type, by request and by organization.
	//	workspace, 0, "t" or "k" or "e" or "r" or "o", value, 0, time, number (8 bytes each) → nothing
	SpaceAuditIndex Space = 'X'
	// SpaceAuditLog belongs to cluster/audit: the records of the chains, as cluster/block keeps them.
	//	workspace, 0, a key of cluster/block
	SpaceAuditLog Space = 'Q'
	// SpaceCheckpoint belongs to cluster/audit.
	//	workspace, 0, size (8 bytes, big endian) → cluster.v1.AuditCheckpoint
	SpaceCheckpoint Space = 'P'
	// SpaceAuditSigner belongs to cluster: the signing key of checkpoints.
	//	"signer" → cluster.v1.AuditSigner
	SpaceAuditSigner Space = 'S'
	// SpaceDelivery belongs to cluster: the destinations of the audit log.
	//	"settings" → cluster.v1.DeliverySettings
	//	"c", place → cluster.v1.DeliveryCursor
	SpaceDelivery Space = 'V'
	// SpacePriceMap belongs to cluster/catalog: prices that were loaded at run time.
	//	model → cluster.v1.PriceRow
	//	0 → cluster.v1.Mark of the map
	SpacePriceMap Space = 'F'
	// SpaceLeaseLife belongs to cluster: the last lease proposal of each node.
	//	node → cluster.v1.LeaseLife
	SpaceLeaseLife Space = 'Y'
	// SpaceRestore belongs to cluster/restore: backups whose settings are being restored.
	// Each key begins with the restore's name (16 bytes).
	//	name, "h" → cluster.v1.RestoreStage
	//	name, "r", space (1 byte), key → a record of the backup
	//	name, "d" → cluster.v1.RestoreDone
	SpaceRestore Space = 'K'
	// SpaceRetired belongs to cluster: removed nodes, which may not join again.
	//	node → cluster.v1.RetiredNode
	SpaceRetired Space = 'x'
)

// NamedResource has the spaces of one sort of named resources, which a restore
// brings back.
type NamedResource struct {
	Records, Names Space
	Plural         string // in the report of a restore: the name of the message in cluster.v1, in lower case, and an s
}

// NamedResources lists the sorts of named resources.
func NamedResources() []NamedResource {
	return []NamedResource{
		{SpaceGuardrail, SpaceGuardrailName, "guardrails"},
		{SpacePrompt, SpacePromptName, "prompts"},
	}
}

// spaceKey returns key prefixed with the byte of its space.
func spaceKey(space Space, key []byte) []byte {
	out := make([]byte, 0, 1+len(key))
	return append(append(out, byte(space)), key...)
}
