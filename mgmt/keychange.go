package mgmt

import (
	"context"
	"crypto/rand"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/modelgateway/modelgateway/cluster/credential"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/rights"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/mgmt/field"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// UpdateKey changes the fields in the request.
func (s keyService) UpdateKey(ctx context.Context, in *gatewayv1.UpdateKeyRequest) (*gatewayv1.KeyRecord, error) {
	return changed(ctx, s.state, keyRecord, func(c caller) (*tenancy.Key, error) { return s.changeOf(c).update(in) })
}

// BlockKey blocks a key: the gateway rejects requests with it.
func (s keyService) BlockKey(ctx context.Context, in *gatewayv1.BlockKeyRequest) (*gatewayv1.KeyRecord, error) {
	return changed(ctx, s.state, keyRecord, func(c caller) (*tenancy.Key, error) {
		return s.changeOf(c).switched(surface.PermitBlockKey, in.GetKey(), func(k *tenancy.Key) { k.Blocked = true })
	})
}

// UnblockKey unblocks a key.
func (s keyService) UnblockKey(ctx context.Context, in *gatewayv1.UnblockKeyRequest) (*gatewayv1.KeyRecord, error) {
	return changed(ctx, s.state, keyRecord, func(c caller) (*tenancy.Key, error) {
		return s.changeOf(c).switched(surface.PermitUnblockKey, in.GetKey(), func(k *tenancy.Key) { k.Blocked = false })
	})
}

// BulkUpdateKeys changes several keys in one transaction. The response lists those that
// cannot be changed.
func (s keyService) BulkUpdateKeys(ctx context.Context, in *gatewayv1.BulkUpdateKeysRequest) (*gatewayv1.BulkUpdateKeysResponse, error) {
	// The view that decides what fails is at least as new as the request, also if nothing is
	// left to commit.
	if _, err := s.state.Current(ctx); err != nil {
		return nil, err
	}
	return change(ctx, s.state, func(by caller) (*gatewayv1.BulkUpdateKeysResponse, error) {
		out, c := &gatewayv1.BulkUpdateKeysResponse{TotalRequested: uint32(len(in.GetKeys()))}, s.changeOf(by)
		for _, one := range in.GetKeys() {
			made, err := c.update(one)
			switch f := fault.From(err); {
			case f == nil:
				out.SuccessfulUpdates = append(out.GetSuccessfulUpdates(), keyRecord(made))
			case f.Kind == fault.Internal:
				return nil, err
			default:
				out.FailedUpdates = append(out.GetFailedUpdates(), &gatewayv1.FailedKeyUpdate{Key: hexOf(one.GetKey()), FailedReason: f.Message()})
			}
		}
		return out, nil
	})
}

// keyChange changes keys in one transaction.
type keyChange struct {
	caller
	batch *tenancy.KeyBatch
	rules *rights.KeyRules
}

func (s keyService) changeOf(c caller) keyChange {
	return keyChange{caller: c, rules: s.rules, batch: c.set.KeyBatch(c.tx)}
}

// begin returns the key that an operation of the caller changes, and the revision that the key
// must have; 0 for any.
func (c keyChange) begin(op string, of keyName, ifRevision float64) (*tenancy.Key, uint64, error) {
	revision, err := field.Whole(field.IfRevision, ifRevision)
	if err != nil {
		return nil, 0, err
	}
	k, err := c.key(of)
	if err != nil {
		return nil, 0, err
	}
	return k, uint64(revision), c.rights.MayChangeKey(op, k)
}

// update makes one change. A change that fails has written nothing.
func (c keyChange) update(in *gatewayv1.UpdateKeyRequest) (*tenancy.Key, error) {
	h, err := reference("key", in.GetKey())
	if err != nil {
		return nil, err
	}
	before, revision, err := c.begin(surface.PermitUpdateKey, keyName{"key", h}, in.GetIfRevision())
	if err != nil {
		return nil, err
	}
	k, err := c.patched(before, in, in.GetClear())
	if err != nil {
		return nil, err
	}
	return c.batch.Update(k, revision)
}

// patched returns a key with the changes of a request. It denies changes that the caller may
// not make.
func (c keyChange) patched(before *tenancy.Key, m proto.Message, clears []string) (tenancy.Key, error) {
	k, err := patchKey(*before, m, clears, c.tx.Time())
	if err != nil || !changes(m, clears) {
		return k, err
	}
	k = c.set.Completed(c.tx, k)
	if k, err = c.withIDs(*before, k); err != nil {
		return k, err
	}
	if err := c.rights.MayChangeKey(surface.PermitUpdateKey, before); err != nil {
		return k, err
	}
	c.rights.SetBoundedBy(surface.PermitUpdateKey, before, &k)
	if err := c.rights.MayGrantKey(surface.PermitUpdateKey, &k); err != nil || k.Team == before.Team {
		return k, err
	}
	return k, c.rights.MayMakeKey(c.rules, &k) // moving a key must not bypass the rules
}

// changes reports whether a request changes anything of the key that it names.
func changes(m proto.Message, clears []string) bool {
	found := len(clears) > 0
	m.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		switch f.Name() {
		case "key", "new_key", "grace_period", field.Clear, field.IfRevision:
		default:
			found = true
		}
		return !found
	})
	return found
}

