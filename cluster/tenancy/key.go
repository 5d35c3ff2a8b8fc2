package tenancy

import (
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/access"
	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/table"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Key is one virtual key as it is configured or stored, without the key itself. Keys of a Set are
// shared and must not be changed.
type Key struct {
	Alias         string     // label, for people; may be empty, else unique among the stored keys of its place, see keyalias.go
	Hash          id.KeyHash // SHA-256 of the whole key
	Name          string     // what people tell it by: sk-... and its last four characters; see credential.DisplayName
	Models        []string   // what it may use; empty means everything, see Principal.Allows
	Expires       time.Time  // from then on it is refused; zero means never
	Blocked       bool
	Metadata      string // text of a JSON object; empty for none
	Team          id.Team
	User          id.User
	Organization  id.Organization // that of the team, if there is one
	Tags          []string
	Aliases       map[string]string // other names of models
	AllowedRoutes []string          // empty means all
	Type          string            // one of the types that package access has
	Limits        Limits
	Prompts       PromptRules
	Guardrails    []string // ids of those that always apply to its requests
	Rotations     uint32
	Rotated       time.Time  // zero if never
	Successor     id.KeyHash // of a key that was replaced and is accepted until Expires
	GraceUntil    time.Time  // of a key that replaced another: until when that one is accepted
	Origin        id.KeyHash // of a key that comes of another one by regeneration: the first of them; see Account
	Parent        id.KeyHash // the account of the key that made this one and had bounds; zero for none
	BoundedBy     id.User    // of a key of a team without a user: who made it there and whose bounds hold for it; empty for none
	record.Meta              // zero for a key of the file
	Static        bool       // it comes from the file, and cannot be changed

	allowed      *access.Models // compiled from Models; nil: everything
	aliasInPlace bool           // the alias is claimed for the place; earlier versions claimed it for the gateway
}

// indexes of the table of keys.
const (
	keyByAlias = iota
	keyByTeam
	keyByUser
	keyByOrganization
	keyByAge
	keyBySuccessor
	keyByBudget
	keyByOrigin
	keyByAliasClaim // by the names that claim an alias
	keyByDefaultPrompt
	keyByGuardrail
)

func newKeys() *table.Table[Key] {
	return table.New(&table.Spec[Key]{
		Space: store.SpaceKey, Field: 8,
		Key:      func(k *Key) []byte { return k.Hash[:] },
		Revision: func(k *Key) uint64 { return k.Revision },
		Resource: event.ResourceKey,
		Bounds:   func(k *Key) (string, event.Bounds) { return k.Hash.String(), k.Limits.bounds() },
		Encode:   func(k *Key) proto.Message { return k.record() },
		Decode:   decodeKey,
		Indexes: []func(*Key) [][]byte{
			keyByAlias:         func(k *Key) [][]byte { return given(k.Alias) },
			keyByTeam:          func(k *Key) [][]byte { return given(string(k.Team)) },
			keyByUser:          func(k *Key) [][]byte { return given(string(k.User)) },
			keyByOrganization:  func(k *Key) [][]byte { return given(string(k.Organization)) },
			keyByAge:           func(k *Key) [][]byte { return [][]byte{record.Newest(k.CreatedAt)} },
			keyByBudget:        func(k *Key) [][]byte { return given(string(k.Limits.Budget)) },
			keyBySuccessor:     func(k *Key) [][]byte { return givenHash(k.Successor) },
			keyByOrigin:        func(k *Key) [][]byte { return givenHash(k.Origin) },
			keyByAliasClaim:    aliasClaims,
			keyByDefaultPrompt: func(k *Key) [][]byte { return given(k.Prompts.Default) },
			keyByGuardrail:     func(k *Key) [][]byte { return guardrailKeys(k.Guardrails) },
		},
	})
}

// given is the one value of an index, or none where it is empty.
func given(value string) [][]byte {
	if value == "" {
		return nil
	}
	return [][]byte{[]byte(value)}
}

func givenHash(h id.KeyHash) [][]byte {
	if h == (id.KeyHash{}) {
		return nil
	}
	return [][]byte{h[:]}
}

func (k *Key) record() *clusterv1.VirtualKey {
	r := &clusterv1.VirtualKey{
		Hash: k.Hash[:], Name: k.Name, Alias: k.Alias, Models: k.Models,
		ExpiresUnixNano: record.Nanos(k.Expires), Blocked: k.Blocked, MetadataJson: k.Metadata,
		TeamId: string(k.Team), UserId: string(k.User), OrganizationId: string(k.Organization),
		Tags: k.Tags, Aliases: record.NamedValues(k.Aliases), AllowedRoutes: k.AllowedRoutes, KeyType: k.Type,
		Limits: k.Limits.record(), Prompts: k.Prompts.record(), Guardrails: k.Guardrails, RotationCount: k.Rotations, RotatedUnixNano: record.Nanos(k.Rotated),
		GraceUntilUnixNano: record.Nanos(k.GraceUntil), AliasInPlace: k.aliasInPlace, BoundedByUserId: string(k.BoundedBy),
	}
	if k.Successor != (id.KeyHash{}) {
		r.SuccessorHash = k.Successor[:]
	}
	if k.Origin != (id.KeyHash{}) {
		r.OriginHash = k.Origin[:]
	}
	if k.Parent != (id.KeyHash{}) {
		r.ParentHash = k.Parent[:]
	}
	return r
}

func decodeKey(_, value []byte) (*Key, error) {
	r := &clusterv1.VirtualKey{}
	if err := proto.Unmarshal(value, r); err != nil {
		return nil, err
	}
	hash, ok := hashOf(r.GetHash())
	if !ok {
		return nil, &fault.Error{Op: "keys", Kind: fault.Internal, Detail: "The record of a key has no whole hash."}
	}
	k := &Key{
		Alias: r.GetAlias(), Hash: hash, Name: r.GetName(), Models: r.GetModels(),
		Expires: record.FromNanos(r.GetExpiresUnixNano()), Blocked: r.GetBlocked(), Metadata: r.GetMetadataJson(),
		Team: id.Team(r.GetTeamId()), User: id.User(r.GetUserId()), Organization: id.Organization(r.GetOrganizationId()),
		Tags: r.GetTags(), Aliases: record.FromNamedValues(r.GetAliases()), AllowedRoutes: r.GetAllowedRoutes(), Type: r.GetKeyType(),
		Limits: limitsFrom(r.GetLimits()), Prompts: promptRulesFrom(r.GetPrompts()), Guardrails: r.GetGuardrails(), Rotations: r.GetRotationCount(), Rotated: record.FromNanos(r.GetRotatedUnixNano()),
		GraceUntil: record.FromNanos(r.GetGraceUntilUnixNano()), Meta: record.MetaOf(r.GetStamp()),
		aliasInPlace: r.GetAliasInPlace(), BoundedBy: id.User(r.GetBoundedByUserId()),
	}
	k.Successor, _ = hashOf(r.GetSuccessorHash())
	k.Origin, _ = hashOf(r.GetOriginHash())
	k.Parent, _ = hashOf(r.GetParentHash())
	var bad int
	if k.allowed, bad = access.Compile(k.Models); bad >= 0 {
		return nil, access.BadPattern("", bad)
	}
	return k, nil
}

// hashOf reads the bytes of a hash.
func hashOf(b []byte) (h id.KeyHash, ok bool) {
	return h, copy(h[:], b) == len(h) && len(b) == len(h)
}

// Routes returns what the key may call.
func (k *Key) Routes() access.Routes { return access.Routes{Type: k.Type, List: k.AllowedRoutes} }
