package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/modelgateway/modelgateway/extproc/guard/evaluate"
	"github.com/modelgateway/modelgateway/extproc/guard/names"
	"github.com/modelgateway/modelgateway/extproc/guard/pii"
)

// evaluation is what the command evaluate is asked for.
type evaluation struct {
	entities  []string
	labels    map[string]string
	threshold float64
	misses    int
}

// evaluateCommand measures the engine presidio on a labelled set, without a gateway.
func evaluateCommand() *cobra.Command {
	var e evaluation
	cmd := &cobra.Command{
		Use:   "evaluate FILE",
		Short: "Measure how well personal data is found in labelled texts of your own",
		Long: "Measure how well the engine presidio finds personal data in labelled texts of your own. It asks no gateway. FILE has a line for each text:\n" +
			`{"text": "Ask Ada.", "spans": [[4, 7, "PERSON"]]}, with start and end in code points. Precision is the share of findings that are right,` + "\n" +
			"recall the share of labels that were found. A finding is right if it overlaps with a label of its entity; the exact columns count\n" +
			"those that begin and end with it.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.run(cmd.Context(), args[0], cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringSliceVar(&e.entities, "entities", nil, "the entities to look for (default: those that the file has)")
	cmd.Flags().StringToStringVar(&e.labels, "label", nil, "other names of entities in the file, such as PER=PERSON,LOC=LOCATION")
	cmd.Flags().Float64Var(&e.threshold, "score-threshold", 0.5, "findings less certain than this are left, 0 to 1")
	cmd.Flags().IntVar(&e.misses, "misses", 0, "how many texts to print in which something was missed or found in error")
	return cmd
}

// run evaluates a file, and prints the report.
func (e *evaluation) run(ctx context.Context, path string, out io.Writer) error {
	set, err := e.read(path)
	if err != nil {
		return err
	}
	if e.threshold < 0 || e.threshold > 1 {
		return fmt.Errorf("--score-threshold must be between 0 and 1, and is %g", e.threshold)
	}
	entities := e.entities
	if len(entities) == 0 {
		entities = labelled(set)
	}
	threshold := uint32(e.threshold*1000 + 0.5)
	of, err := pii.New(pii.Settings{Entities: entities, Threshold: &threshold, Names: names.New()})
	if err != nil {
		return fmt.Errorf("%w: use --label to name the entities of the file as presidio does, as in --label PER=PERSON", err)
	}
	report, err := evaluate.Engine(ctx, of, set)
	if err != nil {
		return err
	}
	return e.print(report, out)
}

// read reads the set, with the names of its entities replaced.
func (e *evaluation) read(path string) ([]evaluate.Example, error) {
	f, err := os.Open(path) //nolint:gosec // the user names the file
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	set, err := evaluate.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for i := range set {
		for j := range set[i].Spans {
			if name, ok := e.labels[set[i].Spans[j].Entity]; ok {
				set[i].Spans[j].Entity = name
			}
		}
	}
	return set, nil
}

// labelled returns the entities that a set has, in alphabetical order.
func labelled(set []evaluate.Example) (out []string) {
	for i := range set {
		for _, s := range set[i].Spans {
			if !slices.Contains(out, s.Entity) {
				out = append(out, s.Entity)
			}
		}
	}
	slices.Sort(out)
	return out
}

func (e *evaluation) print(report *evaluate.Report, out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "ENTITY\tLABELLED\tFOUND\tPRECISION\tRECALL\tF1\tEXACT PRECISION\tEXACT RECALL\tEXACT F1")
	for _, r := range report.Results {
		_, _ = fmt.Fprintf(w, "%s\t%d\t%d\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\n", r.Entity, r.Overlap.Labelled, r.Overlap.Found,
			r.Overlap.Precision(), r.Overlap.Recall(), r.Overlap.F1(), r.Exact.Precision(), r.Exact.Recall(), r.Exact.F1())
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, m := range report.Misses[:min(e.misses, len(report.Misses))] {
		what := "missed"
		if !m.Wanted {
			what = "found in error"
		}
		if _, err := fmt.Fprintf(out, "%s: %s %q in %q\n", what, m.Span.Entity, m.Text[m.Span.Start:m.Span.End], strings.TrimSpace(m.Text)); err != nil {
			return err
		}
	}
	return nil
}
