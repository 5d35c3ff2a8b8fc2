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

func (v choice[T]) shown() string { return "`" + string(v.standard) + "`" }
func (v names) shown() string     { return cmp.Or(v.without, unset) }
func (group) shown() string       { return unset }
func (toggle) shown() string      { return "`false`" }
func (credential) shown() string  { return unset }
func (v custom) shown() string    { return v.without }

// rows are the rows of settings, whose names begin with the prefix. Below a section come
// the settings in it.
func rows(prefix string, settings []setting) string {
	var b strings.Builder
	for _, s := range settings {
		v, _ := s.value.(interface{ shown() string })
		fmt.Fprintf(&b, "| `%s%s` | %s | %s |\n", prefix, s.name, v.shown(), s.text)
		if section, ok := s.value.(group); ok {
			b.WriteString(rows(prefix+s.name+".", section.of))
		}
	}
	return b.String()
}

// tables are the tables of the documentation.
func tables() map[string]string {
	c := &Config{}
	return map[string]string{
		"process":          rows("", c.variables()) + rows("", c.process()),
		"envoy, log":       rows("envoy.", c.Envoy.settings()) + rows("log.", c.Log.settings()),
		"limits":           rows("", c.Limits.settings()),
		"cluster":          rows("", c.Cluster.settings()),
		"general_settings": rows("", c.general()),
		"litellm_settings": rows("", c.created()),
		"audit":            rows("", c.Audit.settings()),
		"keys":             rows("", (&Key{}).settings()),
		"gateway_params":   rows("", (&Params{}).settings()),
		"model_info":       rows("", (&Info{}).settings()),
		"router_settings":  routerRows(),
	}
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
	all := tables()
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