// switched changes one field of a key.
func (c keyChange) switched(op, text string, set func(k *tenancy.Key)) (*tenancy.Key, error) {
	h, err := reference("key", text)
	if err != nil {
		return nil, err
	}
	before, _, err := c.begin(op, keyName{"key", h}, 0)
	if err != nil {
		return nil, err
	}
	k := *before
	set(&k)
	if err := c.rights.MayGrantKey(op, &k); err != nil {
		return nil, err
	}
	return c.batch.Update(k, 0)
}

// DeleteKeys deletes keys, all of them or none.
func (s keyService) DeleteKeys(ctx context.Context, in *gatewayv1.DeleteKeysRequest) (*gatewayv1.DeleteKeysResponse, error) {
	switch {
	case len(in.GetKeys())+len(in.GetKeyAliases()) == 0:
		return nil, fault.Field("keys", "missing_required_parameter", "Name the keys to delete, in keys or in key_aliases.")
	case len(in.GetKeys()) > 0 && len(in.GetKeyAliases()) > 0:
		return nil, fault.Field("key_aliases", "invalid_value", "Name the keys in keys or in key_aliases, not in both.")
	}
	return change(ctx, s.state, func(by caller) (*gatewayv1.DeleteKeysResponse, error) {
		c := s.changeOf(by)
		names, err := c.deleted(in)
		if err != nil {
			return nil, err
		}
		var hashes []id.KeyHash
		for _, of := range names {
			if slices.Contains(hashes, of.hash) {
				continue
			}
			if _, _, err := c.begin(surface.PermitDeleteKeys, of, 0); err != nil {
				return nil, err
			}
			hashes = append(hashes, of.hash)
		}
		return &gatewayv1.DeleteKeysResponse{DeletedKeys: shownAll(slices.Values(hashes), tokenOf)}, c.set.DeleteKeys(c.tx, hashes)
	})
}

// deleted returns the keys that a request names.
func (c keyChange) deleted(in *gatewayv1.DeleteKeysRequest) ([]keyName, error) {
	names, err := references("keys", in.GetKeys())
	if err != nil {
		return nil, err
	}
	for i, alias := range in.GetKeyAliases() {
		h, err := c.aliased(field.At("key_aliases", i), alias)
		if err != nil {
			return nil, err
		}
		names = append(names, keyName{field.At("key_aliases", i), h})
	}
	return names, nil
}

// aliased returns the key of an alias among those that the caller may see. Keys of two
// places may have one alias; a caller that sees both has to name the key itself.
func (c keyChange) aliased(param, alias string) (found id.KeyHash, err error) {
	n := 0
	for k := range c.set.ByAlias(alias) {
		if !c.rights.MaySeeKey(k) {
			continue
		}
		if n++; n > 1 {
			return found, &fault.Error{Kind: fault.Conflict, Code: "ambiguous_alias", Param: param, Detail: "Several keys have that alias. Find them with /key/list?key_alias=, and name them in keys. No key was deleted."}
		}
		found = k.Hash
	}
	switch {
	case n == 1:
		return found, nil
	case !c.rights.SeesAll():
		return found, notYours(param, "This API key may not see that key.")
	}
	return found, notFound(param, "There is no key of that alias. No key was deleted.")
}

// GenerateKey creates a key. The gateway keeps only its hash.
func (s keyService) GenerateKey(ctx context.Context, in *gatewayv1.GenerateKeyRequest) (*gatewayv1.KeyRecord, error) {
	return s.generate(ctx, surface.PermitGenerateKey, in)
}

// GenerateServiceAccountKey creates a key of a team that belongs to no user.
func (s keyService) GenerateServiceAccountKey(ctx context.Context, in *gatewayv1.GenerateKeyRequest) (*gatewayv1.KeyRecord, error) {
	switch {
	case in.TeamId == nil:
		return nil, fault.Field("team_id", "missing_required_parameter", "team_id is missing: a service account's key belongs to a team.")
	case in.UserId != nil:
		return nil, fault.Field("user_id", "invalid_value", "A service account's key belongs to no user. Leave user_id out, or use /key/generate.")
	}
	return s.generate(ctx, surface.PermitGenerateServiceAccountKey, in)
}

func (s keyService) generate(ctx context.Context, op string, in *gatewayv1.GenerateKeyRequest) (*gatewayv1.KeyRecord, error) {
	secret, err := keyText("key", in.Key)
	if err != nil {
		return nil, err
	}
	return changed(ctx, s.state, shownOnce(secret), func(c caller) (*tenancy.Key, error) {
		k, err := patchKey(tenancy.Key{Hash: id.HashKey(secret), Name: credential.DisplayName(secret)}, in, nil, c.tx.Time())
		if err != nil {
			return nil, err
		}
		if in.UserId == nil && op == surface.PermitGenerateKey {
			k.User = c.ownerOf(k.Team)
		}
		if k, err = c.withIDs(tenancy.Key{}, c.set.Completed(c.tx, k)); err != nil {
			return nil, err
		}
		if err := c.rights.MayGrantKey(op, &k); err != nil {
			return nil, err
		}
		if err := mayMake(s.rules, c.rights, &k, in); err != nil {
			return nil, err
		}
		if err := c.rights.SetParent(&k); err != nil {
			return nil, err
		}
		c.rights.SetBoundedBy(op, &tenancy.Key{}, &k)
		return c.set.CreateKey(c.tx, k)
	})
}

