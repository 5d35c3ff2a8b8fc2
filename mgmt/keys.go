package mgmt

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/keys"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// Bounds of a key's record, which every node keeps in memory.
const (
	maxAlias     = 256
	maxMetadata  = 64 << 10
	maxKeyModels = 1000
	maxModelName = 256
	maxDeleted   = 1000 // keys in one request
)

// The bounds of a page.
const (
	defaultPage = 10
	maxPage     = 100
)

const codeKeyNotFound = "key_not_found"

type keyService struct {
	gatewayv1.UnimplementedKeyServiceServer
	state Keys
	view  func() *cluster.View
}

// GenerateKey makes a key. Nothing but its hash is kept.
func (s keyService) GenerateKey(ctx context.Context, in *gatewayv1.GenerateKeyRequest) (*gatewayv1.GenerateKeyResponse, error) {
	k, secret, err := newKey(in, time.Now())
	if err != nil {
		return nil, err
	}
	made, err := s.state.CreateKey(ctx, principal(ctx).Alias, k)
	if err != nil {
		return nil, err
	}
	show(ctx, s.view())
	record, err := keyRecord(&made)
	if err != nil {
		return nil, err
	}
	return &gatewayv1.GenerateKeyResponse{
		Key: secret, KeyName: record.GetKeyName(), Token: record.GetToken(), TokenId: record.GetToken(),
		KeyAlias: record.GetKeyAlias(), Models: record.GetModels(), Expires: record.GetExpires(), Blocked: record.GetBlocked(),
		Metadata: record.GetMetadata(), CreatedAt: record.GetCreatedAt(), CreatedBy: record.GetCreatedBy(),
	}, nil
}

// newKey checks a request and makes the key, whose text is the second result.
func newKey(in *gatewayv1.GenerateKeyRequest, now time.Time) (keys.Key, string, error) {
	k := keys.Key{Alias: in.GetKeyAlias(), Models: in.GetModels(), Blocked: in.GetBlocked()}
	if err := checkAlias("key_alias", k.Alias); err != nil {
		return k, "", err
	}
	if err := checkModels(k.Models); err != nil {
		return k, "", err
	}
	if in.Duration != nil {
		d, err := keys.ParseDuration("duration", in.GetDuration())
		if err != nil {
			return k, "", err
		}
		k.Expires = d.After(now)
	}
	if in.GetMetadata() != nil {
		text, err := json.Marshal(in.GetMetadata().AsMap(), json.Deterministic(true))
		if err != nil {
			return k, "", fault.Field("metadata", "invalid_value", "metadata holds a number that JSON cannot write.")
		}
		if len(text) > maxMetadata {
			return k, "", fault.Field("metadata", "too_long", "metadata is larger than %d bytes; keep large things elsewhere.", maxMetadata)
		}
		k.Metadata = string(text)
	}
	secret := in.GetKey()
	if in.Key == nil {
		made, _, err := keys.Generate(rand.Reader)
		if err != nil {
			return k, "", err
		}
		secret = made.Reveal()
	} else if err := keys.CheckCustom(secret); err != nil {
		return k, "", err
	}
	k.Name, k.Hash = keys.DisplayName(secret), id.HashKey(secret)
	return k, secret, nil
}

func checkAlias(param, alias string) error {
	if len(alias) > maxAlias || strings.TrimSpace(alias) != alias || strings.ContainsFunc(alias, isControl) {
		return fault.Field(param, "invalid_value", "%s is longer than %d bytes, begins or ends with a space, or holds a control character.", param, maxAlias)
	}
	return nil
}

// isControl reports whether a character would break a line of a log.
func isControl(r rune) bool { return r < ' ' || r == 0x7f }

func checkModels(models []string) error {
	if len(models) > maxKeyModels {
		return fault.Field("models", "too_long", "models has more than %d entries; use a pattern such as openai/*.", maxKeyModels)
	}
	for i, m := range models {
		param := "models[" + strconv.Itoa(i) + "]"
		switch {
		case m == "" || len(m) > maxModelName || strings.ContainsFunc(m, isControl):
			return fault.Field(param, "invalid_value", "%s is empty, longer than %d bytes, or holds a control character.", param, maxModelName)
		case strings.Count(m, "*") > 1:
			return fault.Field(param, "invalid_value", "%s has more than one star; a pattern such as openai/* has one.", param)
		}
	}
	return nil
}

// GetKey shows one key: any to an admin, to others their own.
func (s keyService) GetKey(ctx context.Context, in *gatewayv1.GetKeyRequest) (*gatewayv1.GetKeyResponse, error) {
	p := principal(ctx)
	hash := p.Hash
	if in.GetKey() != "" {
		h, err := reference("key", in.GetKey())
		if err != nil {
			return nil, err
		}
		hash = h
	}
	if !p.Master && hash != p.Hash { // also where there is no such key: which there are is not for them to know
		return nil, fault.New(fault.Denied, "insufficient_permissions", "This API key may see itself only.")
	}
	if p.Master && hash == p.Hash {
		return nil, notFound("key", "The master key has no record. Name a key with the parameter key.")
	}
	k, ok, err := s.state.Key(ctx, hash)
	if err != nil {
		return nil, err
	}
	show(ctx, s.view())
	if !ok {
		return nil, notFound("key", "There is no such key.")
	}
	record, err := keyRecord(&k)
	return &gatewayv1.GetKeyResponse{Key: record.GetToken(), Info: record}, err
}

