package mgmt

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/mgmt/field"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// GenerateKey makes a key. Nothing but its hash is kept.
func (s keyService) GenerateKey(ctx context.Context, in *gatewayv1.GenerateKeyRequest) (*gatewayv1.KeyRecord, error) {
	return s.generate(ctx, surface.PermitGenerateKey, in)
}

// GenerateServiceAccountKey makes a key of a team that belongs to no user.
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
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.KeyRecord, error) {
		k, err := patchKey(tenancy.Key{Hash: id.HashKey(secret), Name: tenancy.DisplayName(secret)}, in, nil, tx.Time())
		if err != nil {
			return nil, err
		}
		r := v.Keys.Rights(tx, operation.Principal(ctx))
		if in.UserId == nil && op == surface.PermitGenerateKey {
			k.User = ownerOf(v.Keys, tx, r, k.Team)
		}
		k = v.Keys.Completed(tx, k)
		if err := r.MayGrantKey(op, &k); err != nil {
			return nil, err
		}
		if err := mayMake(s.rules, r, &k, in); err != nil {
			return nil, err
		}
		if err := r.SetParent(&k); err != nil {
			return nil, err
		}
		made, err := v.Keys.CreateKey(tx, k)
		if err != nil {
			return nil, err
		}
		return shownOnce(made, secret), nil
	})
}

// shownOnce is the record of a key that was just made, with the key.
func shownOnce(k *tenancy.Key, secret string) *gatewayv1.KeyRecord {
	out := keyRecord(k)
	out.Key = secret
	return out
}

// ownerOf is whom a key is for that names no user: who asks. A proxy_admin makes
// keys that belong to nobody, and so does who manages a team from without.
func ownerOf(set *tenancy.Set, tx *record.Txn, r *tenancy.Rights, t id.Team) id.User {
	if r.Admin() {
		return ""
	}
	if t != "" {
		if _, in := set.TeamMember(tx, t, r.User()); !in {
			return ""
		}
	}
	return r.User()
}

// keyText is the text of a new key: the one that a request has chosen, or a fresh
// one.
func keyText(param string, chosen *string) (string, error) {
	if chosen == nil {
		made, _, err := tenancy.Generate(rand.Reader)
		return made.Reveal(), err
	}
	if err := tenancy.CheckCustom(*chosen); err != nil {
		return "", field.Named(param, err)
	}
	return *chosen, nil
}

// RegenerateKey replaces a key by a new one. What it changes at that needs the
// rights of an update, too.
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
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.KeyRecord, error) {
		made, err := s.changeOf(ctx, v, tx).regenerate(old, in, secret)
		if err != nil {
			return nil, err
		}
		return shownOnce(made, secret), nil
	})
}

// regenerate is the operation.
func (c keyChange) regenerate(old keyName, in *gatewayv1.RegenerateKeyRequest, secret string) (*tenancy.Key, error) {
	before, revision, err := c.begin(surface.PermitRegenerateKey, old, in.GetIfRevision())
	if err != nil {
		return nil, err
	}
	k, err := c.patched(before, in, in.GetClear())
	if err != nil {
		return nil, err
	}
	k.Hash, k.Name = id.HashKey(secret), tenancy.DisplayName(secret)
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
