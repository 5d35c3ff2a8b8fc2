package mgmt

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

func pico(n int64) *money.Pico { p := money.Pico(n); return &p }

func TestLimitsAreReadExactly(t *testing.T) {
	t.Parallel()
	in := &gatewayv1.CreateTeamRequest{
		MaxBudget: new(0.3), SoftBudget: new(1e-12), BudgetDuration: new("monthly"), MaxParallelRequests: new(uint32(1)),
		TpmLimit: new(uint32(2)), RpmLimit: new(uint32(0)), TpdLimit: new(uint32(4)), BudgetId: new("gold"),
		ModelMaxBudget: map[string]*gatewayv1.ModelBudget{"b": {MaxBudget: new(2.5), BudgetDuration: new("1d"), RpmLimit: new(uint32(5))}},
		ModelRpmLimit:  map[string]uint32{"b": 6, "a": 7}, ModelTpmLimit: map[string]uint32{"c": 8},
	}
	want := tenancy.Limits{
		MaxBudget: pico(300_000_000_000), SoftBudget: pico(1), BudgetDuration: "monthly", MaxParallel: new(uint32(1)),
		TPM: new(uint32(2)), RPM: new(uint32(0)), TPD: new(uint32(4)), Budget: "gold",
		Models: []tenancy.ModelLimits{
			{Model: "a", ModelRPM: new(uint32(7))},
			{Model: "b", MaxBudget: pico(2_500_000_000_000), BudgetDuration: "1d", RPM: new(uint32(5)), ModelRPM: new(uint32(6))},
			{Model: "c", ModelTPM: new(uint32(8))},
		},
	}
	got, err := limitsOf(in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("limits (- want):\n%s", diff)
	}
	shown := &gatewayv1.TeamRecord{}
	showLimits(shown, got)
	for _, name := range limitFields() {
		if !shown.ProtoReflect().Has(shown.ProtoReflect().Descriptor().Fields().ByTextName(name)) {
			t.Errorf("%s is not shown", name)
		}
	}
	if shown.GetMaxBudget().GetValue() != 0.3 || shown.GetSoftBudget().GetValue() != 1e-12 {
		t.Errorf("budgets are shown as %v and %v", shown.GetMaxBudget(), shown.GetSoftBudget())
	}
	if diff := cmp.Diff(in.GetModelMaxBudget(), shown.GetModelMaxBudget(), protocmp.Transform()); diff != "" {
		t.Errorf("model budgets (- want):\n%s", diff)
	}
}

// limitsOf reads the limits that a request gives.
func limitsOf(m proto.Message) (tenancy.Limits, error) { return patchLimits(tenancy.Limits{}, m, nil) }

// patchLimits changes limits by what a request gives and clears.
func patchLimits(old tenancy.Limits, m proto.Message, clears []string) (tenancy.Limits, error) {
	p := patchOf(m, clears, clears...)
	l := p.limits(old)
	return l, p.err
}

func TestLimitsThatAreRefused(t *testing.T) {
	t.Parallel()
	for want, in := range map[string]*gatewayv1.CreateTeamRequest{
		"invalid_value max_budget":                    {MaxBudget: new(1e-13)},
		"invalid_value soft_budget":                   {SoftBudget: new(math.NaN())},
		"invalid_value model_max_budget.m.max_budget": {ModelMaxBudget: map[string]*gatewayv1.ModelBudget{"m": {MaxBudget: new(-1.0)}}},
		"invalid_value model_max_budget.m":            {ModelMaxBudget: map[string]*gatewayv1.ModelBudget{"m": {}}},
		"invalid_value budget_duration":               {BudgetDuration: new("2y")},
	} {
		_, err := limitsOf(in)
		f := fault.From(err)
		if f == nil || f.Kind != fault.Malformed || f.Code+" "+f.Param != want {
			t.Errorf("%v: %v, want %s", in, err, want)
		}
	}
	for _, v := range []float64{0.30000000000000004, math.Inf(1), math.MaxFloat64, -0.1, 9_000_000.01, 9_300_000} {
		if _, err := dollars("p", v); fault.KindOf(err) != fault.Malformed {
			t.Errorf("%v dollars: %v", v, err)
		}
	}
}

// TestSoftBudgetOfAnUpdate checks limits as the update leaves them, not as it gives
// them.
func TestSoftBudgetOfAnUpdate(t *testing.T) {
	t.Parallel()
	old := tenancy.Limits{MaxBudget: pico(10 * int64(money.USD)), SoftBudget: pico(5 * int64(money.USD))}
	for _, test := range []struct {
		in     *gatewayv1.UpdateTeamRequest
		clears []string
		ok     bool
	}{
		{&gatewayv1.UpdateTeamRequest{MaxBudget: new(5.0)}, nil, false},
		{&gatewayv1.UpdateTeamRequest{SoftBudget: new(10.0)}, nil, false},
		{&gatewayv1.UpdateTeamRequest{MaxBudget: new(4.0), SoftBudget: new(3.0)}, nil, true},
		{&gatewayv1.UpdateTeamRequest{MaxBudget: new(5.0)}, []string{"soft_budget"}, true},
		{&gatewayv1.UpdateTeamRequest{SoftBudget: new(10.0)}, []string{"max_budget"}, true},
	} {
		if _, err := patchLimits(old, test.in, test.clears); (err == nil) != test.ok {
			t.Errorf("%v, cleared %v: %v", test.in, test.clears, err)
		}
	}
}

