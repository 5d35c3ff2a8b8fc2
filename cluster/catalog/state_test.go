package catalog_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/vault"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// memory is a state in memory. What is wrong is what every read says.
type memory struct {
	records map[string]string // the byte of the space and the key
	wrong   error
}

func newMemory() *memory { return &memory{records: map[string]string{}} }

func (m *memory) at(space store.Space, key []byte) string { return string(rune(space)) + string(key) }

func (m *memory) Get(space store.Space, key []byte) (value []byte, ok bool, err error) {
	v, ok := m.records[m.at(space, key)]
	return []byte(v), ok, m.wrong
}

func (m *memory) Set(space store.Space, key, value []byte) {
	m.records[m.at(space, key)] = string(value)
}

func (m *memory) Delete(space store.Space, key []byte) { delete(m.records, m.at(space, key)) }

func (m *memory) Scan(_ context.Context, r store.Range, fn func(key, value []byte) bool) error {
	for _, key := range slices.Sorted(maps.Keys(m.records)) {
		if rest, ok := strings.CutPrefix(key, string(rune(r.Space))); ok && !fn([]byte(rest), []byte(m.records[key])) {
			break
		}
	}
	return m.wrong
}

// apply makes a change as the log does: a fault drops what was written.
func (m *memory) apply(c *clusterv1.Command, by catalog.Stamp) *fault.Error {
	tx := &memory{records: maps.Clone(m.records), wrong: m.wrong}
	var f *fault.Error
	switch change := c.GetChange().(type) {
	case *clusterv1.Command_CreateDeployment:
		_, f = catalog.CreateDeployment(tx, change.CreateDeployment, by)
	case *clusterv1.Command_DeleteDeployment:
		f = catalog.DeleteDeployment(tx, change.DeleteDeployment)
	case *clusterv1.Command_UpdateRouter:
		_, f = catalog.UpdateRouter(tx, change.UpdateRouter, by)
	}
	if f == nil {
		m.records = tx.records
	}
	return f
}

func create(r *clusterv1.Deployment) *clusterv1.Command {
	return &clusterv1.Command{Change: &clusterv1.Command_CreateDeployment{CreateDeployment: &clusterv1.CreateDeployment{Deployment: r}}}
}

func remove(d string) *clusterv1.Command {
	return &clusterv1.Command{Change: &clusterv1.Command_DeleteDeployment{DeleteDeployment: &clusterv1.DeleteDeployment{Id: d}}}
}

func update(p catalog.RouterPatch, revision uint64) *clusterv1.Command {
	return &clusterv1.Command{Change: &clusterv1.Command_UpdateRouter{UpdateRouter: &clusterv1.UpdateRouter{Settings: p.Record(), IfRevision: revision}}}
}

// seal is no encryption, but tells another context.
func seal(plain vault.Secret, of string) ([]byte, error) {
	return []byte(of + "\n" + plain.Reveal()), nil
}

func open(sealed []byte, of string) (vault.Secret, error) {
	plain, ok := bytes.CutPrefix(sealed, []byte(of+"\n"))
	if !ok {
		return vault.Secret{}, errors.New("another context")
	}
	return vault.NewSecret(string(plain)), nil
}

func stampAt(index uint64) catalog.Stamp {
	return catalog.Stamp{Index: index, Time: time.Unix(int64(index), 5).UTC(), Actor: "admin"}
}

