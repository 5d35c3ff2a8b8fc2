package catalog

import (
	"fmt"
	"maps"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/vault"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Credential is what deployments may name instead of having it themselves. One that
// a Catalog holds is shared: nobody changes it.
type Credential struct {
	Name         string
	APIKey       vault.Secret
	APIBase      string
	Organization string
	Cloud        map[string]vault.Secret // settings of an account at a cloud, not empty; nobody changes the map
	Info         string                  // a free JSON object; empty for none
	SealedKey    []byte                  // APIKey as the state has it
	SealedCloud  map[string][]byte       // the secrets in Cloud as the state has them
	record.Meta

	locked error // why this node cannot open one of its secrets
}

// Locked is why this node cannot open one of the credential's secrets; nil if it can.
func (c *Credential) Locked() error { return c.locked }

// Names of a credential's values in its record.
const (
	valueKey          = "api_key"
	valueBase         = "api_base"
	valueOrganization = "organization"
)

func credentialAt(name string) record.At {
	return record.At{Space: store.SpaceCredential, Key: []byte(name)}
}

// namersAt is the mark of the deployments that name a credential, which grows with
// them. No credential's name begins with a zero byte.
func namersAt(name string) record.At {
	return record.At{Space: store.SpaceCredential, Key: append([]byte{0}, name...)}
}

func credentialContext(name, value string) string { return "credential/" + name + "/" + value }

// toCredentialRecord returns a credential as the state keeps it, without a stamp. A
// key that is as it was is not sealed again.
func toCredentialRecord(c, before *Credential, seal vault.Seal) (*clusterv1.Credential, error) {
	settings := storedSettings{context: func(name string) string { return credentialContext(c.Name, name) }}
	if before != nil {
		settings.values, settings.sealed = before.Cloud, before.SealedCloud
	}
	sealed, err := settings.seal(c.Cloud, seal)
	if err != nil {
		return nil, fmt.Errorf("the credential %s: %w", quote(c.Name), err)
	}
	c.SealedCloud = sealed
	switch {
	case c.APIKey.IsEmpty(): // it has none, or this node cannot open it
		return sealedRecord(c, c.SealedKey), nil
	case before != nil && before.APIKey.Equal(c.APIKey.Reveal()):
		return sealedRecord(c, before.SealedKey), nil
	}
	sealedKey, err := seal(c.APIKey, credentialContext(c.Name, valueKey))
	if err != nil {
		return nil, fmt.Errorf("sealing the api_key of the credential %s: %w", quote(c.Name), err)
	}
	return sealedRecord(c, sealedKey), nil
}

// sealedRecord is a credential's record with secrets that are sealed already.
func sealedRecord(c *Credential, sealed []byte) *clusterv1.Credential {
	r := &clusterv1.Credential{Name: c.Name, InfoJson: c.Info}
	r.Settings, r.SealedSettings = settingsRecord(c.Cloud, c.SealedCloud)
	if len(sealed) > 0 {
		r.SealedValues = []*clusterv1.SealedValue{{Name: valueKey, Sealed: sealed}}
	}
	for _, v := range []*clusterv1.NamedValue{{Name: valueBase, Value: c.APIBase}, {Name: valueOrganization, Value: c.Organization}} {
		if v.GetValue() != "" {
			r.Values = append(r.Values, v)
		}
	}
	return r
}

// readCredential is the reverse, the stamp as well. A key that this node cannot open
// is kept sealed.
func readCredential(value []byte, open vault.Open) (*Credential, error) {
	r := &clusterv1.Credential{}
	if err := proto.Unmarshal(value, r); err != nil {
		return nil, err
	}
	c := &Credential{Name: r.GetName(), Info: r.GetInfoJson(), Meta: record.MetaOf(r.GetStamp())}
	for _, v := range r.GetValues() {
		switch v.GetName() {
		case valueBase:
			c.APIBase = v.GetValue()
		case valueOrganization:
			c.Organization = v.GetValue()
		}
	}
	for _, v := range r.GetSealedValues() {
		if v.GetName() != valueKey {
			continue
		}
		c.SealedKey = v.GetSealed()
		if c.APIKey, c.locked = open(c.SealedKey, credentialContext(c.Name, valueKey)); c.locked != nil {
			c.locked = fmt.Errorf("opening the api_key of the credential %s: %w", quote(c.Name), c.locked)
		}
	}
	var err error
	settings := storedSettings{context: func(name string) string { return credentialContext(c.Name, name) }}
	if c.Cloud, c.SealedCloud, err = settings.open(r.GetSettings(), r.GetSealedSettings(), open); err != nil {
		c.locked = fmt.Errorf("the credential %s: %w", quote(c.Name), err)
	}
	return c, nil
}

// Credentials returns the credentials, sorted by name. It makes a new list.
func (c *Catalog) Credentials() []*Credential {
	all := make([]*Credential, 0, c.credentials.len())
	for _, one := range c.credentials.all() {
		all = append(all, one)
	}
	return all
}

// Credential returns a credential by its name.
func (c *Catalog) Credential(name string) (*Credential, bool) { return c.credentials.get(name) }

// Namers returns the ids of the deployments that name a credential, those included
// that this node cannot use. They are sorted, but for the latter, which come last.
func (c *Catalog) Namers(credential string) []id.Deployment {
	var all []id.Deployment
	for _, d := range c.namers.under(credential + nameEnd) {
		all = append(all, d.ID)
	}
	for name, r := range c.unusable.all() {
		if r.GetCredentialName() == credential {
			all = append(all, id.Deployment(name))
		}
	}
	return all
}

// nameEnd ends the name in a key of namers; no name holds it.
const nameEnd = "\x00"

func namerKey(d *Deployment) string {
	return d.origin.stored.Spec.CredentialName + nameEnd + string(d.ID)
}

// borrow returns a specification with the values of the credential that it names in
// place of those that it lacks.
func (b *builder) borrow(at string, s *DeploymentSpec) *DeploymentSpec {
	if s.CredentialName == "" {
		return s
	}
	param := at + ".gateway_params.credential_name"
	c, ok := b.credentials.get(s.CredentialName)
	switch {
	case !ok:
		e := fault.Field(strings.TrimPrefix(param, "."), codeNoCredential, "there is no credential of the name %s; create it with POST /credentials, or name one that GET /credentials lists", quote(s.CredentialName))
		e.Kind = fault.NotFound
		b.problems.list = append(b.problems.list, e)
		return s
	case c.locked != nil && s.APIKey.IsEmpty():
		b.problems.list = append(b.problems.list, &fault.Error{
			Op: "catalog", Kind: fault.Conflict, Code: "cannot_open", Param: strings.TrimPrefix(param, "."), Err: c.locked,
			Detail: "The credential " + quote(c.Name) + " cannot be opened by this node, and its log says why. Write its api_key again with PATCH /credentials.",
		})
		return s
	}
	full := *s
	if full.APIKey.IsEmpty() {
		full.APIKey = c.APIKey
	}
	if full.APIBase == "" {
		full.APIBase = c.APIBase
	}
	if full.Organization == "" {
		full.Organization = c.Organization
	}
	if len(c.Cloud) > 0 {
		full.Cloud = maps.Clone(c.Cloud)
		maps.Copy(full.Cloud, s.Cloud)
	}
	return &full
}

// borrowAnew returns a deployment with the values that its credential has now. All
// else of it stays.
func (b *builder) borrowAnew(old *Deployment) *Deployment {
	d := *old
	full := b.borrow("", &old.origin.stored.Spec)
	d.APIKey = full.APIKey
	settings := b.settings("", &old.origin.stored.Spec, full, d.Provider)
	d.Endpoint, d.BasePath, d.Cloud = b.endpoint("", full, d.Provider, settings)
	d.ExtraHeaders = b.problems.headers(".gateway_params.extra_headers", full.ExtraHeaders)
	d.ExtraHeaders = b.problems.organization(".gateway_params.organization", d.ExtraHeaders, full.Organization)
	return &d
}

// withCredential returns the catalogue with a credential, put in place of the one of
// the same name or removed where it is nil, and with the deployments that name it
// made again. It costs what those cost. Those that this node cannot use for it are
// among the errors.
func (c *Catalog) withCredential(name string, with *Credential, open vault.Open) (*Catalog, []error) {
	b := c.change()
	if with == nil {
		b.credentials.delete(name)
	} else {
		b.credentials.set(name, with)
	}
	var broken []error
	fresh := make(map[id.Deployment]*Deployment)
	for _, old := range c.namers.under(name + nameEnd) {
		b.problems = problems{}
		d := b.borrowAnew(old)
		if err := b.problems.err(); err != nil {
			broken = append(broken, fmt.Errorf("deployment %s: %w", quote(string(old.ID)), err))
			b.remove(old)
			b.unusable.set(string(old.ID), old.origin.stored.record())
			continue
		}
		fresh[d.ID] = d
	}
	b.renew(fresh)
	for d, r := range c.unusable.all() {
		if r.GetCredentialName() != name {
			continue
		}
		if err := b.take(r, open); err != nil {
			broken = append(broken, fmt.Errorf("deployment %s: %w", quote(d), err))
		}
	}
	b.problems = problems{}
	return b.catalog(), broken
}
