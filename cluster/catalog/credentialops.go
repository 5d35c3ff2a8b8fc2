package catalog

import (
	"strings"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// codeNoCredential is the code of errors about a credential that is not there.
const codeNoCredential = "credential_not_found" //nolint:gosec // a code, no credential

// maxNamed bounds how many deployments a refusal lists.
const maxNamed = 10

// CreateCredential adds a credential. It faults with Exists where the name is taken,
// and is Malformed for values that cannot be used.
func (c *Catalog) CreateCredential(tx *record.Txn, of Credential, seal vault.Seal) (*Credential, error) {
	at := credentialAt(of.Name)
	if old, taken := c.Credential(of.Name); taken {
		tx.Require(at, old.Revision)
		return nil, &fault.Error{Op: "catalog", Kind: fault.Exists, Code: codeExists, Param: "credential_name", Detail: "There is a credential of the name " + quote(of.Name) + " already; change that one with PATCH, or choose another name."}
	}
	tx.Require(at, 0)
	return putCredential(tx, &of, nil, seal)
}

// FindCredential returns a credential. A transaction rests on it then; tx may be nil
// where there is none. It faults with NotFound where there is no credential of that
// name.
func (c *Catalog) FindCredential(tx *record.Txn, name string) (*Credential, error) {
	found, ok := c.Credential(name)
	revision := uint64(0)
	if ok {
		revision = found.Revision
	}
	if tx != nil {
		tx.Require(credentialAt(name), revision)
	}
	if ok {
		return found, nil
	}
	return nil, &fault.Error{Op: "catalog", Kind: fault.NotFound, Code: codeNoCredential, Param: "credential_name", Detail: "There is no credential of the name " + quote(name) + "; GET /credentials lists those that there are."}
}

// UpdateCredential puts a credential in place of the one of its name. Deployments
// that name it go by the new one. With ifRevision other than 0 it is Conflict if
// there is another revision. The other errors are those of FindCredential and
// CreateCredential.
func (c *Catalog) UpdateCredential(tx *record.Txn, next Credential, ifRevision uint64, seal vault.Seal) (*Credential, error) {
	before, err := c.FindCredential(tx, next.Name)
	if err != nil {
		return nil, err
	}
	if err := record.CheckRevision("credential", before.Revision, ifRevision); err != nil {
		return nil, err
	}
	return putCredential(tx, &next, before, seal)
}

// DeleteCredential removes a credential. It faults with NotFound where there is none
// of that name, and with Conflict while a deployment names it.
func (c *Catalog) DeleteCredential(tx *record.Txn, name string) error {
	found, err := c.FindCredential(tx, name)
	if err != nil {
		return err
	}
	mark, marked := c.marks.get(name)
	tx.Require(namersAt(name), mark)
	if namers := c.Namers(name); len(namers) > 0 {
		list := make([]string, 0, maxNamed)
		for _, d := range namers[:min(len(namers), maxNamed)] {
			list = append(list, quote(string(d)))
		}
		if len(namers) > maxNamed {
			list = append(list, "and others")
		}
		return fault.New(fault.Conflict, "credential_in_use", "%d deployments name this credential: %s. Change or delete them first.", len(namers), strings.Join(list, ", "))
	}
	tx.Delete(credentialAt(found.Name))
	if marked {
		tx.Delete(namersAt(name))
	}
	tx.RequireFence()
	return nil
}

// putCredential checks and writes a credential. before is the one that it replaces.
func putCredential(tx *record.Txn, of, before *Credential, seal vault.Seal) (*Credential, error) {
	p := problems{}
	if of.APIBase != "" {
		base, _ := cloud.CutVersion(of.APIBase)
		if _, _, err := ParseBase(base); err != nil {
			e := fault.From(err)
			p.add("credential_values.api_base", e.Code, "%s", e.Detail)
		}
	}
	if !validOrganization(of.Organization) {
		p.add("credential_values.organization", codeInvalid, "%s", wrongOrganization)
	}
	p.values(of.Cloud)
	if err := p.err(); err != nil {
		return nil, err
	}
	meta := record.Meta{}
	if before != nil {
		meta = before.Meta
	}
	r, err := toCredentialRecord(of, before, seal)
	if err != nil {
		return nil, err
	}
	tx.Put(credentialAt(of.Name), r)
	if !of.APIKey.IsEmpty() && len(of.SealedCloud) == countSecrets(of.Cloud) {
		of.locked = nil
	}
	of.Meta = tx.Stamped(meta)
	return of, nil
}

// restOn notes that a transaction rests on the credential that a deployment names,
// and for one that did not name it before that its namers grow.
func (c *Catalog) restOn(tx *record.Txn, name, before string) {
	if name == "" {
		return
	}
	revision := uint64(0)
	if found, ok := c.Credential(name); ok {
		revision = found.Revision
	}
	tx.Require(credentialAt(name), revision)
	if name != before {
		tx.Touch(namersAt(name))
	}
}
