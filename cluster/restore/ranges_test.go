package restore_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/modelgateway/modelgateway/cluster/restore"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// nodeSpaces are in a node's own store, which is in no backup.
const nodeSpaces = "mkiefls"

// carried returns the spaces that a restore does not change, and the reasons.
func carried() map[store.Space]string {
	return map[store.Space]string{
		store.SpaceApplied:      "how far the state has come",
		store.SpaceOutcome:      "commands that were applied",
		store.SpaceOutcomeTime:  "commands that were applied",
		store.SpaceKeyring:      "encryption keys; those of the backup are added",
		store.SpaceReplay:       "responses that callers had already",
		store.SpaceView:         "the revision, and the version that a node has to know",
		store.SpaceAccount:      "the ledger",
		store.SpaceAccountEnd:   "windows",
		store.SpaceShipped:      "the numbers of posted events",
		store.SpaceUsage:        "the ledger",
		store.SpaceUsageIndex:   "the ledger",
		store.SpaceUsageLog:     "the ledger",
		store.SpaceDaily:        "the ledger",
		store.SpaceAudit:        "the audit chain",
		store.SpaceAuditLog:     "the audit chain",
		store.SpaceAuditHead:    "the audit chain",
		store.SpaceAuditSegment: "the audit chain",
		store.SpaceAuditIndex:   "the audit chain",
		store.SpaceCheckpoint:   "the audit chain",
		store.SpaceAuditSigner:  "the audit chain",
		store.SpaceLeaseLife:    "leases",
		store.SpaceRestore:      "restores",
		store.SpaceRetired:      "nodes that were removed",
	}
}

// TestEverySpaceIsRestoredOrCarried reads the spaces from the source: a new one has to
// say what a restore does with it.
func TestEverySpaceIsRestoredOrCarried(t *testing.T) {
	t.Parallel()
	f, err := parser.ParseFile(token.NewFileSet(), "../store/keyspaces.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	restored := map[store.Space]bool{}
	for _, r := range restore.Ranges() {
		restored[store.Space(r.GetSpace())] = true
	}
	unchanged, seen := carried(), 0
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		lit, ok := spec.Values[0].(*ast.BasicLit)
		if !ok {
			return true
		}
		char, _, _, err := strconv.UnquoteChar(lit.Value[1:], '\'')
		if err != nil {
			t.Fatal(err)
		}
		for _, own := range nodeSpaces {
			if char == own {
				return true
			}
		}
		seen++
		if space := store.Space(char); restored[space] == (unchanged[space] != "") {
			t.Errorf("%s is restored or carried forward: %v, %q", spec.Names[0].Name, restored[space], unchanged[space])
		}
		return true
	})
	if seen < 40 {
		t.Errorf("%d spaces were found", seen)
	}
}

// TestFieldsAreThoseOfTheRecords holds the numbers of fields to the schema.
func TestFieldsAreThoseOfTheRecords(t *testing.T) {
	t.Parallel()
	messages := map[string]proto.Message{
		"keys": &clusterv1.VirtualKey{}, "organizations": &clusterv1.Organization{}, "organization_members": &clusterv1.OrganizationMember{},
		"teams": &clusterv1.Team{}, "team_members": &clusterv1.TeamMember{}, "users": &clusterv1.User{}, "customers": &clusterv1.Customer{},
		"budgets": &clusterv1.Budget{}, "models": &clusterv1.Deployment{}, "credentials": &clusterv1.Credential{}, "prices": &clusterv1.PriceRow{},
		"prompt_versions": &clusterv1.PromptVersion{},
	}
	all := clusterv1.File_cluster_v1_resource_proto.Messages()
	for i := range all.Len() {
		messages[strings.ToLower(string(all.Get(i).Name()))+"s"] = dynamicpb.NewMessage(all.Get(i))
	}
	for _, r := range restore.Ranges() {
		m := messages[r.GetName()]
		switch {
		case store.Space(r.GetSpace()) == store.SpaceSetting:
			m = &clusterv1.RouterSettings{}
		case store.Space(r.GetSpace()) == store.SpaceDelivery:
			m = &clusterv1.DeliverySettings{}
		case r.GetMarks():
			m = &clusterv1.Mark{}
		case r.GetName() == "":
			m = &clusterv1.Claim{}
		}
		if m == nil {
			t.Errorf("no message for %s", r.GetName())
			continue
		}
		fields := m.ProtoReflect().Descriptor().Fields()
		if f := fields.ByName("stamp"); f == nil || uint32(f.Number()) != r.GetStampField() {
			t.Errorf("%s has its stamp in %v, not in field %d", m.ProtoReflect().Descriptor().Name(), f, r.GetStampField())
		}
		var blocked uint32
		if f := fields.ByName("blocked"); f != nil {
			blocked = uint32(f.Number())
		}
		if blocked != r.GetBlockedField() {
			t.Errorf("%s is blocked by field %d, not %d", m.ProtoReflect().Descriptor().Name(), blocked, r.GetBlockedField())
		}
	}
}
