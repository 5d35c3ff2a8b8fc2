package membership

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// formation is this node's promise, or the cluster that it belongs to.
//
// A cluster begins with a first configuration. Two first configurations that share a node would
// be two clusters, each of which takes itself for the only one. So the node with the smallest id
// asks every node of the configuration to promise that it joins this configuration and no other.
// Each node stores its promise. The asking node starts when it has all promises, and then starts
// the others. Only the node that got a promise can replace it, and only before it has started.
type formation struct {
	cluster string             // empty: only promised
	servers []consensus.Server // sorted by node
}

const (
	formationKey     = "formation"
	formationVersion = 1
)

// proposer returns the node that got the promise.
func (f *formation) proposer() id.Node {
	if f == nil || len(f.servers) == 0 {
		return ""
	}
	return f.servers[0].Node
}

func (f *formation) formed() bool { return f != nil && f.cluster != "" }

// clusterOf names the cluster that begins with a configuration.
func clusterOf(servers []consensus.Server) string {
	h := sha256.New()
	for _, s := range servers {
		h.Write([]byte(s.Node + "\n"))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func sorted(servers []consensus.Server) []consensus.Server {
	out := slices.Clone(servers)
	slices.SortFunc(out, func(a, b consensus.Server) int { return cmp.Compare(a.Node, b.Node) })
	return out
}

// open reads the record. If no other node is configured, it starts a cluster of one.
func (m *Members) open() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, ok, err := m.cfg.Store.Get(store.SpaceFormation, []byte(formationKey))
	if err != nil {
		return err
	}
	if ok {
		var rec clusterv1.Formation
		if err := proto.Unmarshal(value, &rec); err != nil || rec.GetVersion() != formationVersion {
			return &fault.Error{
				Op: "cluster.open", Kind: fault.StorageUnavailable, Err: err,
				Detail: "The data directory's record of its cluster is damaged, or was written by a newer version.",
			}
		}
		m.mu.formation = fromFormation(&rec)
	}
	servers, err := m.cfg.Consensus.Servers()
	if err != nil {
		return err
	}
	if m.alone() {
		return m.aloneLocked(servers)
	}
	if f := m.mu.formation; m.cfg.Consensus.Bootstrapped() && !f.formed() && f != nil && clusterOf(sorted(servers)) == clusterOf(f.servers) {
		// A crash between the start of the log and this record: finish it.
		return m.noteLocked(&formation{cluster: clusterOf(f.servers), servers: f.servers})
	}
	return nil
}

// aloneLocked makes this node a cluster of one. It rejects a member of a larger cluster, which would
// have no majority without the others.
func (m *Members) aloneLocked(servers []consensus.Server) error {
	self := []consensus.Server{m.cfg.Self}
	switch {
	case len(servers) > 1:
		return fault.New(fault.StorageUnavailable, "", "The data directory %q belongs to a node of a cluster of %d. Start it with its cluster settings (cluster.listen, cluster.join), or take the other nodes out first: modelgateway cluster remove.", m.cfg.Dir, len(servers))
	case len(servers) == 0:
		// A crash before the record leaves a log with this configuration. The next open finds it
		// here.
		if err := m.cfg.Consensus.Bootstrap(self); err != nil {
			return fmt.Errorf("starting the log: %w", err)
		}
	}
	if m.mu.formation.formed() {
		return nil
	}
	return m.noteLocked(&formation{cluster: clusterOf(self)})
}

// noteLocked writes the record; it is on the disk when noteLocked returns nil.
func (m *Members) noteLocked(f *formation) error {
	rec := &clusterv1.Formation{Version: formationVersion, Cluster: f.cluster}
	for _, s := range f.servers {
		rec.Servers = append(rec.GetServers(), &clusterv1.FormationServer{Node: string(s.Node), Address: s.Address})
	}
	value, err := proto.MarshalOptions{Deterministic: true}.Marshal(rec)
	if err != nil {
		return fault.From(err)
	}
	b := m.cfg.Store.NewBatch()
	defer b.Close()
	b.Set(store.SpaceFormation, []byte(formationKey), value)
	if err := b.Commit(); err != nil {
		return err
	}
	// After a crash from here on, the node finds the record. After an earlier crash, no node has got
	// the promise.
	m.mu.formation = f
	return nil
}

func fromFormation(rec *clusterv1.Formation) *formation {
	f := &formation{cluster: rec.GetCluster()}
	for _, s := range rec.GetServers() {
		f.servers = append(f.servers, consensus.Server{Node: id.Node(s.GetNode()), Address: s.GetAddress(), Voter: true})
	}
	return f
}

// Cluster returns the cluster that this node is part of; empty if none.
func (m *Members) Cluster() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mu.formation == nil {
		return ""
	}
	return m.mu.formation.cluster
}

// promise promises that this node joins this configuration and no other.
func (m *Members) promise(servers []consensus.Server) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.mu.formation
	switch {
	case f.formed():
		return fault.New(fault.Exists, "formed", "Node %s is part of a cluster already.", m.cfg.Self.Node)
	case !slices.ContainsFunc(servers, func(s consensus.Server) bool { return s.Node == m.cfg.Self.Node }):
		return fault.New(fault.Conflict, "not_meant", "The configuration does not have node %s.", m.cfg.Self.Node)
	case f != nil && f.proposer() != servers[0].Node:
		return fault.New(fault.Conflict, "promised", "Node %s has promised node %s to be part of another configuration. If that node is gone for good, empty the data directory of node %s.",
			m.cfg.Self.Node, f.proposer(), m.cfg.Self.Node)
	}
	return m.noteLocked(&formation{servers: servers})
}

// form starts this node with a configuration that it has promised.
func (m *Members) form(servers []consensus.Server) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.mu.formation
	name := clusterOf(servers)
	switch {
	case f.formed() && f.cluster == name:
		return nil
	case f == nil || f.formed() || !slices.Equal(f.servers, servers):
		return fault.New(fault.Conflict, "not_promised", "Node %s has not promised to be part of that configuration.", m.cfg.Self.Node)
	}
	if err := m.cfg.Consensus.Bootstrap(servers); err != nil {
		return err
	}
	// A crash here leaves a log and a promise; the next open makes the record.
	return m.noteLocked(&formation{cluster: name, servers: servers})
}

// joined records the cluster that this node has joined.
func (m *Members) joined(cluster string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.mu.formation; f.formed() {
		if f.cluster == cluster {
			return nil
		}
		return fault.New(fault.Conflict, "other_cluster", "The node is part of another cluster.")
	}
	return m.noteLocked(&formation{cluster: cluster})
}