// shownOnce shows the record of a new key with the key itself.
func shownOnce(secret string) func(*tenancy.Key) *gatewayv1.KeyRecord {
	return func(k *tenancy.Key) *gatewayv1.KeyRecord {
		out := keyRecord(k)
		out.Key = secret
		return out
	}
}

// ownerOf returns the user of a new key for which the request names none: the caller's user. A
// key that a proxy_admin creates has no user, and neither has the key of a team whose manager
// is no member.
func (c caller) ownerOf(t id.Team) id.User {
	if c.rights.Admin() {
		return ""
	}
	if t != "" {
		if _, in := c.set.TeamMember(c.tx, t, c.rights.User()); !in {
			return ""
		}
	}
	return c.rights.User()
}

// keyText returns the text of a new key: the one in the request, or a fresh one.
func keyText(param string, chosen *string) (string, error) {
	if chosen == nil {
		made, _, err := credential.Generate(rand.Reader)
		return made.Reveal(), err
	}
	if err := credential.CheckCustom(*chosen); err != nil {
		return "", field.Named(param, err)
	}
	return *chosen, nil
}

// RegenerateKey replaces a key by a new one. Other changes in the same request need the rights
// of an update, too.
func (s keyService) RegenerateKey(ctx context.Context, in *gatewayv1.RegenerateKeyRequest) (*gatewayv1.KeyRecord, error) {
	p := operation.Principal(ctx)
	old := keyName{"key", p.Hash}
	if in.GetKey() != "" {
		h, err := reference("key", in.GetKey())
		if err != nil {
			return nil, err
		}
		old.hash = h
	}
	if p.Master && old.hash == p.Hash {
		return nil, masterHasNoRecord()
	}
	secret, err := keyText("new_key", in.NewKey)
	if err != nil {
		return nil, err
	}
	return changed(ctx, s.state, shownOnce(secret), func(c caller) (*tenancy.Key, error) { return s.changeOf(c).regenerate(old, in, secret) })
}

// regenerate replaces a key by that of a secret.
func (c keyChange) regenerate(old keyName, in *gatewayv1.RegenerateKeyRequest, secret string) (*tenancy.Key, error) {
	before, revision, err := c.begin(surface.PermitRegenerateKey, old, in.GetIfRevision())
	if err != nil {
		return nil, err
	}
	k, err := c.patched(before, in, in.GetClear())
	if err != nil {
		return nil, err
	}
	k.Hash, k.Name = id.HashKey(secret), credential.DisplayName(secret)
	c.rights.SetBoundedBy(surface.PermitRegenerateKey, before, &k)
	if err := c.rights.MayGrantKey(surface.PermitRegenerateKey, &k); err != nil {
		return nil, err
	}
	var until time.Time
	if in.GracePeriod != nil {
		if until, err = after("grace_period", in.GetGracePeriod(), c.tx.Time()); err != nil {
			return nil, err
		}
	}
	made, err := c.set.RegenerateKey(c.tx, before.Hash, k, until, revision)
	if f := fault.From(err); f != nil && f.Kind == fault.Exists && f.Param == "key" {
		return nil, field.Named("new_key", err)
	}
	return made, err
}

// CheckKeyRules rejects rules that require a field which a request for a key does not
// have: nobody could make a key.
func CheckKeyRules(rules *rights.KeyRules) error {
	fields := (*gatewayv1.GenerateKeyRequest)(nil).ProtoReflect().Descriptor().Fields()
	for _, sort := range []struct {
		name string
		rule *rights.KeyRule
	}{{"team_key_generation", &rules.Team}, {"personal_key_generation", &rules.Personal}} {
		for _, name := range sort.rule.Required {
			if fields.ByName(protoreflect.Name(name)) == nil {
				return fault.Field("litellm_settings.key_generation_settings."+sort.name+".required_params", "invalid_value",
					"/key/generate has no field %s, so nobody could make a key: remove it from the list", name)
			}
		}
	}
	return nil
}

// mayMake denies a new key that the operator's rules do not allow, and rejects a
// request that lacks a field which they require.
func mayMake(rules *rights.KeyRules, r *rights.Rights, k *tenancy.Key, in *gatewayv1.GenerateKeyRequest) error {
	if err := r.MayMakeKey(rules, k); err != nil {
		return err
	}
	m := in.ProtoReflect()
	for _, name := range r.RequiredFor(rules, k) {
		if f := m.Descriptor().Fields().ByName(protoreflect.Name(name)); f == nil || !m.Has(f) {
			return fault.Field(name, "missing_required_parameter", "The operator of this gateway requires %s for such a key. Give it.", name)
		}
	}
	return nil
}