// ListKeys shows a page of the keys that were made at run time.
func (s keyService) ListKeys(ctx context.Context, in *gatewayv1.ListKeysRequest) (*gatewayv1.ListKeysResponse, error) {
	page, size := int64(1), int64(defaultPage)
	if in.Page != nil {
		page = int64(in.GetPage())
	}
	if in.Size != nil {
		size = int64(in.GetSize())
	}
	switch {
	case page < 1:
		return nil, fault.Field("page", "invalid_value", "page must be at least 1.")
	case size < 1 || size > maxPage:
		return nil, fault.Field("size", "invalid_value", "size must be from 1 to %d.", maxPage)
	}
	list, total, err := s.page(ctx, in.GetKeyAlias(), int((page-1)*size), int(size))
	if err != nil {
		return nil, err
	}
	show(ctx, s.view())
	out := &gatewayv1.ListKeysResponse{
		Keys: &structpb.ListValue{}, TotalCount: uint32(total), CurrentPage: int32(page),
		TotalPages: uint32((int64(total) + size - 1) / size),
	}
	for i := range list {
		v, err := keyValue(&list[i], in)
		if err != nil {
			return nil, err
		}
		out.Keys.Values = append(out.GetKeys().GetValues(), v)
	}
	return out, nil
}

// page returns keys, or the one of an alias.
func (s keyService) page(ctx context.Context, alias string, offset, limit int) ([]keys.Key, int, error) {
	if alias == "" {
		return s.state.Keys(ctx, offset, limit)
	}
	k, ok, err := s.state.KeyByAlias(ctx, alias)
	switch {
	case err != nil || !ok:
		return nil, 0, err
	case offset > 0:
		return nil, 1, nil
	}
	return []keys.Key{k}, 1, nil
}

// keyValue is an entry of a list of keys.
func keyValue(k *keys.Key, in *gatewayv1.ListKeysRequest) (*structpb.Value, error) {
	if !in.GetReturnFullObject() {
		return structpb.NewStringValue(hex.EncodeToString(k.Hash[:])), nil
	}
	record, err := keyRecord(k)
	if err != nil {
		return nil, err
	}
	return free(record)
}

// free is a message as free JSON.
func free(m proto.Message) (*structpb.Value, error) {
	text, err := jsonForm().Marshal(m)
	if err != nil {
		return nil, err
	}
	out := &structpb.Value{}
	return out, protojson.Unmarshal(text, out)
}

// DeleteKeys deletes keys. From its answer on no connected node accepts them.
func (s keyService) DeleteKeys(ctx context.Context, in *gatewayv1.DeleteKeysRequest) (*gatewayv1.DeleteKeysResponse, error) {
	hashes, err := s.named(ctx, in)
	if err != nil {
		return nil, err
	}
	if err := s.state.DeleteKeys(ctx, principal(ctx).Alias, hashes); err != nil {
		return nil, err
	}
	show(ctx, s.view())
	out := &gatewayv1.DeleteKeysResponse{}
	for _, h := range hashes {
		out.DeletedKeys = append(out.GetDeletedKeys(), hex.EncodeToString(h[:]))
	}
	return out, nil
}

// named returns the hashes of the keys that a request names, each once.
func (s keyService) named(ctx context.Context, in *gatewayv1.DeleteKeysRequest) ([]id.KeyHash, error) {
	count := len(in.GetKeys()) + len(in.GetKeyAliases())
	switch {
	case count == 0:
		return nil, fault.Field("keys", "missing_required_parameter", "Name the keys to delete, in keys or in key_aliases.")
	case len(in.GetKeys()) > 0 && len(in.GetKeyAliases()) > 0:
		return nil, fault.Field("key_aliases", "invalid_value", "Name the keys in keys or in key_aliases, not in both.")
	case count > maxDeleted:
		return nil, fault.Field("keys", "too_long", "One request deletes at most %d keys.", maxDeleted)
	}
	hashes := make([]id.KeyHash, 0, count)
	add := func(h id.KeyHash) {
		if !slices.Contains(hashes, h) {
			hashes = append(hashes, h)
		}
	}
	for i, text := range in.GetKeys() {
		h, err := reference("keys["+strconv.Itoa(i)+"]", text)
		if err != nil {
			return nil, err
		}
		add(h)
	}
	for i, alias := range in.GetKeyAliases() {
		param := "key_aliases[" + strconv.Itoa(i) + "]"
		k, ok, err := s.state.KeyByAlias(ctx, alias)
		if err != nil {
			return nil, err
		}
		if !ok || alias == "" {
			return nil, notFound(param, "There is no key of that alias. No key was deleted.")
		}
		add(k.Hash)
	}
	return hashes, nil
}

// reference reads a key's name in a parameter.
func reference(param, text string) (id.KeyHash, error) {
	h, err := keys.ParseReference(text)
	if err != nil {
		e := *fault.From(err)
		e.Param = param
		return h, &e
	}
	return h, nil
}

func notFound(param, detail string) error {
	return &fault.Error{Kind: fault.NotFound, Code: codeKeyNotFound, Param: param, Detail: detail}
}

// keyRecord is a key as the API shows it.
func keyRecord(k *keys.Key) (*gatewayv1.KeyRecord, error) {
	out := &gatewayv1.KeyRecord{
		Token: hex.EncodeToString(k.Hash[:]), KeyName: k.Name, KeyAlias: k.Alias, Models: k.Models, Blocked: k.Blocked,
		Expires: moment(k.Expires), CreatedAt: moment(k.CreatedAt), CreatedBy: k.CreatedBy, UpdatedAt: moment(k.UpdatedAt),
		Metadata: &structpb.Struct{},
	}
	if k.Metadata == "" {
		return out, nil
	}
	return out, protojson.Unmarshal([]byte(k.Metadata), out.GetMetadata())
}

// moment is a time as the API shows it: null for none.
func moment(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}
