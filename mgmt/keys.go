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

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/record"
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

// The sizes of pages where the request does not say.
const (
	defaultPage      = 10
	defaultAliasPage = 50
)

const codeKeyNotFound = "key_not_found"

// GetKey shows one key: the one that asks, or one that it may see.
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
	v, err := operation.Current(ctx, s.state)
	if err != nil {
		return nil, err
	}
	if p.Master && hash == p.Hash {
		return nil, masterHasNoRecord()
	}
	k, err := visibleKey(v.Keys, nil, v.Keys.Rights(nil, p), keyName{"key", hash})
	if err != nil {
		return nil, err
	}
	return &gatewayv1.GetKeyResponse{Key: tokenOf(k.Hash), Info: keyRecord(k)}, nil
}

// GetKeys shows several keys. Those that are not there are left out, and so are
// those that are not for who asks to see.
func (s keyService) GetKeys(ctx context.Context, in *gatewayv1.GetKeysRequest) (*gatewayv1.GetKeysResponse, error) {
	hashes := make([]id.KeyHash, 0, len(in.GetKeys()))
	for i, text := range in.GetKeys() {
		h, err := reference(field.At("keys", i), text)
		if err != nil {
			return nil, err
		}
		hashes = append(hashes, h)
	}
	v, err := operation.Current(ctx, s.state)
	if err != nil {
		return nil, err
	}
	r, out := v.Keys.Rights(nil, operation.Principal(ctx)), &gatewayv1.GetKeysResponse{}
	for _, h := range hashes {
		if k, ok := v.Keys.Key(nil, h); ok && r.MaySeeKey(k) {
			out.Key = append(out.GetKey(), tokenOf(h))
			out.Info = append(out.GetInfo(), keyRecord(k))
		}
	}
	return out, nil
}

// CheckKeyHealth shows the key that asks. The master key has no record.
func (keyService) CheckKeyHealth(ctx context.Context, _ *gatewayv1.CheckKeyHealthRequest) (*gatewayv1.CheckKeyHealthResponse, error) {
	out := &gatewayv1.CheckKeyHealthResponse{Key: "healthy"}
	if k, ok := operation.View(ctx).Keys.Key(nil, operation.Principal(ctx).Hash); ok {
		out.Info = keyRecord(k)
	}
	return out, nil
}

// ListKeys shows a page of the keys that were made at run time.
func (s keyService) ListKeys(ctx context.Context, in *gatewayv1.ListKeysRequest) (*gatewayv1.ListKeysResponse, error) {
	q := tenancy.KeyQuery{
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
	q := tenancy.KeyQuery{Named: true, Search: in.GetSearch(), Team: id.Team(in.GetTeamId()), Sort: tenancy.KeysByAlias}
	list, total := keysPage(ctx, q, page, size)
	out := &gatewayv1.ListKeyAliasesResponse{TotalCount: uint32(total), CurrentPage: page, TotalPages: pages(total, size), Size: size}
	for _, k := range list {
		out.Aliases = append(out.GetAliases(), k.Alias)
	}
	return out, nil
}

// keysPage returns a page of the keys that a query finds and that who asks may see,
// and how many those are in all.
func keysPage(ctx context.Context, q tenancy.KeyQuery, page, size int32) (list []*tenancy.Key, total int) {
	set := operation.View(ctx).Keys
	if r := set.Rights(nil, operation.Principal(ctx)); !r.SeesAll() {
		q.May, q.Near = r.MaySeeKey, r.User()
	}
	q.Offset, q.Limit = int(page-1)*int(size), int(size)
	return set.Keys(q)
}

// keyValue is an entry of a list of keys.
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

// visibleKey returns a key that the caller may see; tx is nil for a request that changes
// nothing.
func visibleKey(set *tenancy.Set, tx *record.Txn, r *tenancy.Rights, of keyName) (*tenancy.Key, error) {
	k, _ := set.Key(tx, of.hash)
	return visible(r, k, r.MaySeeKey, missing{codeKeyNotFound, of.param, "key"})
}

// newestKeys shows keys that the caller may see, the newest first.
func newestKeys(all iter.Seq[*tenancy.Key], r *tenancy.Rights, limit int) []*gatewayv1.KeyRecord {
	list := slices.SortedFunc(keep(all, r.MaySeeKey), func(a, b *tenancy.Key) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), slices.Compare(a.Hash[:], b.Hash[:]))
	})
	var out []*gatewayv1.KeyRecord
	for _, k := range list[:min(len(list), limit)] {
		out = append(out, keyRecord(k))
	}
	return out
}

