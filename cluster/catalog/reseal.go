package catalog

import (
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Reseal seals a secret again if another key than the one in use sealed it, and
// reports whether it did.
type Reseal func(sealed []byte, context string) (again []byte, changed bool, err error)

// Resealed is what Catalog.Reseal did.
type Resealed struct {
	Done    int  // secrets that it sealed again
	Already int  // secrets that needed nothing, of those that it looked at
	More    bool // there may be others: it is to be called again
}

// maxResealed bounds what one transaction writes, in bytes; an entry of the log may
// be about twice as large.
const maxResealed = 400 << 10

// Reseal seals the secrets of the credentials and deployments of the state again, as
// many as one transaction may hold. It is Conflict for one that cannot be opened.
func (c *Catalog) Reseal(tx *record.Txn, reseal Reseal) (Resealed, error) {
	r := resealing{tx: tx, reseal: reseal}
	for _, one := range c.credentials.all() {
		if r.More || r.err != nil {
			break
		}
		r.credential(one)
	}
	for _, d := range c.byID.all() {
		if r.More || r.err != nil {
			break
		}
		if !d.Static {
			r.deployment(d.origin.stored.record(), d.origin.stored.Revision)
		}
	}
	for _, of := range c.unusable.all() {
		if r.More || r.err != nil {
			break
		}
		r.deployment(proto.CloneOf(of), of.GetStamp().GetRevision())
	}
	return r.Resealed, r.err
}

// resealing is a Reseal under way.
type resealing struct {
	Resealed
	tx     *record.Txn
	reseal Reseal
	bytes  int
	err    error
}

// value seals one secret again and reports whether it did.
func (r *resealing) value(sealed *[]byte, context string) bool {
	if len(*sealed) == 0 || r.err != nil {
		return false
	}
	again, changed, err := r.reseal(*sealed, context)
	switch {
	case err != nil:
		r.err = &fault.Error{
			Op: "catalog.reseal", Kind: fault.Conflict, Code: "cannot_open", Err: err,
			Detail: fmt.Sprintf("The secret %s cannot be opened by this node: %v.", quote(context), err),
		}
	case changed:
		*sealed = again
		r.Done++
	default:
		r.Already++
	}
	return changed && err == nil
}

func (r *resealing) credential(c *Credential) {
	of := sealedRecord(c, c.SealedKey)
	changed := false
	for _, v := range slices.Concat(of.GetSealedValues(), of.GetSealedSettings()) {
		changed = r.value(&v.Sealed, credentialContext(c.Name, v.GetName())) || changed
	}
	if changed && r.err == nil {
		r.put(credentialAt(c.Name), c.Revision, of)
	}
}

// deployment seals the secrets of a record again, which is changed.
func (r *resealing) deployment(of *clusterv1.Deployment, revision uint64) {
	changed := r.value(&of.SealedApiKey, keyContext(of.GetId()))
	for _, h := range of.GetSealedHeaders() {
		changed = r.value(&h.Sealed, headerContext(of.GetId(), h.GetName())) || changed
	}
	for _, v := range of.GetSealedSettings() {
		changed = r.value(&v.Sealed, settingContext(of.GetId(), v.GetName())) || changed
	}
	if changed && r.err == nil {
		r.put(deploymentAt(idOf(of)), revision, of)
	}
}

func (r *resealing) put(at record.At, revision uint64, of proto.Message) {
	r.tx.Require(at, revision)
	r.tx.Put(at, of)
	if r.bytes += proto.Size(of); r.bytes >= maxResealed {
		r.More = true
	}
}

// record is a deployment as the state has it. Nothing is sealed for it.
func (s *Stored) record() *clusterv1.Deployment {
	r := plainRecord(&s.Spec)
	r.SealedApiKey = s.Sealed.APIKey
	for _, name := range slices.Sorted(maps.Keys(s.Spec.ExtraHeaders)) {
		r.SealedHeaders = append(r.SealedHeaders, &clusterv1.SealedValue{Name: name, Sealed: s.Sealed.Headers[name]})
	}
	r.Settings, r.SealedSettings = settingsRecord(s.Spec.Cloud, s.Sealed.Cloud)
	r.Stamp = &clusterv1.Stamp{
		CreatedUnixNano: record.Nanos(s.CreatedAt), CreatedBy: s.CreatedBy, UpdatedUnixNano: record.Nanos(s.UpdatedAt), Revision: s.Revision,
	}
	return r
}
