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
	restroute "github.com/modelgateway/modelgateway/tools/route"
)

// table is what the template writes.
type table struct {
	Services         []service
	Routes           []route
	Permissions      []permission
	Own, Info, Posts []string // paths
	PostForms        []form
	rules            []rule
}

// route is a row of the table, and rule all routes of an operation.
type route struct {
	Method, Path, RPC string
	Body              bool
}

type rule struct {
	selector, response string
	routes             []restroute.Route
}

// service and operation are rows as the template writes them.
type service struct {
	Name, Resource            string
	IDFields                  []string
	IDsInResponsesOnly, Owned bool
	Command                   *optionsv1.Command
	Operations                []operation
}

type operation struct {
	Name, Access, Effect, Action string
	TypedEvents, Conditional     bool
	Command                      *optionsv1.Subcommand
}

// permission is a constant with the path of an operation.
type permission struct{ Name, Path string }

// form is a path with one parameter: the text before the parameter and after it.
type form struct{ Before, After string }

// tableOf reads the options of services and their methods. Each problem is an error:
// an operation without access would be open to anybody.
func tableOf(all []protoreflect.ServiceDescriptor) (table, error) {
	var t table
	for _, d := range all {
		about, _ := proto.GetExtension(d.Options(), optionsv1.E_Resource).(*optionsv1.Resource)
		if about.GetTag() == "" {
			return t, fmt.Errorf("%s has no option resource with a tag; see proto/options/v1", d.FullName())
		}
		s := service{
			Name: string(d.FullName()), Resource: about.GetName(), IDFields: about.GetIdFields(),
			IDsInResponsesOnly: about.GetIdsInResponsesOnly(), Owned: about.GetOwned(), Command: about.GetCommand(),
		}
		for i := range d.Methods().Len() {
			m := d.Methods().Get(i)
			one, err := t.operation(about, m)
			if err != nil {
				return t, fmt.Errorf("%s: %w", m.FullName(), err)
			}
			s.Operations = append(s.Operations, one)
		}
		t.Services = append(t.Services, s)
	}
	for _, list := range []*[]string{&t.Own, &t.Info, &t.Posts} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return t, nil
}

// operation adds the routes of a method, and returns its row.
func (t *table) operation(about *optionsv1.Resource, m protoreflect.MethodDescriptor) (operation, error) {
	does, _ := proto.GetExtension(m.Options(), optionsv1.E_Operation).(*optionsv1.Operation)
	one, err := row(about, does)
	if err != nil {
		return one, err
	}
	one.Name = string(m.Name())
	if one.Command, err = command(about, does); err != nil {
		return one, err
	}
	routes, err := restroute.Parse(does.GetRoutes())
	if err != nil {
		return one, err
	}
	rpc := "/" + string(m.Parent().FullName()) + "/" + one.Name
	for _, r := range routes {
		for _, other := range t.Routes {
			if other.Method == r.Method && other.Path == r.Path {
				return one, fmt.Errorf("%s %s leads to %s as well", r.Method, r.Path, other.RPC)
			}
		}
		t.Routes = append(t.Routes, route{r.Method, r.Path, rpc, r.Body})
	}
	t.rules = append(t.rules, rule{string(m.FullName()), does.GetResponseField(), routes})
	return one, t.paths(routes, one.Name, does)
}

// command is the command of a method, with its columns.
func command(about *optionsv1.Resource, does *optionsv1.Operation) (*optionsv1.Subcommand, error) {
	c := does.GetCommand()
	switch {
	case (about.GetCommand() != nil) != (c != nil):
		return nil, fmt.Errorf("it needs the option command if its service has it, and only then")
	case c.GetLists() && (len(c.GetColumns()) > 0 || len(about.GetCommand().GetColumns()) == 0):
		return nil, fmt.Errorf("with lists, the columns are those of the command of its service")
	case c.GetLists():
		c = proto.CloneOf(c)
		c.Columns = about.GetCommand().GetColumns()
	}
	return c, nil
}

// row is the row of a method.
func row(about *optionsv1.Resource, does *optionsv1.Operation) (operation, error) {
	out := operation{Action: does.GetAction(), TypedEvents: does.GetTypedEvents(), Conditional: does.GetConditional()}
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
	case changes && out.Conditional:
		return out, fmt.Errorf("it changes something, so it has no conditional reads")
	}
	return out, nil
}

func missing(field string) error {
	return fmt.Errorf("it has no option operation with %s; see proto/options/v1", field)
}

// paths adds the routes of a method to the lists that they belong to.
func (t *table) paths(routes []restroute.Route, name string, does *optionsv1.Operation) error {
	for i, r := range routes {
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
		if does.GetMemberPermission() && i == 0 {
			t.Permissions = append(t.Permissions, permission{name, r.Path})
		}
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
