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

func rules(t *testing.T, page string) []rule {
	t.Helper()
	out, err := parse([]byte("http:\n  rules:\n" + page))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTable(t *testing.T) {
	got, err := tableOf(rules(t, `
    - selector: a.S.M
      post: /m/new
      additional_bindings:
        - put: /m
    - selector: a.S.N
      get: /n
      additional_bindings:
        - post: /n/list
        - post: "/n/{id}/render"
`), operations(), described(t, thing,
		does(`access: ACCESS_SCOPED effect: EFFECT_DELETE member_permission: true typed_events: true`),
		does(`access: ACCESS_ANY_KEY effect: EFFECT_READ`)))
	if err != nil {
		t.Fatal(err)
	}
	got.Routes = nil // TestRoutes has them
	want := table{
		Services: []service{{
			Name: "a.S", Resource: "thing", IDFields: []string{"thing_id"}, Owned: true,
			Operations: []operation{
				{Name: "M", Access: "Scoped", Effect: "Delete", Action: "deleted", TypedEvents: true},
				{Name: "N", Access: "AnyKey", Effect: "Read"},
			},
		}},
		Permissions: []permission{{"M", "/m/new"}},
		Posts:       []string{"/n/list"},
		PostForms:   []form{{"/n/", "/render"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// An operation that is not described in full has no row: generating fails.
func TestRejectedOptions(t *testing.T) {
	const page = "    - {selector: a.S.M, post: /m}\n    - {selector: a.S.N, post: /n}\n"
	reads := does(`access: ACCESS_ADMIN effect: EFFECT_READ`)
	for _, tc := range []struct{ name, page, resource, m, want string }{
		{"no options", page, thing, "", "a.S.M: it has no option operation with access"},
		{"no access", page, thing, does(`effect: EFFECT_READ`), "a.S.M: it has no option operation with access"},
		{"no effect", page, thing, does(`access: ACCESS_ADMIN`), "a.S.M: it has no option operation with effect"},
		{"no resource", page, "", reads, "a.S has no option resource"},
		{"a change of nothing", page, `[options.v1.resource] { tag: "Things" }`, does(`access: ACCESS_ADMIN effect: EFFECT_CHANGE`), "a.S.M: it changes something, so"},
		{"an action of a read", page, thing, does(`access: ACCESS_ADMIN effect: EFFECT_READ action: "read"`), "a.S.M: it changes nothing, so"},
		{"a parameter in a group", strings.Replace(page, "post: /m", `get: "/m/{id}"`, 1), thing, does(`access: ACCESS_ADMIN effect: EFFECT_READ group: GROUP_INFO`), "a group has paths without parameters"},
		{"a POST that reads, by its end", strings.Replace(page, "post: /m", `post: "/m/{id}"`, 1), thing, reads, "at most one parameter"},
	} {
		if _, err := tableOf(rules(t, tc.page), operations(), described(t, tc.resource, tc.m, reads)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", tc.name, err, tc.want)
		}
	}
}
