package usage_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/usage"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// fill sets every field to a value that is not its zero value.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	if at, ok := reflect.TypeAssert[*time.Time](v.Addr()); ok {
		*at = time.Unix(1_700_000_000, 5).UTC()
		return
	}
	switch {
	case v.Kind() == reflect.String:
		v.SetString("x")
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.CanInt():
		v.SetInt(1)
	case v.CanUint():
		v.SetUint(1)
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(t, v.Index(0))
	case v.Kind() == reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i))
		}
	case v.Kind() == reflect.Struct:
		for _, field := range v.Fields() {
			fill(t, field)
		}
	default:
		t.Fatalf("a field of kind %s: say here how to fill it", v.Kind())
	}
}

// TestEveryFieldIsStored goes through every field, those that are added later as well. An
// empty attempt after it shows that the encoder leaves nothing behind.
func TestEveryFieldIsStored(t *testing.T) {
	t.Parallel()
	var full usage.Attempt
	var ended usage.Result
	fill(t, reflect.ValueOf(&full).Elem())
	fill(t, reflect.ValueOf(&ended).Elem())
	var e usage.Encoder
	written, read := &clusterv1.UsageEvent{}, &clusterv1.UsageEvent{}
	for _, want := range []struct {
		usage.Attempt
		usage.Result
	}{{full, ended}, {}} {
		e.Attempt(written, &want.Attempt)
		e.Result(written, &want.Result)
		value, err := proto.Marshal(written)
		if err != nil {
			t.Fatal(err)
		}
		if err := proto.Unmarshal(value, read); err != nil {
			t.Fatal(err)
		}
		a, r := full, ended // Decode replaces them
		a.Decode(read)
		r.Decode(read)
		if diff := cmp.Diff(want.Attempt, a); diff != "" {
			t.Errorf("-written +read\n%s", diff)
		}
		if diff := cmp.Diff(want.Result, r); diff != "" {
			t.Errorf("-written +read\n%s", diff)
		}
	}
}

func TestWhoPaysForAnAttempt(t *testing.T) {
	t.Parallel()
	a := usage.Attempt{Key: id.HashKey("now"), EndUser: "alice", Organization: "acme", OfOrganization: true}
	if a.Account() != a.Key || a.EndUserAccount() != (id.Account{Kind: id.AccountCustomer, Owner: "alice", Part: "acme"}) {
		t.Errorf("%v and %+v pay", a.Account(), a.EndUserAccount())
	}
	a.Origin, a.OfOrganization = id.HashKey("first"), false
	if a.Account() != a.Origin || a.EndUserAccount() != (id.Account{Kind: id.AccountCustomer, Owner: "alice"}) {
		t.Errorf("%v and %+v pay", a.Account(), a.EndUserAccount())
	}
}

// TestEventsWithoutGuardrailsAllocateNothing: an encoder that has been used writes the event of a request without
// guardrails into the memory that it has.
func TestEventsWithoutGuardrailsAllocateNothing(t *testing.T) {
	var e usage.Encoder
	m := &clusterv1.UsageEvent{}
	a := usage.Attempt{Request: "req_1", Tags: []string{"a"}, Charges: []usage.Charge{{Kind: id.AccountKey, Bounded: true}}}
	r := usage.Result{Outcome: usage.Success, Final: true}
	if n := testing.AllocsPerRun(100, func() {
		e.Attempt(m, &a)
		e.Result(m, &r)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestSumsOfViolations have no places, and a bounded number of sorts.
func TestSumsOfViolations(t *testing.T) {
	t.Parallel()
	v := usage.Violation{Guardrail: "pii", Engine: "presidio", Hook: "pre_call", Entity: "PERSON", Action: "block", Place: "messages[1].content", Offset: 5, Count: 2}
	elsewhere, other, more := v, v, v
	elsewhere.Place, other.Entity, more.Entity = "messages[2].content", "PHONE", "URL"
	sum := v
	sum.Place, sum.Offset, sum.Count = "", 0, 4
	otherSum := other
	otherSum.Place, otherSum.Offset = "", 0
	if diff := cmp.Diff([]usage.Violation{sum, otherSum}, usage.Sums(nil, []usage.Violation{v, other, elsewhere, more}, 2)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
