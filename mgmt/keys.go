package mgmt

import (
	"cmp"
	"context"
	"encoding/hex"
	"iter"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
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

// span is the page of a list that is asked for, from 1, and how many items it has.
func span(page, size *int32, otherwise int32) (number, items int32) {
	number, items = 1, otherwise
	if page != nil {
		number = *page
	}
	if size != nil {
		items = *size
	}
	return number, items
}

// pages is how many pages a list has.
func pages(total int, size int32) uint32 { return uint32((total + int(size) - 1) / int(size)) }

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
	k, ok := set.Key(tx, of.hash)
	if ok && r.MaySeeKey(k) {
		return k, nil
	}
	return nil, unseen(r, ok, codeKeyNotFound, of.param, "key")
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
