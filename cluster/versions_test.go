package cluster_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/modelgateway/modelgateway/cluster"
	records "github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// upgrade is what a node says that meets what a newer version wrote.
const upgrade = "written by a newer version. Upgrade this node."

// nextVersion has a machine's node be of the next version, which knows one field more.
func nextVersion(h *host) *host {
	h.configure = func(c *cluster.Config) { c.TransactionVersion = records.LastVersion + 1 }
	return h
}

// newerKey is a virtual key as the next version of the gateway stores it: with a field that
// nodes of this version do not know, and lose when they write the record again.
func newerKey(t *testing.T, k *clusterv1.VirtualKey) proto.Message {
	t.Helper()
	file := protodesc.ToFileDescriptorProto(clusterv1.File_cluster_v1_state_proto)
	options := &descriptorpb.FieldOptions{}
	proto.SetExtension(options, clusterv1.E_Since, uint32(records.LastVersion+1))
	const name = "of_the_next_version"
	for _, m := range file.GetMessageType() {
		if m.GetName() == string(k.ProtoReflect().Descriptor().Name()) {
			m.Field = append(m.GetField(), &descriptorpb.FieldDescriptorProto{
				Name: proto.String(name), Number: proto.Int32(900), Options: options,
				Type: descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum(), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
			})
		}
	}
	described, err := protodesc.NewFile(file, protoregistry.GlobalFiles)
	if err != nil {
		t.Fatal(err)
	}
	of := described.Messages().ByName(k.ProtoReflect().Descriptor().Name())
	out := dynamicpb.NewMessage(of)
	text, err := proto.Marshal(k)
	if err != nil {
		t.Fatal(err)
	}
	if err := proto.Unmarshal(text, out); err != nil {
		t.Fatal(err)
	}
	out.Set(of.Fields().ByName(name), protoreflect.ValueOfString("a bound of the next version"))
	return out
}

// writeNewer creates a key that has a field of the next version.
func writeNewer(t *testing.T, node *cluster.Node, alias string) {
	t.Helper()
	_, err := node.Change(t.Context(), actor, func(v *cluster.View, tx *records.Txn) error {
		k := newKey(alias)
		if _, err := v.Keys.CreateKey(tx, k); err != nil {
			return err
		}
		tx.Put(records.At{Space: store.SpaceKey, Key: k.Hash[:], Field: 8}, newerKey(t, &clusterv1.VirtualKey{Hash: k.Hash[:], Alias: k.Alias, Name: k.Name}))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// childVersions says to a child process how its older node meets what a newer one wrote.
const childVersions = "CLUSTER_TEST_VERSIONS"

// TestOlderNodeStops has two nodes of the next version write a key with a field that a third
// one, of this version, does not know. The third one ends and says why, whether it gets the
// key as an entry of the log or in a snapshot. A process ends there, so it is one.
func TestOlderNodeStops(t *testing.T) {
	for _, way := range []string{"entry", "snapshot"} {
		t.Run(way, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOlderNodeInChild$", "-test.v")
			cmd.Env = append(os.Environ(), childVersions+"="+way)
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "the older node ends: ") || !strings.Contains(string(out), upgrade) {
				t.Errorf("%v\n%s", err, out)
			}
			if by := strings.Contains(string(out), "A snapshot of the cluster's state cannot be put in place."); by != (way == "snapshot") {
				t.Errorf("the node ends because of a snapshot: %v\n%s", by, out)
			}
		})
	}
}

// TestOlderNodeInChild is the child's part of the test above.
func TestOlderNodeInChild(t *testing.T) {
	way := os.Getenv(childVersions)
	if way == "" {
		return // the test above runs it
	}
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 71)
		l.timing.SnapshotThreshold, l.timing.TrailingLogs, l.timing.SnapshotInterval = 5, 1, time.Second
		nextVersion(l.add(3)).start()
		nextVersion(l.add(3)).start()
		old := l.add(3)
		old.configure = func(c *cluster.Config) {
			c.Fatal = func(err error) {
				fmt.Println("the older node ends: ", err)
				os.Exit(0)
			}
		}
		old.start()
		if err := l.ready(l.hosts, settleTime); err != nil {
			t.Fatal(err)
		}
		if way == "snapshot" {
			old.shut()
		}
		node := l.hosts[0].node()
		writeNewer(t, node, "newer")
		if !accepts(node, "newer") {
			t.Fatal("the newer node does not know its own key")
		}
		for i := range 20 {
			if err := createKey(t.Context(), node, newKey(fmt.Sprint("k", i))); err != nil {
				t.Fatal(err)
			}
		}
		if way == "snapshot" {
			tick(10 * time.Second) // there is a snapshot, and the log behind it is gone
			old.start()
		}
		tick(settleTime)
		t.Error("the older node goes on")
		os.Exit(1)
	})
}

// TestOlderVersionRefusesNewerState: a node of this version does not start with a data
// directory that the next version wrote, and restores no snapshot of it.
func TestOlderVersionRefusesNewerState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 72)
		defer l.close()
		h := nextVersion(l.add(1))
		h.alone = true
		h.start()
		if err := l.ready(l.hosts, settleTime); err != nil {
			t.Fatal(err)
		}
		writeNewer(t, h.node(), "newer")
		var backup bytes.Buffer
		if err := h.node().Backup(t.Context(), &backup); err != nil {
			t.Fatal(err)
		}
		h.shut()
		h.configure = nil
		if err := h.tryStart(); err == nil || !strings.Contains(err.Error(), upgrade) {
			t.Errorf("the older version starts with the newer data directory: %v", err)
		}
		h.wipe()
		h.start()
		if err := l.ready(l.hosts, settleTime); err != nil {
			t.Fatal(err)
		}
		for way, err := range map[string]error{
			"settings": restore(t.Context(), h.node(), backup.Bytes()),
			"full":     h.node().RestoreAll(t.Context(), bytes.NewReader(backup.Bytes())),
		} {
			if codeOf(err) != "newer_version" {
				t.Errorf("the older version restores the newer snapshot (%s): %v", way, err)
			}
		}
		if accepts(h.node(), "newer") {
			t.Error("the key of the newer snapshot is there")
		}
		// The next version restores it, and is then the oldest that can open the directory.
		h.shut()
		nextVersion(h).start()
		if err := l.ready(l.hosts, settleTime); err != nil {
			t.Fatal(err)
		}
		if err := restore(t.Context(), h.node(), backup.Bytes()); err != nil || !accepts(h.node(), "newer") {
			t.Errorf("the next version does not restore its snapshot: %v", err)
		}
		h.shut()
		h.configure = nil
		if err := h.tryStart(); err == nil || !strings.Contains(err.Error(), upgrade) {
			t.Errorf("the older version starts with the restored data directory: %v", err)
		}
	})
}
