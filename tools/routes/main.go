package main

import (
	_ "embed" // for the template
	"errors"
	"flag"
	"os"
	"strconv"
	"strings"
	"text/template"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	var flags flag.FlagSet
	page := flags.String("grpc_api_configuration", "", "the page of the REST surface")
	protogen.Options{ParamFunc: flags.Set}.Run(func(p *protogen.Plugin) error {
		p.SupportedFeatures = uint64(pluginpb.CodeGeneratorResponse_FEATURE_PROTO3_OPTIONAL)
		rest, err := os.ReadFile(*page)
		if err != nil {
			return err
		}
		rules, err := parse(rest)
		if err != nil {
			return err
		}
		return write(p, rules)
	})
}

// text is the generated file as a template.
//
//go:embed surface.go.tmpl
var text string

// write adds the table, which is a package of its own: it needs nothing of what is
// generated for the services.
func write(p *protogen.Plugin, rules []rule) error {
	methods := map[string]string{}
	var services []protoreflect.ServiceDescriptor
	var home *protogen.File
	for _, f := range p.Files {
		if !f.Generate {
			continue
		}
		home = f
		for _, s := range f.Services {
			services = append(services, s.Desc)
			for _, m := range s.Methods {
				methods[string(m.Desc.FullName())] = "/" + string(s.Desc.FullName()) + "/" + string(m.Desc.Name())
			}
		}
	}
	if home == nil {
		return errors.New("there is no file to generate for")
	}
	t, err := tableOf(rules, methods, services)
	if err != nil {
		return err
	}
	layout, err := template.New("").Funcs(template.FuncMap{"list": quoted}).Parse(text)
	if err != nil {
		return err
	}
	return layout.Execute(p.NewGeneratedFile("gateway/surface/surface.go", home.GoImportPath), t)
}

// tableOf makes the table.
func tableOf(rules []rule, methods map[string]string, services []protoreflect.ServiceDescriptor) (table, error) {
	var t table
	var err error
	if t.Routes, err = routesOf(rules, methods); err != nil {
		return t, err
	}
	return t, t.services(services)
}

// quoted is a list of Go strings.
func quoted(list []string) string {
	var out []string
	for _, one := range list {
		out = append(out, strconv.Quote(one))
	}
	return strings.Join(out, ", ")
}
