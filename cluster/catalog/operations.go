package catalog

import (
	"slices"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// Create adds a deployment, whose ID is set, in a transaction that is decided by
// this catalogue, and returns what it will be. The errors are With's, and Exists
// where the id is taken.
func (c *Catalog) Create(tx *record.Txn, s DeploymentSpec, seal vault.Seal) (*Deployment, error) {
	did := id.Deployment(s.ID)
	if revision, taken := c.revisionOf(did); taken {
		tx.Require(deploymentAt(did), revision)
		return nil, &fault.Error{
			Op: "catalog", Kind: fault.Exists, Code: codeExists, Param: paramID,
			Detail: "There is a deployment of the id " + quote(s.ID) + " already; choose another, or delete that one first.",
		}
	}
	tx.Require(deploymentAt(did), 0)
	return c.write(tx, &s, &Stored{}, seal)
}

// Changeable returns a deployment of the state in a transaction, which then rests on
// it. param is the field of the request that has its id. It faults with NotFound
// where there is none of that id, and with Conflict for one of the file and for one
// that this node cannot use.
func (c *Catalog) Changeable(tx *record.Txn, param string, d id.Deployment) (Stored, error) {
	revision, there := c.revisionOf(d)
	found, usable := c.Deployment(d)
	switch {
	case usable && found.Static:
		return Stored{}, definedInFile(param)
	case !there:
		tx.Require(deploymentAt(d), 0)
		return Stored{}, noDeployment(param, d)
	}
	tx.Require(deploymentAt(d), revision)
	if !usable {
		return Stored{}, &fault.Error{Op: "catalog", Kind: fault.Conflict, Code: "unusable", Param: param, Detail: "This node cannot use the deployment, and its log says why. Change it at another node, or delete it and add it again."}
	}
	return found.origin.stored, nil
}

// Update puts a deployment in place of the one of its ID, in a transaction that is
// decided by this catalogue, and returns what it will be. With ifRevision other
// than 0 it is Conflict if there is another revision. The other errors are those of
// Changeable and With.
func (c *Catalog) Update(tx *record.Txn, s DeploymentSpec, ifRevision uint64, seal vault.Seal) (*Deployment, error) {
	before, err := c.Changeable(tx, "model_id", id.Deployment(s.ID))
	if err != nil {
		return nil, err
	}
	if err := record.CheckRevision("deployment", before.Revision, ifRevision); err != nil {
		return nil, err
	}
	return c.write(tx, &s, &before, seal)
}

// write checks a deployment and writes it in place of another.
func (c *Catalog) write(tx *record.Txn, s *DeploymentSpec, before *Stored, seal vault.Seal) (*Deployment, error) {
	m := tx.Stamped(record.Meta{CreatedAt: before.CreatedAt, CreatedBy: before.CreatedBy})
	c.restOn(tx, s.CredentialName, before.Spec.CredentialName)
	next, err := c.WithStored(Stored{Spec: *s, CreatedAt: m.CreatedAt, CreatedBy: m.CreatedBy, UpdatedAt: m.UpdatedAt})
	if err != nil {
		return nil, err
	}
	r, err := toRecord(s, before, seal)
	if err != nil {
		return nil, err
	}
	tx.Put(deploymentAt(id.Deployment(s.ID)), r)
	if slices.ContainsFunc(s.Guardrails, func(g string) bool { return !slices.Contains(before.Spec.Guardrails, g) }) {
		tx.RequireFence() // what is acknowledged applies on every node
	}
	made, _ := next.Deployment(id.Deployment(s.ID))
	return made, nil
}

// Delete removes a deployment. It faults with NotFound where there is none of that
// id, and with Conflict for one of the file.
func (c *Catalog) Delete(tx *record.Txn, d id.Deployment) error {
	revision, there := c.revisionOf(d)
	if found, ok := c.Deployment(d); ok && found.Static {
		return definedInFile("id")
	}
	tx.Require(deploymentAt(d), revision)
	if !there {
		return noDeployment("id", d)
	}
	tx.Delete(deploymentAt(d))
	tx.RequireFence()
	return nil
}

// revisionOf returns the revision of a deployment of the state, and whether there is
// one, be it one that this node cannot use.
func (c *Catalog) revisionOf(d id.Deployment) (uint64, bool) {
	if r, ok := c.unusable.get(string(d)); ok {
		return r.GetStamp().GetRevision(), true
	}
	found, ok := c.Deployment(d)
	if !ok || found.Static {
		return 0, false
	}
	return found.origin.stored.Revision, true
}

func noDeployment(param string, d id.Deployment) error {
	return &fault.Error{
		Op: "catalog", Kind: fault.NotFound, Code: "model_not_found", Param: param,
		Detail: "There is no deployment of the id " + quote(string(d)) + " that was added at run time; GET /model/info lists those that there are.",
	}
}

func definedInFile(param string) error {
	return &fault.Error{Op: "catalog", Kind: fault.Conflict, Code: "defined_in_file", Param: param, Detail: "This deployment stands in the configuration file. Change it there and restart."}
}