// reference reads a key's name in a parameter.
func reference(param, text string) (id.KeyHash, error) {
	h, err := tenancy.ParseReference(text)
	if err != nil {
		return h, field.Named(param, err)
	}
	return h, nil
}

func notFound(param, detail string) error {
	return &fault.Error{Kind: fault.NotFound, Code: codeKeyNotFound, Param: param, Detail: detail}
}

func masterHasNoRecord() error {
	return notFound("key", "The master key has no record. Name a key with the parameter key.")
}

// hexOf is the hash of a key as the API shows it, empty for a name of none.
func hexOf(text string) string {
	h, err := tenancy.ParseReference(text)
	if err != nil {
		return ""
	}
	return hex.EncodeToString(h[:])
}

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

// ResetKeySpend sets what a key has spent in its window. It is for those above the
// key: who could reset what bounds its own requests would have no bound.
func (s keyService) ResetKeySpend(ctx context.Context, in *gatewayv1.ResetKeySpendRequest) (*gatewayv1.ResetKeySpendResponse, error) {
	h, err := reference("key", in.GetKey())
	if err != nil {
		return nil, err
	}
	to, err := dollars("reset_to", in.GetResetTo())
	if err != nil {
		return nil, err
	}
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.ResetKeySpendResponse, error) {
		r := v.Keys.Rights(tx, operation.Principal(ctx))
		k, err := visibleKey(v.Keys, tx, r, keyName{"key", h})
		if err != nil {
			return nil, err
		}
		if err := mayResetSpend(v.Keys, tx, r, k); err != nil {
			return nil, err
		}
		account := id.Account{Kind: id.AccountKey, Owner: tokenOf(k.Account())}
		now, err := spentBy(ctx, s.ledger, account, tx.Time())
		if err != nil {
			return nil, err
		}
		if to.Total().Compare(now) > 0 {
			return nil, fault.Field("reset_to", "invalid_value", "reset_to must not be more than the key has spent, which is %s USD.", now)
		}
		tx.SetSpend(account, to, event.Amount{
			Resource: event.ResourceKey, ID: k.Hash.String(), Field: fieldSpend, Old: inDollars(now), New: inDollars(to),
		})
		terms := termsOf(v.Keys, tx, k.Limits)
		out := &gatewayv1.ResetKeySpendResponse{
			KeyHash: tokenOf(k.Hash), Spend: inDollars(to), PreviousSpend: inDollars(now), MaxBudget: dollarsOrNull(terms.MaxBudget),
		}
		if at, ok := tenancy.NextReset(terms.BudgetDuration, tx.Time()); ok {
			out.BudgetResetAt = timestamppb.New(at)
		}
		return out, nil
	})
}

// mayResetSpend refuses who is not above a key.
func mayResetSpend(set *tenancy.Set, tx *record.Txn, r *tenancy.Rights, k *tenancy.Key) error {
	if r.Admin() {
		return nil
	}
	if t, ok := set.Team(tx, k.Team); ok && k.Team != "" {
		return r.MayManageTeam(t)
	}
	if o, ok := set.Organization(tx, k.Organization); ok && k.Organization != "" {
		return r.MayManageOrganization(o)
	}
	return notYours("key", "Only a proxy_admin may reset what this key has spent.")
}

// accountOf is the key whose account is meant by the hash of one: by any that it has
// ever had, as far as that is known still.
func accountOf(ctx context.Context, l Ledger, set *tenancy.Set, h id.KeyHash) (id.KeyHash, error) {
	if k, ok := set.Key(nil, h); ok {
		return k.Account(), nil
	}
	return l.KeyAccount(ctx, h)
}

// shownOf is the hash that reports call the key of an account by: the one that it has
// now, or where it is gone that of the account.
func shownOf(set *tenancy.Set, account id.KeyHash) id.KeyHash {
	if k, ok := set.OfAccount(account); ok {
		return k.Hash
	}
	return account
}

// spentBy is what an account has spent in the window that holds a time.
func spentBy(ctx context.Context, l Ledger, a id.Account, now time.Time) (money.Total, error) {
	state, err := l.Account(ctx, a)
	if err != nil {
		return money.Total{}, err
	}
	return windowAt(state, now), nil
}
