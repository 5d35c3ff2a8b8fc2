package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/table"
	"github.com/modelgateway/modelgateway/cluster/vault"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// keyringKey is the key in store.SpaceKeyring.
const keyringKey = "keyring"

// keyring is what the nodes have agreed on about their encryption keys, as the View
// has it.
type keyring struct {
	vault.Keyring
	revision uint64 // 0: nothing is agreed on
}

func keyringAt() record.At { return record.At{Space: store.SpaceKeyring, Key: []byte(keyringKey)} }

// loadKeyring reads the record. One that cannot be read is not left out, as others
// are: what is agreed on next would lose the roots.
func loadKeyring(ctx context.Context, state table.Scanner) (out keyring, err error) {
	scan := state.Scan(ctx, store.Range{Space: store.SpaceKeyring}, func(key, value []byte) bool {
		if string(key) == keyringKey {
			out, err = readKeyring(value)
		}
		return err == nil
	})
	return out, errors.Join(scan, err)
}

func readKeyring(value []byte) (keyring, error) {
	r := &clusterv1.Keyring{}
	if err := proto.Unmarshal(value, r); err != nil {
		return keyring{}, record.Unreadable(err)
	}
	k := keyring{revision: r.GetStamp().GetRevision(), Keyring: vault.Keyring{Sealing: vault.KeyIDOf(r.GetSealingKey())}}
	for _, root := range r.GetRoots() {
		k.Roots = append(k.Roots, vault.Root{URI: root.GetKmsUri(), Wrapped: root.GetWrapped(), Created: record.FromNanos(root.GetCreatedUnixNano())})
	}
	return k, nil
}

func keyringRecord(k vault.Keyring) *clusterv1.Keyring {
	r := &clusterv1.Keyring{SealingKey: keyBytes(k.Sealing)}
	for _, root := range k.Roots {
		r.Roots = append(r.GetRoots(), &clusterv1.WrappedRoot{KmsUri: root.URI, Wrapped: root.Wrapped, CreatedUnixNano: record.Nanos(root.Created)})
	}
	return r
}

// keyBytes is a key's id as records have it.
func keyBytes(k vault.KeyID) []byte {
	if k == (vault.KeyID{}) {
		return nil
	}
	return k[:]
}

// with returns the keyring as changes of the state leave it.
func (k keyring) with(changes []record.Change) keyring {
	for _, c := range changes {
		if c.Space != store.SpaceKeyring || string(c.Key) != keyringKey {
			continue
		}
		if next, err := readKeyring(c.Value); err == nil {
			k = next
		}
	}
	return k
}

// learn gives the Ring the agreed keys.
func (n *Node) learn(k keyring) {
	if n.cfg.Ring != nil {
		n.cfg.Ring.Learn(k.Keyring)
	}
}

// keyAgreement is how the Ring has the nodes agree.
type keyAgreement struct{ node *Node }

// Agree changes the Keyring by an entry of the log.
func (a keyAgreement) Agree(ctx context.Context, change func(vault.Keyring) (vault.Keyring, bool)) error {
	_, err := a.node.Change(ctx, "gateway", func(v *View, tx *record.Txn) error {
		changeKeyring(v, tx, change)
		return nil
	})
	return err
}

func changeKeyring(v *View, tx *record.Txn, change func(vault.Keyring) (vault.Keyring, bool)) {
	tx.Require(keyringAt(), v.keyring.revision)
	if next, changed := change(v.keyring.Keyring); changed {
		tx.Put(keyringAt(), keyringRecord(next))
	}
}

// Unlocked opens what could not be opened before.
func (a keyAgreement) Unlocked() {
	n := a.node
	if err := n.consensus.View(func(state *store.Store) error { return n.reload(context.Background(), state) }); err != nil {
		n.logger.Error("the credentials of a key that has come cannot be read", "error", err)
	}
}

// PromoteKey makes the encryption key that the nodes are configured with the one
// that seals. It refuses as long as a node of the cluster does not answer, is
// configured with another, or does not have it.
func (n *Node) PromoteKey(ctx context.Context, actor string) error {
	ring := n.cfg.Ring
	target := ring.Configured()
	if target == (vault.KeyID{}) {
		return lockedFault()
	}
	status, err := n.Status(ctx, false)
	if err != nil {
		return err
	}
	for _, m := range status.Members {
		switch {
		case !m.Alive:
			return fault.New(fault.Conflict, "encryption_key_not_everywhere",
				"Node %s does not answer, and it may not have the new encryption key. Start it with that key, or remove it from the cluster.", m.Node)
		case m.SealingKey != target || !slices.Contains(m.OpeningKeys, target):
			return fault.New(fault.Conflict, "encryption_key_not_everywhere",
				"Node %s is configured with another encryption key. Set general_settings.encryption_key to the new key there, add the old one to encryption_keys_previous, and restart it.", m.Node)
		}
	}
	_, err = n.Change(ctx, actor, func(v *View, tx *record.Txn) error {
		var locked error
		changeKeyring(v, tx, func(k vault.Keyring) (next vault.Keyring, changed bool) {
			next, changed, locked = ring.Promote(k)
			return next, changed
		})
		if locked != nil {
			return lockedFault()
		}
		return nil
	})
	return err
}

func lockedFault() error {
	return &fault.Error{
		Op: "cluster.seal", Kind: fault.Unavailable, Code: "encryption_key_unavailable", Err: vault.ErrLocked,
		Detail: fmt.Sprintf("Nothing can be sealed: %v.", vault.ErrLocked),
	}
}

// Seal seals a secret for the state. It is Unavailable while the key is not there.
func (n *Node) Seal(plain vault.Secret, context string) ([]byte, error) {
	sealed, err := n.sealer.Seal(plain, context)
	if errors.Is(err, vault.ErrLocked) {
		return nil, lockedFault()
	}
	return sealed, err
}

// Open opens what Seal has sealed.
func (n *Node) Open(sealed []byte, context string) (vault.Secret, error) {
	return n.sealer.Open(sealed, context)
}

// Reseal seals a value with the current key if another key has sealed it.
func (n *Node) Reseal(sealed []byte, context string) (out []byte, changed bool, err error) {
	out, changed, err = n.cfg.Ring.Reseal(sealed, context)
	if errors.Is(err, vault.ErrLocked) {
		return nil, false, lockedFault()
	}
	return out, changed, err
}
