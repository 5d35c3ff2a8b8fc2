package cluster

import (
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/record"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// TestNewerTransactionStopsTheNode: a node ends at a transaction of a version that it
// does not know. If it went on, it would lose fields of the records later.
func TestNewerTransactionStopsTheNode(t *testing.T) {
	out := machine{}.change(nil, consensus.Entry{Index: 7}, &clusterv1.Command{Change: &clusterv1.Command_VersionedTransaction{
		VersionedTransaction: &clusterv1.VersionedTransaction{Version: record.LastVersion + 1, Transaction: &clusterv1.Transaction{}},
	}})
	if out.Err == nil || !strings.Contains(out.Err.Error(), "Entry 7 of the cluster's log was written by a newer version. Upgrade this node.") {
		t.Errorf("the entry is applied: %+v", out)
	}
}
