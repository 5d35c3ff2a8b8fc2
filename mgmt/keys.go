package mgmt

import (
	"cmp"
	"context"
	"encoding/hex"
	"iter"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/modelgateway/modelgateway/cluster/access"
	"github.com/modelgateway/modelgateway/cluster/credential"
	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/listing"
	"github.com/modelgateway/modelgateway/cluster/period"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/mgmt/field"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	"github.com/modelgateway/modelgateway/mgmt/rest"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

type keyService struct {
	gatewayv1.UnimplementedKeyServiceServer
	service
}

// The sizes of pages unless the request sets them.
const (
	defaultPage      = 10
	defaultAliasPage = 50
)

const codeKeyNotFound = "key_not_found"

// GetKey shows one key: that of the caller, or one that the caller may see.
func (s keyService) GetKey(ctx context.Context, in *gatewayv1.GetKeyRequest) (*gatewayv1.GetKeyResponse, error) {
	p := operation.Principal(ctx)
	hash := p.Hash
	for _, given := range []struct{ param, text string }{{"key", in.GetKey()}, {"key_hash", in.GetKeyHash()}} {
		if given.text == "" {
			continue
		}
		h, err := reference(given.param, given.text)
		if err != nil {
			return nil, err
		}
		if given.param == "key_hash" && in.GetKey() != "" && h != hash {
			return nil, fault.Field("key_hash", "invalid_value", "key and key_hash name two keys. Send one of them.")
		}
		hash = h
	}
	c, err := current(ctx, s.state)
	if err != nil {
		return nil, err
	}
	if p.Master && hash == p.Hash {
		return nil, masterHasNoRecord()
	}
	k, err := c.key(keyName{"key", hash})
	if err != nil {
		return nil, err
	}
	return &gatewayv1.GetKeyResponse{Key: tokenOf(k.Hash), Info: keyRecord(k)}, nil
}

// GetKeys shows several keys. It leaves out keys that do not exist and keys that the caller
// may not see.
func (s keyService) GetKeys(ctx context.Context, in *gatewayv1.GetKeysRequest) (*gatewayv1.GetKeysResponse, error) {
	names, err := references("keys", in.GetKeys())
	if err != nil {
		return nil, err
	}
	c, err := current(ctx, s.state)
	if err != nil {
		return nil, err
	}
	out := &gatewayv1.GetKeysResponse{}
	for _, of := range names {
		if k, ok := c.set.Key(nil, of.hash); ok && c.rights.MaySeeKey(k) {
			out.Key = append(out.GetKey(), tokenOf(of.hash))
			out.Info = append(out.GetInfo(), keyRecord(k))
		}
	}
	return out, nil
}

// CheckKeyHealth shows the caller's key. The master key has no record.
func (keyService) CheckKeyHealth(ctx context.Context, _ *gatewayv1.CheckKeyHealthRequest) (*gatewayv1.CheckKeyHealthResponse, error) {
	out := &gatewayv1.CheckKeyHealthResponse{Key: "healthy"}
	if k, ok := operation.View(ctx).Keys.Key(nil, operation.Principal(ctx).Hash); ok {
		out.Info = keyRecord(k)
	}
	return out, nil
}

// ListKeys shows a page of the keys that were created at run time.
func (s keyService) ListKeys(ctx context.Context, in *gatewayv1.ListKeysRequest) (*gatewayv1.ListKeysResponse, error) {
	q := listing.KeyQuery{
		Alias: in.GetKeyAlias(), Search: in.GetSearch(), User: id.User(in.GetUserId()), Team: id.Team(in.GetTeamId()),
		Organization: id.Organization(in.GetOrganizationId()), Status: in.GetStatus(), Now: time.Now(),
		Sort: in.GetSortBy(), Descending: in.GetSortOrder() != "asc",
	}
	if in.GetKeyHash() != "" {
		h, err := reference("key_hash", in.GetKeyHash())
		if err != nil {
			return nil, err
		}
		q.Hash = h
	}
	page, size := span(in.Page, in.Size, defaultPage)
	list, total := keysPage(ctx, q, page, size)
	out := &gatewayv1.ListKeysResponse{
		Keys: &structpb.ListValue{}, TotalCount: uint32(total), CurrentPage: page, TotalPages: pages(total, size),
	}
	for _, k := range list {
		value, err := s.keyValue(ctx, k, in)
		if err != nil {
			return nil, err
		}
		out.Keys.Values = append(out.GetKeys().GetValues(), value)
	}
	return out, nil
}

// ListKeyAliases shows a page of the aliases of those keys.
func (keyService) ListKeyAliases(ctx context.Context, in *gatewayv1.ListKeyAliasesRequest) (*gatewayv1.ListKeyAliasesResponse, error) {
	page, size := span(in.Page, in.Size, defaultAliasPage)
	q := listing.KeyQuery{Named: true, Search: in.GetSearch(), Team: id.Team(in.GetTeamId()), Sort: listing.KeysByAlias}
	list, total := keysPage(ctx, q, page, size)
	out := &gatewayv1.ListKeyAliasesResponse{TotalCount: uint32(total), CurrentPage: page, TotalPages: pages(total, size), Size: size}
	out.Aliases = shownAll(slices.Values(list), func(k *tenancy.Key) string { return k.Alias })
	return out, nil
}

// keysPage returns a page of the keys that a query finds and that the caller may see, and the
// number of all of them.
func keysPage(ctx context.Context, q listing.KeyQuery, page, size int32) (list []*tenancy.Key, total int) {
	c := viewer(ctx)
	if !c.rights.SeesAll() {
		q.May, q.Near = c.rights.MaySeeKey, c.rights.User()
	}
	q.Offset, q.Limit = int(page-1)*int(size), int(size)
	return listing.Keys(c.set, q)
}

// keyValue returns an entry of a list of keys.
func (s keyService) keyValue(ctx context.Context, k *tenancy.Key, in *gatewayv1.ListKeysRequest) (*structpb.Value, error) {
	if !in.GetReturnFullObject() {
		return structpb.NewStringValue(tokenOf(k.Hash)), nil
	}
	shown := keyRecord(k)
	err := fillSpend(ctx, s.ledger, shown)
	return rest.Free(shown), err
}

// keyName is a key as a field of a request names it.
type keyName struct {
	param string
	hash  id.KeyHash
}

// key returns a key that the caller may see.
func (c caller) key(of keyName) (*tenancy.Key, error) {
	k, _ := c.set.Key(c.tx, of.hash)
	return visible(c.rights, k, c.rights.MaySeeKey, missing{codeKeyNotFound, of.param, "key"})
}

// newestKeys shows keys that the caller may see, the newest first.
func (c caller) newestKeys(all iter.Seq[*tenancy.Key], limit int) []*gatewayv1.KeyRecord {
	list := slices.SortedFunc(keep(all, c.rights.MaySeeKey), func(a, b *tenancy.Key) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), slices.Compare(a.Hash[:], b.Hash[:]))
	})
	return shownAll(slices.Values(list[:min(len(list), limit)]), keyRecord)
}

