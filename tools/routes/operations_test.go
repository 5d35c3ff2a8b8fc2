package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// described is a service a.S with the methods M and N, with these options.
func described(t *testing.T, resource, m, n string) []protoreflect.ServiceDescriptor {
	t.Helper()
	var file descriptorpb.FileDescriptorProto
	if err := prototext.Unmarshal([]byte(`
name: "a.proto" package: "a" syntax: "proto3" dependency: "options/v1/options.proto"
message_type { name: "E" }
service {
  name: "S" options { `+resource+` }
  method { name: "M" input_type: ".a.E" output_type: ".a.E" options { `+m+` } }
  method { name: "N" input_type: ".a.E" output_type: ".a.E" options { `+n+` } }
}`), &file); err != nil {
		t.Fatal(err)
	}
	d, err := protodesc.NewFile(&file, protoregistry.GlobalFiles)
	if err != nil {
		t.Fatal(err)
	}
	return []protoreflect.ServiceDescriptor{d.Services().Get(0)}
}

// does is the option of a method.
func does(fields string) string { return "[options.v1.operation] { " + fields + " }" }

const thing = `[options.v1.resource] { name: "thing" id_fields: "thing_id" tag: "Things" owned: true }`

func TestTable(t *testing.T) {
	got, err := tableOf(described(t, thing,
		does(`access: ACCESS_SCOPED effect: EFFECT_DELETE member_permission: true typed_events: true routes: "POST /m/new" routes: "PUT /m"`),
		does(`access: ACCESS_ANY_KEY effect: EFFECT_READ routes: "GET /n" routes: "POST /n/list" routes: "POST /n/{id}/render"`)))
	if err != nil {
		t.Fatal(err)
	}
	got.rules = nil // TestFiles has them
	want := table{
		Services: []service{{
			Name: "a.S", Resource: "thing", IDFields: []string{"thing_id"}, Owned: true,
			Operations: []operation{
				{Name: "M", Access: "Scoped", Effect: "Delete", Action: "deleted", TypedEvents: true},
				{Name: "N", Access: "AnyKey", Effect: "Read"},
			},
		}},
		Routes: []route{
			{"POST", "/m/new", "/a.S/M", true},
			{"PUT", "/m", "/a.S/M", true},
			{"GET", "/n", "/a.S/N", false},
			{"POST", "/n/list", "/a.S/N", true},
			{"POST", "/n/{id}/render", "/a.S/N", true},
		},
		Permissions: []permission{{"M", "/m/new"}},
		Posts:       []string{"/n/list"},
		PostForms:   []form{{"/n/", "/render"}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(table{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// The columns of a command that lists resources are those of the resource.
func TestColumns(t *testing.T) {
	got, err := tableOf(described(t, `[options.v1.resource] { tag: "Things" command { name: "thing" columns: ["id", "name"] } }`,
		does(`access: ACCESS_ADMIN effect: EFFECT_READ routes: "GET /m" command { name: "list" lists: true }`),
		does(`access: ACCESS_ADMIN effect: EFFECT_READ routes: "GET /n" command { name: "parts" columns: "part" }`)))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]string{{"id", "name"}, {"part"}} {
		if diff := cmp.Diff(want, got.Services[0].Operations[i].Command.GetColumns()); diff != "" {
			t.Error(diff)
		}
	}
}

// An operation that is not described in full has no row: generating fails.
func TestRejectedOptions(t *testing.T) {
	reads := func(route string) string {
		return does(`access: ACCESS_ADMIN effect: EFFECT_READ routes: "` + route + `"`)
	}
	commands := `[options.v1.resource] { tag: "Things" command { name: "thing" } }`
	for _, tc := range []struct{ name, resource, m, want string }{
		{"no options", thing, "", "a.S.M: it has no option operation with access"},
		{"no access", thing, does(`effect: EFFECT_READ`), "a.S.M: it has no option operation with access"},
		{"no effect", thing, does(`access: ACCESS_ADMIN`), "a.S.M: it has no option operation with effect"},
		{"no resource", "", reads("GET /m"), "a.S has no option resource"},
		{"a change of nothing", `[options.v1.resource] { tag: "Things" }`, does(`access: ACCESS_ADMIN effect: EFFECT_CHANGE`), "a.S.M: it changes something, so"},
		{"an action of a read", thing, does(`access: ACCESS_ADMIN effect: EFFECT_READ action: "read"`), "a.S.M: it changes nothing, so"},
		{"a parameter in a group", thing, does(`access: ACCESS_ADMIN effect: EFFECT_READ group: GROUP_INFO routes: "GET /m/{id}"`), "a group has paths without parameters"},
		{"a POST that reads, by its end", thing, reads("POST /m/{id}"), "at most one parameter"},
		{"no route", thing, does(`access: ACCESS_ADMIN effect: EFFECT_READ`), "a.S.M: it has no route"},
		{"a route of another form", thing, reads("/m"), `a.S.M: "/m" is not a route`},
		{"a route of two", thing, reads("GET /n"), "a.S.N: GET /n leads to /a.S/M as well"},
		{"no command", commands, reads("GET /m"), "a.S.M: it needs the option command"},
		{"a command of no service", thing, does(`access: ACCESS_ADMIN effect: EFFECT_READ command { name: "m" }`), "a.S.M: it needs the option command if"},
		{"a list without columns", commands, does(`access: ACCESS_ADMIN effect: EFFECT_READ command { name: "m" lists: true }`), "a.S.M: with lists"},
	} {
		if _, err := tableOf(described(t, tc.resource, tc.m, reads("GET /n"))); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", tc.name, err, tc.want)
		}
	}
}
