package config

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
	if v.without != "" {
		return v.without
	}
	return "`" + v.standard + "`"
}

func (v choice[T]) shown() string { return "`" + string(v.standard) + "`" }
func (toggle) shown() string      { return "`false`" }
func (credential) shown() string  { return unset }
func (v custom) shown() string    { return v.without }

// tables are the tables of docs/configuration.md: names begin with the prefix.
func tables() map[string]string {
	c := &Config{}
	own := func(prefix string, settings []setting) string {
		var b strings.Builder
		for _, s := range settings {
			v, _ := s.value.(interface{ shown() string })
			fmt.Fprintf(&b, "| `%s%s` | %s | %s |\n", prefix, s.name, v.shown(), s.text)
		}
		return b.String()
	}
	return map[string]string{
		"process":          own("", c.process()),
		"envoy, log":       own("envoy.", c.Envoy.settings()) + own("log.", c.Log.settings()),
		"limits":           own("", c.Limits.settings()),
		"general_settings": own("", c.general()),
		"audit":            own("", c.Audit.settings()),
		"gateway_params":   own("", (&Params{}).settings()),
		"model_info":       own("", (&Info{}).settings()),
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

// TestTablesOfTheDocumentation: docs/configuration.md has the table of each section as
// the settings describe it. The flag -update writes the tables.
func TestTablesOfTheDocumentation(t *testing.T) {
	const file = "../docs/configuration.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all := tables()
	want := regexp.MustCompile(`(?s)(<!-- settings: ([^\n]*) -->\n\n)(.*?\n)(\n|$)`).ReplaceAllStringFunc(string(page), func(found string) string {
		marker, _, _ := strings.Cut(found, "\n")
		section := strings.TrimSuffix(strings.TrimPrefix(marker, "<!-- settings: "), " -->")
		rows := all[section]
		if rows == "" {
			t.Errorf("there is no table %q, or it is on the page twice", section)
		}
		delete(all, section)
		return marker + "\n\n| key | default | meaning |\n|---|---|---|\n" + rows + "\n"
	})
	want = strings.TrimRight(want, "\n") + "\n"
	for section := range all {
		t.Errorf("the page lacks <!-- settings: %s -->", section)
	}
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(want, string(page)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