// reference reads a key's name in a parameter.
func reference(param, text string) (id.KeyHash, error) {
	h, err := credential.ParseReference(text)
	if err != nil {
		return h, field.Named(param, err)
	}
	return h, nil
}

// references reads a list of names of keys.
func references(list string, texts []string) ([]keyName, error) {
	names := make([]keyName, len(texts))
	for i, text := range texts {
		h, err := reference(field.At(list, i), text)
		if err != nil {
			return nil, err
		}
		names[i] = keyName{field.At(list, i), h}
	}
	return names, nil
}

func notFound(param, detail string) error {
	return &fault.Error{Kind: fault.NotFound, Code: codeKeyNotFound, Param: param, Detail: detail}
}

func masterHasNoRecord() error {
	return notFound("key", "The master key has no record. Name a key with the parameter key.")
}

// keyHash reads a parameter that must be the hash of a key.
func keyHash(param, text string) (id.KeyHash, error) {
	h, ok := id.ParseKeyHash(text)
	if !ok {
		return h, fault.Field(param, "invalid_value", "%s must be the key's SHA-256: 64 hex digits, with or without sha256: before them.", param)
	}
	return h, nil
}

// hexOf returns the hash of a key in the form of the API; empty for a text that names no key.
func hexOf(text string) string {
	h, err := credential.ParseReference(text)
	if err != nil {
		return ""
	}
	return hex.EncodeToString(h[:])
}

// keyRecord returns a key in the form of the API.
func keyRecord(k *tenancy.Key) *gatewayv1.KeyRecord {
	now := time.Now()
	token := tokenOf(k.Hash)
	out := &gatewayv1.KeyRecord{
		Key: token, Token: token, TokenId: token, KeyName: k.Name, KeyAlias: textOrNull(k.Alias), Models: k.Models,
		Expires: moment(k.Expires), Blocked: k.Blocked, Metadata: showMetadata(k.Metadata),
		TeamId: textOrNull(string(k.Team)), UserId: textOrNull(string(k.User)), OrganizationId: textOrNull(string(k.Organization)),
		Tags: k.Tags, Aliases: k.Aliases, AllowedRoutes: k.AllowedRoutes, KeyType: cmp.Or(k.Type, typeDefault),
		RotationCount: k.Rotations, LastRotationAt: moment(k.Rotated), Status: k.Status(now),
		AccountId: tokenOf(k.Account()), BoundedByUserId: textOrNull(string(k.BoundedBy)),
	}
	if k.Parent != (id.KeyHash{}) {
		out.ParentAccountId = textOrNull(tokenOf(k.Parent))
	}
	if k.GraceUntil.After(now) {
		out.GraceUntil = moment(k.GraceUntil)
	}
	showPromptRules(out, k.Prompts)
	showGuardrails(out, k.Guardrails)
	showLimits(out, k.Limits)
	showMeta(out, k.Meta)
	return out
}