func TestStateFunctions(t *testing.T) {
	t.Parallel()
	m := newMemory()
	record, err := catalog.ToRecord(deploy("d", "m", "openai/x"), seal)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(record.GetSealedApiKey(), []byte("sk-provider")) {
		t.Error("the key is in the record as it is")
	}
	settings := catalog.RouterPatch{NumRetries: new(1)}
	for i, test := range []struct {
		command *clusterv1.Command
		kind    fault.Kind
		want    string // param and code; empty: done
	}{
		{remove("d"), fault.NotFound, "id model_not_found"},
		{create(record), 0, ""},
		{create(record), fault.Exists, "model_info.id already_exists"},
		{create(&clusterv1.Deployment{}), fault.Malformed, "model_info.id missing_required_parameter"},
		{remove("d"), 0, ""},
		{remove("d"), fault.NotFound, "id model_not_found"},
		{create(record), 0, ""},
		{update(settings, 3), fault.Conflict, " revision_conflict"},
		{update(settings, 0), 0, ""},
		{update(settings, 8), fault.Conflict, " revision_conflict"},
		{update(settings, 9), 0, ""},
	} {
		f := m.apply(test.command, stampAt(uint64(i+1)))
		switch {
		case f == nil && test.want == "":
		case f == nil || f.Kind != test.kind || f.Param+" "+f.Code != test.want || f.Detail == "":
			t.Errorf("entry %d: %v, want %s", i+1, f, test.want)
		}
	}
	all, err := catalog.LoadDeployments(t.Context(), m)
	if err != nil || len(all) != 1 {
		t.Fatalf("deployments %v, error %v", all, err)
	}
	got, err := catalog.FromRecord(all[0], open)
	want := catalog.Stored{Spec: deploy("d", "m", "openai/x"), CreatedAt: stampAt(7).Time, CreatedBy: "admin", UpdatedAt: stampAt(7).Time, Revision: 7}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(vault.Secret{})); diff != "" || err != nil {
		t.Errorf("error %v, stored (-want +got)\n%s", err, diff)
	}
	router, err := catalog.LoadRouter(m)
	stamp := &clusterv1.Stamp{CreatedUnixNano: 9_000_000_005, CreatedBy: "admin", UpdatedUnixNano: 11_000_000_005, UpdatedBy: "admin", Revision: 11}
	if diff := cmp.Diff(stamp, router.GetStamp(), protocmp.Transform()); diff != "" || err != nil {
		t.Errorf("error %v, stamp of the settings (-want +got)\n%s", err, diff)
	}
}

// TestUnreadableState: trouble with the disk or a damaged record is neither an
// outcome nor an empty answer.
func TestUnreadableState(t *testing.T) {
	t.Parallel()
	record, err := catalog.ToRecord(deploy("d", "m", "openai/x"), seal)
	if err != nil {
		t.Fatal(err)
	}
	check := func(name string, m *memory, kind fault.Kind) {
		t.Helper()
		for _, c := range []*clusterv1.Command{create(record), remove("d"), update(catalog.RouterPatch{}, 0)} {
			if f := m.apply(c, stampAt(1)); f == nil || f.Kind != kind {
				t.Errorf("%s: %T says %v", name, c.GetChange(), f)
			}
		}
	}
	disk := newMemory()
	disk.wrong = fault.New(fault.StorageUnavailable, "", "disk")
	check("a full disk", disk, fault.StorageUnavailable)
	disk.wrong = errors.New("I/O error")
	check("a broken disk", disk, fault.Internal)
	if _, err := catalog.LoadDeployments(t.Context(), disk); err == nil {
		t.Error("deployments were loaded from a broken disk")
	}
	damaged := newMemory()
	damaged.Set(store.SpaceDeployment, []byte("d"), []byte("\xff\xff"))
	damaged.Set(store.SpaceSetting, []byte("router"), []byte("\xff\xff"))
	if f := damaged.apply(update(catalog.RouterPatch{}, 0), stampAt(1)); f == nil || f.Kind != fault.Internal {
		t.Errorf("damaged settings are changed: %v", f)
	}
	if all, err := catalog.LoadDeployments(t.Context(), damaged); err == nil || all != nil {
		t.Errorf("of damaged deployments there are %v", all)
	}
}

