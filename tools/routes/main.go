package main

import (
	_ "embed" // for the template
	"errors"
	"strconv"
	"strings"
	"text/template"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	protogen.Options{}.Run(func(p *protogen.Plugin) error {
		p.SupportedFeatures = uint64(pluginpb.CodeGeneratorResponse_FEATURE_PROTO3_OPTIONAL)
		return write(p)
	})
}

// text is the generated file as a template.
//
//go:embed surface.go.tmpl
var text string

// write adds the table, which is a package of its own: it needs nothing of what is
// generated for the services.
func write(p *protogen.Plugin) error {
	var services []protoreflect.ServiceDescriptor
	var home *protogen.File
	for _, f := range p.Files {
		if !f.Generate {
			continue
		}
		home = f
		for _, s := range f.Services {
			services = append(services, s.Desc)
		}
	}
	if home == nil {
		return errors.New("there is no file to generate for")
	}
	t, err := tableOf(services)
	if err != nil {
		return err
	}
	layout, err := template.New("").Funcs(template.FuncMap{"list": quoted}).Parse(text)
	if err != nil {
		return err
	}
	if err := layout.Execute(p.NewGeneratedFile("gateway/surface/surface.go", home.GoImportPath), t); err != nil {
		return err
	}
	return writeRules(p, t.rules)
}

// quoted is a list of Go strings.
func quoted(list []string) string {
	var out []string
	for _, one := range list {
		out = append(out, strconv.Quote(one))
	}
	return strings.Join(out, ", ")
}