// typeDefault is the API's name for a key that may do all that its role allows.
const typeDefault = "default"

// moment returns a time in the form of the API; null for the zero time.
func moment(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

// patchKey returns a key with the changes of a request at a time. A key that moves to another
// team moves to the team's organization, too.
func patchKey(k tenancy.Key, m proto.Message, clears []string, now time.Time) (tenancy.Key, error) {
	before, p := k, patchOf(m, clears, limitFields(ruleFields("models", "duration", "key_alias", "metadata", "team_id", "user_id", "organization_id",
		"tags", "aliases", "allowed_routes", "key_type")...)...)
	k.Alias = p.text("key_alias", k.Alias)
	k.Models = p.list("models", k.Models)
	k.Metadata = p.metadata(k.Metadata)
	k.Blocked = p.blocked(k.Blocked)
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
		k.Type = access.TypeDefault
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
	k.Prompts = p.prompts(k.Prompts)
	k.Guardrails = p.list(tenancy.FieldGuardrails, k.Guardrails)
	k.Limits = p.limits(k.Limits)
	return k, p.err
}

// after returns the end of a duration that begins now.
func after(param, text string, now time.Time) (time.Time, error) {
	d, err := period.Parse(param, text)
	if err != nil {
		return time.Time{}, err
	}
	return d.After(now), nil
}

// ResetKeySpend sets what a key has spent in its window. It is for callers above the key: the
// limits of a key would not bind a caller that could reset them.
func (s keyService) ResetKeySpend(ctx context.Context, in *gatewayv1.ResetKeySpendRequest) (*gatewayv1.ResetKeySpendResponse, error) {
	h, err := reference("key", in.GetKey())
	if err != nil {
		return nil, err
	}
	to, err := dollars("reset_to", in.GetResetTo())
	if err != nil {
		return nil, err
	}
	return change(ctx, s.state, func(c caller) (*gatewayv1.ResetKeySpendResponse, error) {
		k, err := c.key(keyName{"key", h})
		if err != nil {
			return nil, err
		}
		if err := c.mayResetSpend(k); err != nil {
			return nil, err
		}
		account := id.Account{Kind: id.AccountKey, Owner: tokenOf(k.Account())}
		state, err := s.ledger.Account(ctx, account)
		if err != nil {
			return nil, err
		}
		now := windowAt(state, c.tx.Time())
		if to.Total().Compare(now) > 0 {
			return nil, fault.Field("reset_to", "invalid_value", "reset_to must not be more than the key has spent, which is %s USD.", now)
		}
		c.tx.SetSpend(account, to, event.Amount{
			Resource: event.ResourceKey, ID: k.Hash.String(), Field: fieldSpend, Old: inDollars(now), New: inDollars(to),
		})
		terms := termsOf(c.set, c.tx, k.Limits)
		out := &gatewayv1.ResetKeySpendResponse{
			KeyHash: tokenOf(k.Hash), Spend: inDollars(to), PreviousSpend: inDollars(now), MaxBudget: dollarsOrNull(terms.MaxBudget),
		}
		if at, ok := period.NextReset(terms.BudgetDuration, c.tx.Time()); ok {
			out.BudgetResetAt = timestamppb.New(at)
		}
		return out, nil
	})
}

// mayResetSpend denies callers that are not above a key.
func (c caller) mayResetSpend(k *tenancy.Key) error {
	if c.rights.Admin() {
		return nil
	}
	if t, ok := c.set.Team(c.tx, k.Team); ok && k.Team != "" {
		return c.rights.MayManageTeam(t)
	}
	if o, ok := c.set.Organization(c.tx, k.Organization); ok && k.Organization != "" {
		return c.rights.MayManageOrganization(o)
	}
	return notYours("key", "Only a proxy_admin may reset what this key has spent.")
}

// accountOf returns the key whose account belongs to a hash, which may be any hash that the key
// had, as far as it is still known.
func accountOf(ctx context.Context, l Ledger, set *tenancy.Set, h id.KeyHash) (id.KeyHash, error) {
	if k, ok := set.Key(nil, h); ok {
		return k.Account(), nil
	}
	return l.KeyAccount(ctx, h)
}

// shownOf returns the hash by which reports name the key of an account: its present one, or
// that of the account if the key was deleted.
func shownOf(set *tenancy.Set, account id.KeyHash) id.KeyHash {
	if k, ok := set.OfAccount(account); ok {
		return k.Hash
	}
	return account
}