func TestRecordsOfOtherKeys(t *testing.T) {
	t.Parallel()
	s := deploy("d", "m", "openai/x")
	s.ExtraHeaders = map[string]vault.Secret{"x-a": vault.NewSecret("1"), "x-b": {}}
	r, err := catalog.ToRecord(s, seal)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := catalog.FromRecord(r, open); err != nil || got.Spec.ExtraHeaders["x-a"].Reveal() != "1" || len(got.Spec.ExtraHeaders) != 2 {
		t.Errorf("headers are %v, error %v", got.Spec.ExtraHeaders, err)
	}
	for name, change := range map[string]func(*clusterv1.Deployment){
		"another deployment": func(r *clusterv1.Deployment) { r.Id = "e" },
		"another header":     func(r *clusterv1.Deployment) { r.SealedApiKey, r.SealedHeaders[0].Name = nil, "x-c" },
		"a header as key":    func(r *clusterv1.Deployment) { r.SealedApiKey = r.GetSealedHeaders()[0].GetSealed() },
	} {
		moved := proto.CloneOf(r)
		change(moved)
		if _, err := catalog.FromRecord(moved, open); err == nil {
			t.Errorf("%s opens the secret", name)
		}
	}
	refuse := func(vault.Secret, string) ([]byte, error) { return nil, errors.New("no key") }
	if _, err := catalog.ToRecord(s, refuse); err == nil {
		t.Error("a deployment was written without its key")
	}
}

func drawSpec(t *rapid.T) catalog.DeploymentSpec {
	text := rapid.StringMatching(`[a-zé/*. ]{0,8}`)
	number := rapid.Int64Range(-1, 1<<40)
	s := catalog.DeploymentSpec{
		ID: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "id"), ModelName: text.Draw(t, "name"), Model: text.Draw(t, "model"),
		APIBase: text.Draw(t, "base"), APIKey: vault.NewSecret(text.Draw(t, "key")), BaseModel: text.Draw(t, "base model"),
		Weight: number.Draw(t, "weight"), RPM: number.Draw(t, "rpm"), TPM: number.Draw(t, "tpm"), Order: int(number.Draw(t, "order")),
		Timeout: time.Duration(number.Draw(t, "timeout")), StreamTimeout: time.Duration(number.Draw(t, "stream")),
		MaxTokens: number.Draw(t, "max"), MaxInputTokens: number.Draw(t, "in"), MaxOutputTokens: number.Draw(t, "out"), DropParams: rapid.Bool().Draw(t, "drop"),
	}
	for name, value := range rapid.MapOfN(text, text, 0, 4).Draw(t, "prices") {
		if s.Prices == nil {
			s.Prices = map[string]string{}
		}
		s.Prices[name] = value
	}
	for name, value := range rapid.MapOfN(text, text, 0, 4).Draw(t, "headers") {
		if s.ExtraHeaders == nil {
			s.ExtraHeaders = map[string]vault.Secret{}
		}
		s.ExtraHeaders[name] = vault.NewSecret(value)
	}
	return s
}

func drawPatch(t *rapid.T) catalog.RouterPatch {
	list := rapid.SampledFrom([][]string{nil, {}, {"a"}, {"b", "a"}})
	fallbacks := rapid.SampledFrom([][]map[string][]string{nil, {}, {{"a": {"b"}}}, {{"b": {}}, {"a": {"c", "b"}}}})
	duration := rapid.SampledFrom([]*time.Duration{nil, new(time.Duration(0)), new(time.Second)})
	integer := rapid.SampledFrom([]*int{nil, new(0), new(7)})
	boolean := rapid.SampledFrom([]*bool{nil, new(false), new(true)})
	return catalog.RouterPatch{
		Strategy:   rapid.SampledFrom([]*string{nil, new(""), new("least_busy")}).Draw(t, "strategy"),
		NumRetries: integer.Draw(t, "retries"), RetryAfter: duration.Draw(t, "after"), Timeout: duration.Draw(t, "timeout"),
		StreamTimeout: duration.Draw(t, "stream"), CooldownTime: duration.Draw(t, "cooldown"), AllowedFails: integer.Draw(t, "fails"),
		MaxFallbacks: integer.Draw(t, "fallbacks"), RetryOn: list.Draw(t, "on"), DisableCooldowns: boolean.Draw(t, "disable"),
		EnablePreCallChecks: boolean.Draw(t, "checks"),
		ModelGroupAlias:     rapid.SampledFrom([]map[string]string{nil, {}, {"a": "b"}, {"c": "d", "b": "a"}}).Draw(t, "alias"),
		Fallbacks:           fallbacks.Draw(t, "general"), DefaultFallbacks: list.Draw(t, "default"),
		ContextWindowFallbacks: fallbacks.Draw(t, "window"), ContentPolicyFallbacks: fallbacks.Draw(t, "policy"),
	}
}

