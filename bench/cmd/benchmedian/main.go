// Command benchmedian reads what go test -bench prints, on its standard input, and prints a
// Markdown table with the median of each measurement and, in brackets, the least and the
// greatest. Its exit status is 1 if there is no benchmark in it, or if a test failed.
package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// series is the values of one unit of one benchmark.
type series struct {
	name, unit string
	values     []float64
}

// run prints the table.
func run(from io.Reader, to io.Writer) error {
	all, err := read(from)
	if err != nil {
		return err
	}
	fmt.Fprint(to, "\n| benchmark | unit | median |\n|---|---|---|\n")
	for _, s := range all {
		slices.Sort(s.values)
		n := len(s.values)
		out := number((s.values[(n-1)/2] + s.values[n/2]) / 2)
		if n > 1 {
			out += fmt.Sprintf(" [%s–%s]", number(s.values[0]), number(s.values[n-1]))
		}
		fmt.Fprintf(to, "| %s | %s | %s |\n", s.name, s.unit, out)
	}
	return nil
}

// number prints three significant digits, and all digits before the point.
func number(v float64) string {
	switch {
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// read returns the measurements, in the order in which they first appear. Times are in
// milliseconds.
func read(from io.Reader) ([]series, error) {
	processors := regexp.MustCompile(`-\d+$`) // what go test appends to a name
	var all []series
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "FAIL") || strings.HasPrefix(lines.Text(), "--- FAIL") {
			return nil, fmt.Errorf("a benchmark failed: %s", lines.Text())
		}
		f := strings.Fields(lines.Text())
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		name := processors.ReplaceAllString(f[0], "")
		for i := 2; i+1 < len(f); i += 2 {
			v, err := strconv.ParseFloat(f[i], 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			unit := f[i+1]
			if unit == "ns/op" {
				v, unit = v/1e6, "ms"
			}
			at := slices.IndexFunc(all, func(s series) bool { return s.name == name && s.unit == unit })
			if at < 0 {
				at = len(all)
				all = append(all, series{name: name, unit: unit})
			}
			all[at].values = append(all[at].values, v)
		}
	}
	if len(all) == 0 {
		return nil, cmp.Or(lines.Err(), errors.New("there is no benchmark in the input"))
	}
	return all, lines.Err()
}
