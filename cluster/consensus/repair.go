package consensus

import (
	"errors"
	"fmt"

	"github.com/hashicorp/raft"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// The keys of Raft's own values.
const (
	keyTerm     = "CurrentTerm"
	keyVoteTerm = "LastVoteTerm"
	noTerm      = 0
)

// catchUp installs the newest snapshot if the state is behind it, and returns the current
// state. That happens if the node stopped between receiving a snapshot, or starting a restore,
// and the switch, or if the state was lost.
func catchUp(snaps *snapshots, states *states, gen *generation) (*generation, mark, error) {
	at, err := readMark(gen.store)
	if err != nil {
		return gen, at, err
	}
	for {
		newest := snaps.newest()
		if newest == nil || newest.index <= at.index {
			return gen, at, nil
		}
		if err := snaps.verify(newest); err != nil {
			// reconcile checks whether log and state are complete without it.
			snaps.exclude(newest.id, err)
			continue
		}
		next, nextAt, err := states.install(snaps.filesPath(newest.id), newest.index, newest.term)
		if err != nil {
			return gen, at, err
		}
		states.discard(gen)
		return next, nextAt, nil
	}
}

// reconcile makes the log, the snapshots and the state consistent, or returns an error.
func (c *Consensus) reconcile(at mark) error {
	base, err := c.trimLog()
	if err != nil {
		return err
	}
	first, last := c.log.ends()
	switch {
	case first > base+1:
		return damaged("log", "The log of the cluster's changes begins later than the newest snapshot ends."+rejoin,
			fmt.Errorf("the snapshot ends at entry %d and the log begins at %d", base, first))
	case at.index > max(last, base):
		// The log is synced before any of its entries is applied.
		return damaged("log", "The log of the cluster's changes ends before the state does: files of the data directory are missing, or were put back from a copy."+rejoin,
			fmt.Errorf("the state is at entry %d and the log ends at %d", at.index, max(last, base)))
	}
	if last == 0 && base == 0 {
		if err := c.undoBootstrap(); err != nil {
			return err
		}
	}
	servers, err := c.lastServers(base)
	if err != nil {
		return err
	}
	c.mu.servers = servers
	return nil
}

// trimLog empties a log that the newest snapshot has replaced: the node stopped before Raft did
// so. It returns the index of that snapshot, 0 without one.
func (c *Consensus) trimLog() (base uint64, err error) {
	newest := c.snaps.newest()
	if newest == nil {
		c.log.setBase(0, 0)
		return 0, nil
	}
	c.log.setBase(newest.index, newest.term)
	first, last := c.log.ends()
	if first == 0 {
		return newest.index, nil
	}
	superseded := last < newest.index
	if first <= newest.index && newest.index <= last {
		var entry raft.Log
		if err := c.log.GetLog(newest.index, &entry); err != nil {
			return 0, err
		}
		superseded = entry.Term != newest.term // uncommitted, by another leader
	}
	if superseded {
		return newest.index, c.log.DeleteRange(first, last)
	}
	return newest.index, nil
}

// undoBootstrap repairs a bootstrap that a crash interrupted between the first term and the
// first entry. Otherwise the node would believe that it was already a member.
func (c *Consensus) undoBootstrap() error {
	term, err := c.log.GetUint64([]byte(keyTerm))
	if err != nil {
		return err
	}
	voted, err := c.log.GetUint64([]byte(keyVoteTerm))
	if err != nil {
		return err
	}
	// Elections start at term 2, so a node that has had contact with a leader or a candidate
	// has a higher one.
	if term != 1 || voted != 0 {
		return nil
	}
	return c.log.SetUint64([]byte(keyTerm), noTerm)
}

// lastServers returns the members in the newest configuration on the disk.
func (c *Consensus) lastServers(base uint64) ([]Server, error) {
	var out []Server
	if newest := c.snaps.newest(); newest != nil {
		out = fromRaft(newest.configurationServed)
	}
	_, last := c.log.ends()
	for index := base + 1; index <= last; index++ {
		var entry raft.Log
		if err := c.log.GetLog(index, &entry); err != nil {
			return nil, err
		}
		if entry.Type != raft.LogConfiguration {
			continue
		}
		configuration, err := decodeConfiguration(entry.Data)
		if err != nil {
			return nil, damaged("log", "The log of the cluster's changes in the data directory is damaged."+rejoin, err)
		}
		out = fromRaft(configuration)
	}
	return out, nil
}

// Bootstrapped reports whether this node is or was a member of a cluster.
func (c *Consensus) Bootstrapped() bool {
	_, last := c.log.ends()
	return last > 0 || c.snaps.newest() != nil
}

// errMember is the error of Bootstrap on a member.
var errMember = errors.New("this node is already a member of a cluster")

// Bootstrap creates a cluster of these servers. This node must be a voter among them. Every
// server may call it, with the same list; the cluster exists once a majority has. It is durable
// when it returns. On a node with a log it fails, unless the members are these servers.
func (c *Consensus) Bootstrap(servers []Server) error {
	configuration := toRaft(servers)
	c.beginning.Lock()
	defer c.beginning.Unlock()
	if r := c.running(); r != nil {
		err := r.BootstrapCluster(configuration).Error()
		if errors.Is(err, raft.ErrCantBootstrap) {
			return c.sameServers(servers)
		}
		return err
	}
	if c.Bootstrapped() {
		return c.sameServers(servers)
	}
	term, err := c.log.GetUint64([]byte(keyTerm))
	if err != nil {
		return err
	}
	if term > 0 {
		return errMember // of a cluster that has contacted it but sent no entries yet
	}
	if err := checkServers(servers, c.cfg.Node); err != nil {
		return err
	}
	if err := c.log.begin(configuration); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.servers = fromRaft(configuration)
	return nil
}

// checkServers rejects a list with which Raft would not start.
func checkServers(servers []Server, self id.Node) error {
	voter := false
	names := map[string]bool{}
	for _, s := range servers {
		if s.Node == "" || s.Address == "" || names["n"+string(s.Node)] || names["a"+s.Address] {
			return fmt.Errorf("server %q at %q has no name, no address, or a duplicate", s.Node, s.Address)
		}
		names["n"+string(s.Node)], names["a"+s.Address] = true, true
		voter = voter || s.Voter && s.Node == self
	}
	if !voter {
		return errors.New("this node is not among the voters")
	}
	return nil
}

// begin writes the first term and the first entry in one batch. Raft's own BootstrapCluster
// needs two.
func (l *logStore) begin(configuration raft.Configuration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.store.NewBatch()
	defer b.Close()
	entry := &raft.Log{Index: 1, Term: 1, Type: raft.LogConfiguration, Data: raft.EncodeConfiguration(configuration)}
	b.Set(store.SpaceStable, []byte(keyTerm), indexKey(entry.Term))
	b.Set(store.SpaceLog, indexKey(entry.Index), appendEntry(nil, entry))
	// After a crash here the bootstrap has either happened completely or not at all.
	if err := b.Commit(); err != nil {
		return err
	}
	l.mu.first, l.mu.last = entry.Index, entry.Index
	return nil
}

// sameServers returns nil if the members are exactly these servers.
func (c *Consensus) sameServers(servers []Server) error {
	have, err := c.Servers()
	if err != nil {
		return err
	}
	if len(have) != len(servers) {
		return errMember
	}
	known := map[Server]bool{}
	for _, s := range have {
		known[s] = true
	}
	for _, s := range servers {
		if !known[s] {
			return errMember
		}
	}
	return nil
}
