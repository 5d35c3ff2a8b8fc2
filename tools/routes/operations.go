package main

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	optionsv1 "github.com/modelgateway/modelgateway/proto/gen/options/v1"
)

// table is what the template writes.
type table struct {
	Services         []service
	Routes           []route
	Permissions      []permission
	Own, Info, Posts []string // paths
	PostForms        []form
}

// service and operation are rows as the template writes them.
type service struct {
	Name, Resource            string
	IDFields                  []string
	IDsInResponsesOnly, Owned bool
	Operations                []operation
}

type operation struct {
	Name, Access, Effect, Action string
	TypedEvents                  bool
}

// permission is a constant with the path of an operation.
type permission struct{ Name, Path string }

// form is a path with one parameter: the text before the parameter and after it.
type form struct{ Before, After string }

// services reads the options of services and their methods. Each problem is an error:
// an operation without access would be open to anybody.
func (t *table) services(all []protoreflect.ServiceDescriptor) error {
	for _, d := range all {
		about, _ := proto.GetExtension(d.Options(), optionsv1.E_Resource).(*optionsv1.Resource)
		if about.GetTag() == "" {
			return fmt.Errorf("%s has no option resource with a tag; see proto/options/v1", d.FullName())
		}
		s := service{
			Name: string(d.FullName()), Resource: about.GetName(), IDFields: about.GetIdFields(),
			IDsInResponsesOnly: about.GetIdsInResponsesOnly(), Owned: about.GetOwned(),
		}
		for i := range d.Methods().Len() {
			m := d.Methods().Get(i)
			does, _ := proto.GetExtension(m.Options(), optionsv1.E_Operation).(*optionsv1.Operation)
			one, err := row(about, does)
			if err != nil {
				return fmt.Errorf("%s: %w", m.FullName(), err)
			}
			one.Name = string(m.Name())
			s.Operations = append(s.Operations, one)
			if err := t.paths("/"+s.Name+"/"+one.Name, one.Name, does); err != nil {
				return fmt.Errorf("%s: %w", m.FullName(), err)
			}
		}
		t.Services = append(t.Services, s)
	}
	for _, list := range []*[]string{&t.Own, &t.Info, &t.Posts} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return nil
}

// row is the row of a method.
func row(about *optionsv1.Resource, does *optionsv1.Operation) (operation, error) {
	out := operation{Action: does.GetAction(), TypedEvents: does.GetTypedEvents()}
	switch does.GetAccess() {
	case optionsv1.Access_ACCESS_PUBLIC:
		out.Access = "Public"
	case optionsv1.Access_ACCESS_ANY_KEY:
		out.Access = "AnyKey"
	case optionsv1.Access_ACCESS_SCOPED:
		out.Access = "Scoped"
	case optionsv1.Access_ACCESS_VIEWER:
		out.Access = "Viewer"
	case optionsv1.Access_ACCESS_ADMIN:
		out.Access = "Admin"
	case optionsv1.Access_ACCESS_UNSPECIFIED:
		return out, missing("access")
	}
	changes := true
	switch does.GetEffect() {
	case optionsv1.Effect_EFFECT_READ:
		out.Effect, changes = "Read", false
	case optionsv1.Effect_EFFECT_REPORT:
		out.Effect, changes = "Report", false
	case optionsv1.Effect_EFFECT_CHANGE:
		out.Effect, out.Action = "Change", cmp.Or(out.Action, "updated")
	case optionsv1.Effect_EFFECT_DELETE:
		out.Effect, out.Action = "Delete", cmp.Or(out.Action, "deleted")
	case optionsv1.Effect_EFFECT_UNSPECIFIED:
		return out, missing("effect")
	}
	switch {
	case changes && (about.GetName() == "" || len(about.GetIdFields()) == 0):
		return out, fmt.Errorf("it changes something, so the option resource of its service needs name and id_fields")
	case !changes && (out.Action != "" || out.TypedEvents):
		return out, fmt.Errorf("it changes nothing, so the audit log has no action and no typed events of it")
	}
	return out, nil
}

func missing(field string) error {
	return fmt.Errorf("it has no option operation with %s; see proto/options/v1", field)
}

// paths adds the routes of a method to the lists that they belong to.
func (t *table) paths(rpc, name string, does *optionsv1.Operation) error {
	first := true
	for _, r := range t.Routes {
		if r.RPC != rpc {
			continue
		}
		before, rest, param := strings.Cut(r.Path, "{")
		_, after, _ := strings.Cut(rest, "}")
		switch {
		case param && does.GetGroup() != optionsv1.Group_GROUP_UNSPECIFIED:
			return fmt.Errorf("%s has a parameter; a group has paths without parameters", r.Path)
		case does.GetGroup() == optionsv1.Group_GROUP_OWN:
			t.Own = append(t.Own, r.Path)
		case does.GetGroup() == optionsv1.Group_GROUP_INFO:
			t.Info = append(t.Info, r.Path)
		}
		if does.GetMemberPermission() && first {
			t.Permissions = append(t.Permissions, permission{name, r.Path})
		}
		first = false
		if does.GetEffect() > optionsv1.Effect_EFFECT_REPORT || r.Method != http.MethodPost {
			continue
		}
		switch {
		case !param:
			t.Posts = append(t.Posts, r.Path)
		case after == "" || strings.Contains(after, "{"):
			return fmt.Errorf("POST %s: a POST that reads has at most one parameter, and not at the end", r.Path)
		default:
			t.PostForms = append(t.PostForms, form{before, after})
		}
	}
	return nil
}
