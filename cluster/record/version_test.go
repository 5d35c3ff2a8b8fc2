package record_test

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// TestVersionOfATransaction: older nodes stop at a transaction with a field that they would
// lose when they rewrite the record. They apply every other transaction.
func TestVersionOfATransaction(t *testing.T) {
	for name, c := range map[string]struct {
		records []proto.Message
		version uint32
	}{
		"nothing new":         {[]proto.Message{&clusterv1.VirtualKey{Alias: "a"}, &clusterv1.User{Email: "a@example.com"}}, 1},
		"a key of a key":      {[]proto.Message{&clusterv1.VirtualKey{ParentHash: []byte("parent")}, &clusterv1.User{}}, 2},
		"an alias of a place": {[]proto.Message{&clusterv1.VirtualKey{AliasInPlace: true}}, 2},
		"an address of a directory": {
			[]proto.Message{&clusterv1.Team{}, &clusterv1.User{DirectoryTeamId: "t"}}, 2,
		},
		"a field of a message in a list": {
			[]proto.Message{&clusterv1.Team{Limits: &clusterv1.Limits{Models: []*clusterv1.ModelLimits{{}, {Resolved: true}}}}}, 2,
		},
		"a setting of a cloud": {
			[]proto.Message{&clusterv1.Deployment{Settings: []*clusterv1.NamedValue{{Name: "aws_region_name", Value: "eu-west-1"}}}}, 9,
		},
		"the interface of a deployment": {[]proto.Message{&clusterv1.Deployment{Api: "chat"}}, 10},
		"no record":                     {nil, 1},
	} {
		tx := record.NewTxn(time.Unix(1, 0), "ada")
		for i, r := range c.records {
			tx.Put(record.At{Space: store.SpaceKey, Key: []byte{byte(i)}}, r)
		}
		cmd, err := tx.Command()
		if err != nil {
			t.Fatal(err)
		}
		version, transaction := uint32(1), cmd.GetTransaction()
		if v := cmd.GetVersionedTransaction(); v != nil {
			version, transaction = v.GetVersion(), v.GetTransaction()
		}
		if version != c.version || len(transaction.GetPuts()) != len(c.records) || cmd.GetActor() != "ada" {
			t.Errorf("%s: version %d with %d records by %q", name, version, len(transaction.GetPuts()), cmd.GetActor())
		}
	}
}