// TestPatchLimits sets, clears or omits each field at random, and compares the result with the
// rule of each case.
func TestPatchLimits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		old := &gatewayv1.CreateTeamRequest{}
		giveSome(t, old, "old")
		before, err := limitsOf(old)
		if err != nil {
			t.Fatal(err)
		}
		in := &gatewayv1.UpdateTeamRequest{}
		giveSome(t, in, "new")
		var clears []string
		want := &gatewayv1.TeamRecord{}
		showLimits(want, before)
		given := &gatewayv1.TeamRecord{}
		all, err := limitsOf(in)
		if err != nil {
			t.Fatal(err)
		}
		showLimits(given, all)
		for _, name := range limitFields() {
			f := want.ProtoReflect().Descriptor().Fields().ByTextName(name)
			switch rapid.IntRange(0, 2).Draw(t, name) {
			case 0: // leave it
				in.ProtoReflect().Clear(in.ProtoReflect().Descriptor().Fields().ByTextName(name))
			case 1:
				in.ProtoReflect().Clear(in.ProtoReflect().Descriptor().Fields().ByTextName(name))
				clears = append(clears, name)
				want.ProtoReflect().Clear(f)
			default:
				if given.ProtoReflect().Has(f) {
					want.ProtoReflect().Set(f, given.ProtoReflect().Get(f))
				}
			}
		}
		after, err := patchLimits(before, in, clears)
		if err != nil {
			t.Fatal(err)
		}
		got := &gatewayv1.TeamRecord{}
		showLimits(got, after)
		if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
			t.Fatalf("limits (- want):\n%s", diff)
		}
	})
}

// giveSome gives some of the limits of a request.
func giveSome(t *rapid.T, m proto.Message, label string) {
	text := map[string]string{}
	number := func(name string, most int) {
		if rapid.Bool().Draw(t, label+name) {
			text[name] = strconv.Itoa(rapid.IntRange(0, most).Draw(t, label+name+"="))
		}
	}
	for _, name := range []string{fieldMaxParallel, fieldTPM, fieldRPM, fieldTPD} {
		number(name, 9)
	}
	number(fieldMaxBudget, 9)
	if rapid.Bool().Draw(t, label+fieldBudgetDuration) {
		text[fieldBudgetDuration] = `"1d"`
	}
	if rapid.Bool().Draw(t, label+fieldBudgetID) {
		text[fieldBudgetID] = `"gold"`
	}
	models := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 3, rapid.ID[string])
	maps := map[string]string{fieldModelBudget: `{"max_budget":2,"rpm_limit":1}`, fieldModelRPM: "3", fieldModelTPM: "4"}
	for _, name := range []string{fieldModelBudget, fieldModelRPM, fieldModelTPM} {
		var entries []string
		for _, model := range models.Draw(t, label+name) {
			entries = append(entries, `"`+model+`":`+maps[name])
		}
		text[name] = "{" + strings.Join(entries, ",") + "}"
	}
	var members []string
	for name, v := range text {
		members = append(members, `"`+name+`":`+v)
	}
	if err := protojson.Unmarshal([]byte("{"+strings.Join(members, ",")+"}"), m); err != nil {
		t.Fatal(err)
	}
}

// TestDollarsComeBack checks that a response shows an amount as it was sent.
func TestDollarsComeBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.Int64Range(0, 1e12).Draw(t, "digits")
		v, err := strconv.ParseFloat(strconv.FormatInt(digits, 10)+"e-"+strconv.Itoa(rapid.IntRange(6, 12).Draw(t, "places")), 64)
		if err != nil {
			t.Fatal(err)
		}
		amount, err := dollars("p", v)
		if err != nil || inDollars(amount) != v {
			t.Fatalf("%v came back as %v: %v", v, inDollars(amount), err)
		}
	})
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	in, err := structpb.NewStruct(map[string]any{"b": 1.5, "a": []any{nil, true, "x"}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := metadataText(in)
	if err != nil || text != `{"a":[null,true,"x"],"b":1.5}` {
		t.Errorf("%s, %v", text, err)
	}
	if diff := cmp.Diff(in, showMetadata(text), protocmp.Transform()); diff != "" {
		t.Errorf("it came back as (- want):\n%s", diff)
	}
	for _, none := range []*structpb.Struct{nil, {}} {
		if text, err := metadataText(none); text != "" || err != nil {
			t.Errorf("%v is %q, %v", none, text, err)
		}
	}
	large, err := structpb.NewStruct(map[string]any{"a": strings.Repeat("x", maxMetadata)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := metadataText(large); fault.From(err).Code != "too_long" {
		t.Errorf("too much: %v", err)
	}
}

func TestCleared(t *testing.T) {
	t.Parallel()
	got, err := cleared([]string{"a", "b"}, "a", "b", "c")
	if err != nil || !got["a"] || !got["b"] || got["c"] {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := cleared([]string{"a", "x"}, "a"); fault.From(err).Param != "x" {
		t.Errorf("what has to have a value: %v", err)
	}
}
