package catalog

import (
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
)

// UpdateRouter changes router settings; what patch leaves out stays as it is. What
// does not fit the deployments comes back with the settings' names. With
// ifRevision other than 0 it is Conflict if the settings are of another revision.
func (c *Catalog) UpdateRouter(tx *record.Txn, patch RouterSpec, ifRevision uint64) error {
	if err := c.putPatch(tx, c.router.patch.Merge(patch), ifRevision); err != nil {
		return err
	}
	return c.CheckPatch(patch)
}

// ResetRouter has one setting, by its name in router_settings, be as the file has
// it. It faults with NotFound where there is no setting of that name, and otherwise
// as UpdateRouter does.
func (c *Catalog) ResetRouter(tx *record.Txn, setting string, ifRevision uint64) error {
	next, ok := c.router.patch.Reset(setting)
	if !ok {
		return NoSetting(setting)
	}
	if err := c.putPatch(tx, next, ifRevision); err != nil {
		return err
	}
	return c.checkRouter(c.router.file.Merge(next))
}

// NoSetting is the error for a name that no router setting has.
func NoSetting(name string) error {
	return &fault.Error{Op: "catalog", Kind: fault.NotFound, Code: "setting_not_found", Param: "field_name", Detail: "There is no router setting " + quote(name) + "; GET /config/list lists those that there are."}
}

// putPatch writes what the state sets over the file's settings, as a whole. That it
// makes sense is for the caller to see.
func (c *Catalog) putPatch(tx *record.Txn, patch RouterSpec, ifRevision uint64) error {
	revision := c.router.revision
	if err := record.CheckRevision("record of router settings", revision, ifRevision); err != nil {
		return err
	}
	tx.Require(routerAt(), revision)
	tx.Put(routerAt(), patch.Record())
	return nil
}