// TestRecordsRoundTrip: what is written is read, and equal things are equal bytes.
func TestRecordsRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpec(t)
		records := make([]*clusterv1.Deployment, 2)
		for i := range records {
			var err error
			if records[i], err = catalog.ToRecord(s, seal); err != nil {
				t.Fatal(err)
			}
		}
		got, err := catalog.FromRecord(wired(t, records[0]), open)
		if diff := cmp.Diff(catalog.Stored{Spec: s}, got, cmp.AllowUnexported(vault.Secret{})); diff != "" || err != nil {
			t.Fatalf("error %v, deployment (-want +got)\n%s", err, diff)
		}
		if !bytes.Equal(marshaled(t, records[0]), marshaled(t, records[1])) {
			t.Fatal("one deployment has two records")
		}
		p := drawPatch(t)
		if diff := cmp.Diff(p, catalog.PatchFromRecord(wired(t, p.Record()))); diff != "" {
			t.Fatalf("patch (-want +got)\n%s", diff)
		}
		if !bytes.Equal(marshaled(t, p.Record()), marshaled(t, p.Record())) {
			t.Fatal("one patch has two records")
		}
	})
}

// TestPatchesMerge: patches one after the other do what their merger does at once.
func TestPatchesMerge(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		file := catalog.RouterSpec{}.Patch(drawPatch(t))
		p, q := drawPatch(t), drawPatch(t)
		if diff := cmp.Diff(file.Patch(p).Patch(q), file.Patch(p.Merge(q))); diff != "" {
			t.Fatalf("(-one after the other +at once)\n%s", diff)
		}
	})
}

