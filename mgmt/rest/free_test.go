package rest

import (
	"errors"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// Free JSON of a message is the same as the JSON of the message itself.
func TestFreeIsTheMessagesJSON(t *testing.T) {
	metadata, err := structpb.NewStruct(map[string]any{"a": []any{1.0, nil, true, map[string]any{"b": "c"}}})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 21, 14, 5, 6, 0, time.UTC)
	for name, m := range map[string]proto.Message{
		"empty": &gatewayv1.KeyRecord{},
		"full": &gatewayv1.KeyRecord{
			Key: "k", KeyAlias: wrapperspb.String(""), Models: []string{"a", "b"}, Expires: timestamppb.New(at.Add(120 * time.Millisecond)),
			CreatedAt: timestamppb.New(at), UpdatedAt: timestamppb.New(at.Add(123456789)), LastRotationAt: timestamppb.New(at.Add(123456 * time.Microsecond)),
			Blocked: true, Metadata: metadata, Aliases: map[string]string{"x": "y"}, RotationCount: 7, MaxBudget: wrapperspb.Double(0.1),
			TpmLimit: wrapperspb.UInt32(0), ModelRpmLimit: map[string]uint32{"m": 3}, Revision: 1 << 52,
			ModelMaxBudget: map[string]*gatewayv1.ModelBudget{"m": {MaxBudget: new(2.5)}, "n": {}},
		},
		"nested": &gatewayv1.GuardrailRecord{Engines: []*gatewayv1.GuardrailEngine{{EngineName: "presidio", Config: &gatewayv1.GuardrailConfig{ScoreThreshold: new(0.5)}}, {}}},
		"lists":  &gatewayv1.ListKeysResponse{Keys: &structpb.ListValue{Values: []*structpb.Value{structpb.NewStringValue("x")}}, CurrentPage: 2},
	} {
		text, err := jsonForm().Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		want := &structpb.Value{}
		if err := protojson.Unmarshal(text, want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, Free(m), protocmp.Transform()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A page of keys is written as protojson would write it, except for spaces.
func TestPagesAreTheMessagesJSON(t *testing.T) {
	odd, err := structpb.NewStruct(map[string]any{
		"text": "quotes \" and \\, a line\nand a tab\t, <b>&</b>, \u2028, \x01, žluťoučký, 🜁", "numbers": []any{0.0, -0.5, 1e21, 1.5e-9, 12345678901.0, 1 << 53, 0.1},
		"none": nil, "flags": []any{true, false}, "empty": map[string]any{}, "no": []any{}, "": "", "Z": 1.0, "a": map[string]any{"é": nil, "b": []any{map[string]any{"c": "d"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]*gatewayv1.ListKeysResponse{
		"empty":  {},
		"none":   {Keys: &structpb.ListValue{}, TotalCount: 3},
		"hashes": {Keys: &structpb.ListValue{Values: []*structpb.Value{structpb.NewStringValue("x"), structpb.NewStringValue("y")}}, CurrentPage: 2, TotalPages: 9},
		"records": {Keys: &structpb.ListValue{Values: []*structpb.Value{
			Free(&gatewayv1.KeyRecord{Key: "k", Models: []string{"a"}, Metadata: odd, MaxBudget: wrapperspb.Double(1e-7)}), structpb.NewStructValue(odd), structpb.NewNullValue(),
		}}},
	} {
		want, err := jsonForm().Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		got, err := (&answerJSON{}).Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		one, two := jsontext.Value(want), jsontext.Value(got)
		if err := errors.Join(one.Compact(), two.Compact()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(one), string(two)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
