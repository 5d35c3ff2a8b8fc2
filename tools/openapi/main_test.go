package main

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
	"google.golang.org/protobuf/types/pluginpb"

	optionsv1 "github.com/modelgateway/modelgateway/proto/gen/options/v1"
)

var update = flag.Bool("update", false, "rewrite the expected outputs")

// descriptors are the file descriptors of testdata, changed by edit, and those
// that they import.
func descriptors(t *testing.T, edit func(string) string) []*descriptorpb.FileDescriptorProto {
	t.Helper()
	text, err := os.ReadFile("testdata/image.txtpb")
	if err != nil {
		t.Fatal(err)
	}
	var set descriptorpb.FileDescriptorSet
	if err := prototext.Unmarshal([]byte(edit(string(text))), &set); err != nil {
		t.Fatal(err)
	}
	imported := map[string]protoreflect.FileDescriptor{}
	for _, f := range []protoreflect.FileDescriptor{structpb.File_google_protobuf_struct_proto, wrapperspb.File_google_protobuf_wrappers_proto, validate.File_buf_validate_validate_proto, optionsv1.File_options_v1_options_proto} {
		imported[f.Path()] = f
		for i := range f.Imports().Len() {
			imported[f.Imports().Get(i).Path()] = f.Imports().Get(i).FileDescriptor
		}
	}
	for _, f := range imported {
		set.File = append(set.GetFile(), protodesc.ToFileDescriptorProto(f))
	}
	return set.GetFile()
}

func same(s string) string { return s }

// plugin runs the program as buf does and returns the document.
func plugin(t *testing.T, edit func(string) string) (string, error) {
	t.Helper()
	req, err := proto.Marshal(&pluginpb.CodeGeneratorRequest{
		Parameter: new("base=testdata/base.yaml"), ProtoFile: descriptors(t, edit),
	})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(bytes.NewReader(req), &out); err != nil {
		t.Fatal(err)
	}
	var answer pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(out.Bytes(), &answer); err != nil {
		t.Fatal(err)
	}
	if answer.Error != nil {
		return "", errors.New(answer.GetError())
	}
	for _, f := range answer.GetFile() {
		if f.GetName() == "openapi.json" {
			return f.GetContent(), nil
		}
	}
	return "", errors.New("there is no document")
}

// The document of a small API is what stands in testdata.
func TestDocument(t *testing.T) {
	got, err := plugin(t, same)
	if err != nil {
		t.Fatal(err)
	}
	const name = "testdata/openapi.json"
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if again, err := plugin(t, same); err != nil || again != got {
		t.Errorf("the second document is another one: %v", err)
	}
}

// What cannot be described is refused, with the place.
func TestRefused(t *testing.T) {
	for _, tc := range []struct{ name, from, to, want string }{
		{"a pattern of the server's own", `pattern: "^[a-z]+$"`, `pattern: "(?i)^[a-z]+$"`, "test.v1.CreateThingRequest.name: pattern"},
		{"a number that JSON lacks", `name: "count" number: 7 type: TYPE_UINT32`, `name: "count" number: 7 type: TYPE_INT64`, "test.v1.CreateThingRequest.count: JSON has no int64"},
		{"an object in a query", `name: "tag" number: 2 type: TYPE_STRING label: LABEL_REPEATED`, `name: "tag" number: 2 type: TYPE_MESSAGE type_name: ".test.v1.Part" label: LABEL_OPTIONAL`, "test.v1.ListThingsRequest.tag cannot be a parameter"},
		{"a parameter without a field", `name: "name" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL
      options { [buf.validate.field] { required: true string { max_len: 8 } } }`, `name: "title" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL`, "test.v1.UpdateThingRequest has no field name"},
		{"a method without a route", `routes: "GET /thing"`, ``, "test.v1.ThingService.ListThings: it has no route"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := plugin(t, func(s string) string {
				if !strings.Contains(s, tc.from) {
					t.Fatalf("testdata has no %s", tc.from)
				}
				return strings.Replace(s, tc.from, tc.to, 1)
			})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %s", err, tc.want)
			}
		})
	}
}

// An operation that is described by hand and is not in the table is a mistake, such as a misspelling.
func TestUnknownOperation(t *testing.T) {
	base := obj(hintOperations, obj("createChatCompletions", obj()))
	if _, err := inference(base); err == nil || !strings.Contains(err.Error(), "createChatCompletions") {
		t.Errorf("%v", err)
	}
}

// A path that differs from an earlier one in the names of its parameters becomes
// that path; the same path and method twice is a mistake.
func TestPlace(t *testing.T) {
	paths := obj()
	one := func(id, param string) *object {
		return obj("operationId", id, "parameters", []any{obj("name", param, "in", "path")})
	}
	if err := place(paths, "GET", "/a/{id}", one("get", "id")); err != nil {
		t.Fatal(err)
	}
	if err := place(paths, "DELETE", "/a/{name}", one("delete", "name")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/a/{id}"}, paths.names); diff != "" {
		t.Error(diff)
	}
	text, err := encode(paths)
	if err != nil || strings.Contains(string(text), `"name": "name"`) {
		t.Errorf("%v %s", err, text)
	}
	if err := place(paths, "GET", "/a/{other}", one("again", "other")); err == nil {
		t.Error("two operations at one path and method")
	}
}