func marshaled(t *rapid.T, m proto.Message) []byte {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// wired is a message as it comes out of the log.
func wired[M proto.Message](t *rapid.T, m M) M {
	out, _ := m.ProtoReflect().New().Interface().(M)
	if err := proto.Unmarshal(marshaled(t, m), out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestStateAgainstModel: commands on the state come to what they come to on plain
// maps, refusals included, and to the same bytes on every node, also where one
// read them from the log and another still has what was proposed.
func TestStateAgainstModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		nodes := []*memory{newMemory(), newMemory()}
		deployments := map[string]catalog.Stored{}
		patch, revision := catalog.RouterPatch{}, uint64(0)
		for i := range uint64(rapid.IntRange(1, 25).Draw(t, "entries")) {
			by := stampAt(i + 1)
			var command *clusterv1.Command
			want := ""
			switch rapid.IntRange(0, 2).Draw(t, "command") {
			case 0:
				s := drawSpec(t)
				record, err := catalog.ToRecord(s, seal)
				if err != nil {
					t.Fatal(err)
				}
				command = create(record)
				if _, taken := deployments[s.ID]; taken {
					want = "already_exists"
				} else {
					deployments[s.ID] = catalog.Stored{Spec: s, CreatedAt: by.Time, CreatedBy: by.Actor, UpdatedAt: by.Time, Revision: by.Index}
				}
			case 1:
				d := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "id")
				command = remove(d)
				if _, ok := deployments[d]; !ok {
					want = "model_not_found"
				}
				delete(deployments, d)
			case 2:
				p := drawPatch(t)
				expects := rapid.SampledFrom([]uint64{0, revision, revision + 1}).Draw(t, "revision")
				command = update(p, expects)
				if expects != 0 && expects != revision {
					want = "revision_conflict"
				} else {
					patch, revision = patch.Merge(p), by.Index
				}
			}
			for n, m := range nodes {
				c := command
				if n > 0 {
					c = wired(t, command)
				}
				f := m.apply(c, by)
				if (f == nil) != (want == "") || f != nil && f.Code != want {
					t.Fatalf("entry %d on node %d: %v, want %q", by.Index, n, f, want)
				}
			}
		}
		if diff := cmp.Diff(nodes[0].records, nodes[1].records); diff != "" {
			t.Fatalf("two nodes differ\n%s", diff)
		}
		records, err := catalog.LoadDeployments(context.Background(), nodes[0])
		if err != nil || !slices.IsSortedFunc(records, func(a, b *clusterv1.Deployment) int { return strings.Compare(a.GetId(), b.GetId()) }) {
			t.Fatalf("deployments %v, error %v", records, err)
		}
		got := map[string]catalog.Stored{}
		for _, r := range records {
			if got[r.GetId()], err = catalog.FromRecord(r, open); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(deployments, got, cmp.AllowUnexported(vault.Secret{})); diff != "" {
			t.Fatalf("deployments (-model +state)\n%s", diff)
		}
		router, err := catalog.LoadRouter(nodes[0])
		if diff := cmp.Diff(patch, catalog.PatchFromRecord(router)); diff != "" || err != nil || router.GetStamp().GetRevision() != revision {
			t.Fatalf("error %v, revision %d, want %d, settings (-model +state)\n%s", err, router.GetStamp().GetRevision(), revision, diff)
		}
	})
}

func TestNewDeploymentID(t *testing.T) {
	t.Parallel()
	a, b := catalog.NewDeploymentID(), catalog.NewDeploymentID()
	if a == b || len(a) != 32 {
		t.Errorf("ids %q and %q", a, b)
	}
	if _, err := build(t, catalog.RouterSpec{}).With(deploy(string(a), "m", "openai/x")); err != nil {
		t.Error(err)
	}
}

// TestStateInAStore: what was committed is there when the store is opened again.
func TestStateInAStore(t *testing.T) {
	t.Parallel()
	cfg := store.Config{Kind: store.StateStore, Dir: "state", FS: vfs.NewMem()}
	s, err := store.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	record, err := catalog.ToRecord(deploy("d", "m", "openai/x"), seal)
	if err != nil {
		t.Fatal(err)
	}
	tx := s.NewTx()
	if _, f := catalog.CreateDeployment(tx, create(record).GetCreateDeployment(), stampAt(1)); f != nil {
		t.Fatal(f)
	}
	if _, f := catalog.CreateDeployment(tx, create(record).GetCreateDeployment(), stampAt(2)); f == nil || f.Kind != fault.Exists {
		t.Errorf("what the same batch created is created again: %v", f)
	}
	if _, f := catalog.UpdateRouter(tx, update(catalog.RouterPatch{NumRetries: new(1)}, 0).GetUpdateRouter(), stampAt(3)); f != nil {
		t.Fatal(f)
	}
	if err := tx.CommitReplayable(); err != nil {
		t.Fatal(err)
	}
	tx.Close()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = store.Open(cfg); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	if all, err := catalog.LoadDeployments(t.Context(), s); err != nil || len(all) != 1 || all[0].GetStamp().GetRevision() != 1 {
		t.Errorf("deployments %v, error %v", all, err)
	}
	if router, err := catalog.LoadRouter(s); err != nil || router.GetStamp().GetRevision() != 3 {
		t.Errorf("settings %v, error %v", router, err)
	}
}
