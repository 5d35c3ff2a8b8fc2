package store

// Space is a keyspace: the first byte of every key that belongs to it. A space
// has one owner, which alone reads and writes it. The bytes are on disks; they
// are never reused.
type Space byte

// The keyspaces.
const (
	// SpaceMeta belongs to this package: the node's identity.
	//	"identity" → cluster.v1.NodeIdentity
	SpaceMeta Space = 'm'
	// SpaceMark belongs to cluster/journal: how far it has counted.
	//	epoch (8 bytes, big endian) → cluster.v1.JournalMark
	SpaceMark Space = 'k'
	// SpaceIntent belongs to cluster/journal: attempts under way.
	//	number (8 bytes, big endian) → cluster.v1.UsageIntent
	SpaceIntent Space = 'i'
	// SpaceEvent belongs to cluster/journal: attempts that have ended.
	//	epoch, seq (8 bytes each, big endian) → cluster.v1.UsageEvent
	SpaceEvent Space = 'e'
)

// spaceKey returns key with the byte of its space before it.
func spaceKey(space Space, key []byte) []byte {
	out := make([]byte, 0, 1+len(key))
	return append(append(out, byte(space)), key...)
}
