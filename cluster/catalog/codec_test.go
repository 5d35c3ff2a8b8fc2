package catalog_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/record/recordtest"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/vault"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// seal is no encryption, but tells another context.
func seal(plain vault.Secret, of string) ([]byte, error) {
	return []byte(of + "\n" + plain.Reveal()), nil
}

// locked is a secret that nobody can open.
const locked = "locked"

func open(sealed []byte, of string) (vault.Secret, error) {
	plain, ok := bytes.CutPrefix(sealed, []byte(of+"\n"))
	switch {
	case !ok:
		return vault.Secret{}, errors.New("another context")
	case string(plain) == locked:
		return vault.Secret{}, vault.ErrOtherKey
	}
	return vault.NewSecret(string(plain)), nil
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
		CredentialName: text.Draw(t, "credential"), Organization: text.Draw(t, "organization"),
		Guardrails: rapid.SampledFrom([][]string{nil, {"a"}, {"b", "a"}}).Draw(t, "guardrails"),
		API:        rapid.SampledFrom([]string{"", "chat", "converse"}).Draw(t, "api"),
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
	for _, name := range []string{cloud.AWSRegion, cloud.AWSSecretAccessKey, cloud.VertexCredentials} {
		if value := text.Draw(t, name); value != "" {
			if s.Cloud == nil {
				s.Cloud = map[string]vault.Secret{}
			}
			s.Cloud[name] = vault.NewSecret(value)
		}
	}
	return s
}

func drawPatch(t *rapid.T) catalog.RouterSpec {
	list := rapid.SampledFrom([][]string{nil, {}, {"a"}, {"b", "a"}})
	fallbacks := rapid.SampledFrom([][]map[string][]string{nil, {}, {{"a": {"b"}}}, {{"b": {}}, {"a": {"c", "b"}}}})
	duration := rapid.SampledFrom([]*time.Duration{nil, new(time.Duration(0)), new(time.Second)})
	integer := rapid.SampledFrom([]*int{nil, new(0), new(7)})
	boolean := rapid.SampledFrom([]*bool{nil, new(false), new(true)})
	return catalog.RouterSpec{
		Strategy:   rapid.SampledFrom([]*string{nil, new(""), new("least_busy")}).Draw(t, "strategy"),
		NumRetries: integer.Draw(t, "retries"), RetryAfter: duration.Draw(t, "after"), Timeout: duration.Draw(t, "timeout"),
		StreamTimeout: duration.Draw(t, "stream"), CooldownTime: duration.Draw(t, "cooldown"), AllowedFails: integer.Draw(t, "fails"),
		MaxFallbacks: integer.Draw(t, "fallbacks"), DefaultMaxParallel: integer.Draw(t, "parallel"), RetryOn: list.Draw(t, "on"), DisableCooldowns: boolean.Draw(t, "disable"),
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
		want := catalog.Stored{Spec: s, Sealed: catalog.Sealed{APIKey: records[0].GetSealedApiKey()}}
		for _, h := range records[0].GetSealedHeaders() {
			if want.Sealed.Headers == nil {
				want.Sealed.Headers = map[string][]byte{}
			}
			want.Sealed.Headers[h.GetName()] = h.GetSealed()
		}
		for _, v := range records[0].GetSealedSettings() {
			if want.Sealed.Cloud == nil {
				want.Sealed.Cloud = map[string][]byte{}
			}
			want.Sealed.Cloud[v.GetName()] = v.GetSealed()
		}
		for _, v := range records[0].GetSettings() {
			if v.GetName() != cloud.AWSRegion {
				t.Fatalf("%s is not sealed", v.GetName())
			}
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(vault.Secret{}), cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Fatalf("error %v, deployment (-want +got)\n%s", err, diff)
		}
		if !bytes.Equal(marshaled(t, records[0]), marshaled(t, records[1])) {
			t.Fatal("one deployment has two records")
		}
		p := drawPatch(t)
		if diff := cmp.Diff(p, catalog.SpecFromRecord(wired(t, p.Record()))); diff != "" {
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
		file := drawPatch(t)
		p, q := drawPatch(t), drawPatch(t)
		if diff := cmp.Diff(file.Merge(p).Merge(q), file.Merge(p.Merge(q))); diff != "" {
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

// TestDamagedRecords: a record that cannot be read is left out and told of, and a
// state that cannot be read is no empty one.
func TestDamagedRecords(t *testing.T) {
	t.Parallel()
	c := build(t, catalog.RouterSpec{}, deploy("f", "m", "openai/x"))
	var changes []record.Change
	var state recordtest.State
	for space, key := range map[store.Space]string{store.SpaceDeployment: "d", store.SpaceCredential: "c", store.SpaceSetting: "router"} {
		changes = append(changes, record.Change{Space: space, Key: []byte(key), Value: []byte("\xff\xff")})
		state.Set(space, []byte(key), []byte("\xff\xff"))
	}
	changes = append(changes, record.Change{Space: store.SpaceCredential, Key: []byte("\x00c"), Value: []byte("\xff")})
	state.Set(store.SpaceCredential, []byte("\x00c"), []byte("\xff"))
	next, _, broken := c.Apply(changes, open)
	if len(broken) != 4 || next.Len() != 1 {
		t.Errorf("%d deployments, broken %v", next.Len(), broken)
	}
	next, broken, err := c.Load(t.Context(), &state, open)
	if err != nil || len(broken) != 4 || next.Len() != 1 {
		t.Errorf("error %v, broken %v", err, broken)
	}
	if loaded, _, err := c.Load(t.Context(), noDisk{}, open); err == nil || loaded != nil {
		t.Error("a state was loaded from a broken disk")
	}
}

type noDisk struct{}

func (noDisk) Scan(context.Context, store.Range, func(key, value []byte) bool) error {
	return errors.New("I/O error")
}

// TestFieldsOfTheRecord: the record stores each router setting, and no other.
func TestFieldsOfTheRecord(t *testing.T) {
	t.Parallel()
	var got, want []string
	fields := (*clusterv1.RouterSettings)(nil).ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		if name := string(fields.Get(i).Name()); name != "stamp" {
			got = append(got, strings.TrimSuffix(name, "_nanos"))
		}
	}
	for _, f := range catalog.RouterFields() {
		want = append(want, f.Name)
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings (-) and fields of the record (+)\n%s", diff)
	}
}
