package config

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/catalog"
)

func (v number) shown() string {
	digits := strconv.FormatInt(v.standard, 10)
	switch {
	case v.without != "":
		return v.without
	case v.standard >= mebibyte && v.standard%mebibyte == 0:
		return fmt.Sprint(v.standard/mebibyte, " MiB")
	case len(digits) > 3:
		return digits[:len(digits)-3] + "," + digits[len(digits)-3:]
	}
	return digits
}

func (v span) shown() string {
	if v.without != "" {
		return v.without
	}
	return fmt.Sprint(v.standard.Seconds(), " s")
}

func (v word) shown() string {
	if v.without != "" || v.standard == "" {
		return cmp.Or(v.without, unset)
	}
	return "`" + v.standard + "`"
}

func (v choice[T]) shown() string { return word{standard: string(v.standard)}.shown() }
func (v names) shown() string     { return cmp.Or(v.without, unset) }
func (group) shown() string       { return unset }
func (toggle) shown() string      { return "`false`" }
func (secretText) shown() string  { return unset }
func (v custom) shown() string    { return v.without }

// rows are the rows of settings of a section, whose names begin with the prefix. Below a
// section come the settings in it. A row names the flag of its setting, which is taken out
// of flags.
func rows(section, prefix string, settings []setting, flags map[string]string) string {
	var b strings.Builder
	for _, s := range settings {
		v, _ := s.value.(interface{ shown() string })
		text := s.text
		if name, ok := flags[section+prefix+s.name]; ok {
			text += "; flag `--" + name + "`"
			delete(flags, section+prefix+s.name)
		}
		fmt.Fprintf(&b, "| `%s%s` | %s | %s |\n", prefix, s.name, v.shown(), text)
		if inner, ok := s.value.(group); ok {
			b.WriteString(rows(section, prefix+s.name+".", inner.of, flags))
		}
	}
	return b.String()
}

// tables are the tables of the documentation. Each flag belongs to a setting in them.
func tables(t *testing.T) map[string]string {
	t.Helper()
	c := &Config{}
	flags := make(map[string]string)
	for _, f := range (&Flags{}).All() {
		flags[f.Setting] = f.Name
	}
	all := map[string]string{
		"process":          rows("", "", c.variables(), flags) + rows("", "", c.process(), flags),
		"envoy, log":       rows("", "envoy.", c.Envoy.settings(), flags) + rows("", "log.", c.Log.settings(), flags),
		"limits":           rows("limits.", "", c.Limits.settings(), flags),
		"cluster":          rows("cluster.", "", c.Cluster.settings(), flags),
		"general_settings": rows("general_settings.", "", c.general(), flags),
		"litellm_settings": rows("litellm_settings.", "", c.created(), flags),
		"audit":            rows("audit.", "", c.Audit.settings(), flags),
		"keys":             rows("keys.", "", (&Key{}).settings(), flags),
		"gateway_params":   rows("gateway_params.", "", (&Params{}).settings(), flags),
		"model_info":       rows("model_info.", "", (&Info{}).settings(), flags),
		"router_settings":  routerRows(),
	}
	for path, name := range flags {
		t.Errorf("--%s replaces %s, and no table has that setting", name, path)
	}
	return all
}

// routerRows are the rows of router_settings.
func routerRows() string {
	var b strings.Builder
	defaults := catalog.DefaultRouter()
	for _, f := range catalog.RouterFields() {
		shown := unset
		switch v := f.In(&defaults).(type) {
		case **string:
			shown = "`" + **v + "`"
		case **int:
			shown = strconv.Itoa(**v)
		case **time.Duration:
			if *v != nil {
				shown = fmt.Sprint((**v).Seconds(), " s")
			}
		case **bool:
			shown = fmt.Sprintf("`%v`", **v)
		case *[]string:
			if *v != nil {
				shown = "`" + strings.Join(*v, "`, `") + "`"
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.Name, shown, f.Text)
	}
	return b.String()
}

// TestTablesOfTheDocumentation: the pages have the table of each section as the settings
// describe it. The flag -update writes the tables.
func TestTablesOfTheDocumentation(t *testing.T) {
	all := tables(t)
	for _, file := range []string{"../docs/configuration.md", "../docs/cluster.md"} {
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want := regexp.MustCompile(`(?s)(<!-- settings: ([^\n]*) -->\n\n)(.*?\n)(\n|$)`).ReplaceAllStringFunc(string(page), func(found string) string {
			marker, _, _ := strings.Cut(found, "\n")
			section := strings.TrimSuffix(strings.TrimPrefix(marker, "<!-- settings: "), " -->")
			lines := all[section]
			if lines == "" {
				t.Errorf("there is no table %q, or it is on the pages twice", section)
			}
			delete(all, section)
			return marker + "\n\n| key | default | meaning |\n|---|---|---|\n" + lines + "\n"
		})
		want = strings.TrimRight(want, "\n") + "\n"
		if flag.Lookup("update").Value.String() == "true" {
			if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
				t.Fatal(err)
			}
		} else if diff := gocmp.Diff(want, string(page)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
	for section := range all {
		t.Errorf("the pages lack <!-- settings: %s -->", section)
	}
}
