package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/pmezard/go-difflib/difflib"
	"github.com/spf13/cobra"

	"github.com/modelgateway/modelgateway/cli/promptfile"
)

// maxPromptFile bounds the size of a file: a version has at most as much.
const maxPromptFile = 4 << 20

// promptSync brings a directory of files and the gateway's prompts into line.
type promptSync struct {
	caller       Caller
	out          io.Writer
	organization string // whose prompts they are; empty for everybody's
	dryRun       bool
}

// promptFileCommands are the commands for prompts as files.
func promptFileCommands(cfg Config) []*cobra.Command {
	build := func(use, short, long string, run func(ctx context.Context, s *promptSync, dir string, names []string) error) *cobra.Command {
		var s promptSync
		cmd := &cobra.Command{Use: use, Short: short, Long: long, Args: cobra.MinimumNArgs(1)}
		cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
			s.out = cmd.OutOrStdout()
			if s.caller, err = cfg.Caller(cmd); err != nil {
				return err
			}
			if !cmd.Flags().Changed("organization-id") {
				if err := s.findOrganization(cmd.Context()); err != nil {
					return err
				}
			}
			return run(cmd.Context(), &s, args[0], args[1:])
		}
		cmd.Flags().StringVar(&s.organization, "organization-id", "", "the organization that the prompts belong to; empty for everybody's (default: that of the key)")
		cmd.Flags().BoolVar(&s.dryRun, "dry-run", false, "print what would change as unified diffs, and change nothing")
		return cmd
	}
	return []*cobra.Command{
		build("push DIR", "Make the prompts of the gateway those of the files in a directory",
			"Make the prompts of the gateway those of the files in a directory: one file NAME.prompt each, with front matter in YAML\n"+
				"and then the messages. Files of LiteLLM are read too. A file whose content the gateway has makes no version. Labels that a\n"+
				"file has are moved, and default_label and protected_labels set. Prompts without a file stay as they are.",
			func(ctx context.Context, s *promptSync, dir string, names []string) error {
				if len(names) > 0 {
					return fmt.Errorf("%q is not expected here", names[0])
				}
				return s.push(ctx, dir)
			}),
		build("pull DIR [NAME...]", "Write prompts of the gateway to files in a directory",
			"Write prompts of the gateway to files in a directory, in the form that push reads: those with these names, or all of the\n"+
				"organization. A file that says the same already stays as it is. Files without a prompt stay too.",
			func(ctx context.Context, s *promptSync, dir string, names []string) error {
				return s.pull(ctx, dir, names)
			}),
	}
}

// call sends a request and reads its response; a change that got none is sent again.
func (s *promptSync) call(ctx context.Context, method, path string, fields map[string]any, to any) error {
	r := Request{Method: method, Path: path}
	if fields != nil {
		var err error
		if r.Body, err = promptfile.Body(fields); err != nil {
			return err
		}
		r.IdempotencyKey = rand.Text()
	}
	answer, err := callAgain(ctx, s.caller, r)
	if err != nil || to == nil {
		return err
	}
	return json.Unmarshal(answer, to)
}

// findOrganization finds the organization of the key. The master key has none.
func (s *promptSync) findOrganization(ctx context.Context) error {
	var own struct {
		Info struct {
			Organization string `json:"organization_id"`
		} `json:"info"`
	}
	err := s.call(ctx, http.MethodGet, "/key/info", nil, &own)
	var refused *refusal
	if errors.As(err, &refused) && refused.status == http.StatusNotFound {
		return nil
	}
	s.organization = own.Info.Organization
	return err
}

// files reads the files of a directory and of those in it.
func (s *promptSync) files(dir string) ([]*promptfile.File, error) {
	var out []*promptfile.File
	var problems []error
	names := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() || filepath.Ext(path) != promptfile.Extension:
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Size() > maxPromptFile {
			problems = append(problems, fmt.Errorf("%s: the file is larger than %d bytes; make it smaller", path, maxPromptFile))
			return nil
		}
		data, err := os.ReadFile(path) //nolint:gosec // the operator names it
		if err != nil {
			return err
		}
		f, err := promptfile.Parse(path, data)
		if err != nil {
			problems = append(problems, err)
			return nil
		}
		if other, twice := names[f.Name]; twice {
			problems = append(problems, fmt.Errorf("%s:1: %s has a prompt of that name too: rename one of them", path, other))
		}
		names[f.Name] = path
		for _, note := range f.Notes {
			_, _ = fmt.Fprintln(s.out, "note: "+note)
		}
		out = append(out, f)
		return nil
	})
	if err = errors.Join(append(problems, err)...); err != nil {
		return nil, err
	}
	return out, nil
}

// stored is a prompt of the gateway.
type stored struct {
	promptfile.Record
	file *promptfile.File
}

// list returns the prompts of the organization, of a name or all, the oldest first.
func (s *promptSync) list(ctx context.Context, name string) ([]*stored, error) {
	var out []*stored
	q := url.Values{"limit": {"100"}}
	if name != "" {
		q.Set("prompt_name", name)
	}
	if s.organization != "" {
		q.Set("org", s.organization)
	}
	for {
		var page struct {
			Prompts []promptfile.Record `json:"prompts"`
			Next    string              `json:"next_cursor"`
			More    bool                `json:"has_more"`
		}
		if err := s.call(ctx, http.MethodGet, "/prompts?"+q.Encode(), nil, &page); err != nil {
			return nil, err
		}
		for _, p := range page.Prompts {
			if org := p.Organization; org == nil && s.organization == "" || org != nil && *org == s.organization {
				out = append(out, &stored{Record: p})
			}
		}
		if !page.More {
			break
		}
		q.Set("starting_after", page.Next)
	}
	slices.Reverse(out)
	for _, p := range out {
		var answer struct {
			Labels []promptfile.LabelRecord `json:"labels"`
		}
		if err := s.call(ctx, http.MethodGet, p.path()+"/labels", nil, &answer); err != nil {
			return nil, err
		}
		p.file = p.File(answer.Labels)
	}
	return out, nil
}

func (p *stored) path() string { return "/prompts/" + url.PathEscape(p.ID) }

// push makes the prompts of the gateway those of the files. An error leaves what was done before it.
func (s *promptSync) push(ctx context.Context, dir string) error {
	files, err := s.files(dir)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("%s has no files *%s; check the directory", dir, promptfile.Extension)
	}
	for _, f := range promptfile.Ordered(files) {
		if err := s.pushOne(ctx, f); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	return nil
}

func (s *promptSync) pushOne(ctx context.Context, f *promptfile.File) error {
	found, err := s.list(ctx, f.Name)
	if err != nil {
		return err
	}
	old := &stored{file: &promptfile.File{Name: f.Name}}
	if len(found) > 0 {
		old = found[0]
	}
	version := old.Version
	same := old.ID != "" && f.Over(old.file, version).SameContent(old.file)
	if !same {
		version++
	}
	next := f.Over(old.file, version)
	if s.dryRun {
		return s.diff(old.Version, old.file, version, next)
	}
	switch {
	case same:
	case old.ID == "":
		fields := f.Content()
		fields["prompt_name"] = f.Name
		if s.organization != "" {
			fields["organization_id"] = s.organization
		}
		err = s.call(ctx, http.MethodPost, "/prompts", fields, &old.Record)
	default:
		fields := f.Content()
		fields["if_revision"] = old.Revision
		err = s.call(ctx, http.MethodPut, old.path(), fields, &old.Record)
	}
	if err != nil {
		return err
	}
	what := "made"
	if same {
		what = "unchanged"
	}
	if _, err = fmt.Fprintf(s.out, "%s@%d %s\n", f.Name, old.Version, what); err != nil {
		return err
	}
	return s.release(ctx, f, old)
}

// release moves the labels of a file and sets its settings.
func (s *promptSync) release(ctx context.Context, f *promptfile.File, old *stored) error {
	next := f.Over(old.file, old.Version)
	for _, l := range next.Labels {
		before := slices.IndexFunc(old.file.Labels, func(o promptfile.Label) bool { return o.Name == l.Name })
		if before >= 0 && same(old.file.Labels[before], l) {
			continue
		}
		fields, to := map[string]any{"version": l.Version}, strconv.FormatUint(uint64(l.Version), 10)
		if l.Split != nil {
			fields, to = map[string]any{"split": l.Split}, string(l.Split)
		}
		if err := s.call(ctx, http.MethodPut, old.path()+"/labels/"+url.PathEscape(l.Name), fields, nil); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(s.out, "%s label %s: %s\n", f.Name, l.Name, to); err != nil {
			return err
		}
	}
	fields := map[string]any{}
	if f.DefaultLabel != nil && !equal(next.DefaultLabel, old.DefaultLabel) {
		fields["default_label"] = *f.DefaultLabel
	}
	if f.Protected != nil && !slices.Equal(next.Protected, old.Protected) {
		fields["protected_labels"] = next.Protected
	}
	if len(fields) == 0 {
		return nil
	}
	if err := s.call(ctx, http.MethodPatch, old.path(), fields, nil); err != nil {
		return err
	}
	_, err := fmt.Fprintf(s.out, "%s settings\n", f.Name)
	return err
}

func same(a, b promptfile.Label) bool {
	return a.Version == b.Version && string(a.Split) == string(b.Split)
}

func equal(a, b *string) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// pull writes prompts of the gateway to files.
func (s *promptSync) pull(ctx context.Context, dir string, names []string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // prompts are for everybody who reads the sources
		return err
	}
	files, err := s.files(dir)
	if err != nil {
		return err
	}
	have := map[string]*promptfile.File{}
	for _, f := range files {
		have[f.Name] = f
	}
	var all []*stored
	if len(names) == 0 {
		all, err = s.list(ctx, "")
	}
	for _, name := range names {
		found, failed := s.list(ctx, name)
		if failed == nil && len(found) == 0 {
			failed = fmt.Errorf("there is no prompt %s; modelgateway prompt list shows those that there are", name)
		}
		all, err = append(all, found...), errors.Join(err, failed)
	}
	if err != nil {
		return err
	}
	for _, p := range all {
		if err := s.pullOne(dir, p, have[p.Name]); err != nil {
			return err
		}
	}
	return nil
}

func (s *promptSync) pullOne(dir string, p *stored, f *promptfile.File) error {
	path := filepath.Join(dir, promptfile.BaseName(p.Name))
	old, text := &promptfile.File{Name: p.Name}, p.file.Text()
	if f != nil {
		path, old = f.Path, f.Over(p.file, p.Version)
	}
	if s.dryRun {
		return s.diff(0, old, p.Version, p.file)
	}
	what := "unchanged"
	if old.Text() != text {
		what = "written"
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil { //nolint:gosec // as above
			return err
		}
	}
	_, err := fmt.Fprintf(s.out, "%s@%d %s\n", p.Name, p.Version, what)
	return err
}

// diff prints how a prompt would change.
func (s *promptSync) diff(from uint32, before *promptfile.File, to uint32, after *promptfile.File) error {
	lines := func(f *promptfile.File) []string {
		if len(f.Messages) == 0 { // there is none
			return nil
		}
		return difflib.SplitLines(strings.TrimSuffix(f.Text(), "\n"))
	}
	name := func(version uint32) string { return fmt.Sprintf("%s@%d", after.Name, version) }
	const context = 3 // lines around a difference
	return difflib.WriteUnifiedDiff(s.out, difflib.UnifiedDiff{A: lines(before), B: lines(after), FromFile: name(from), ToFile: name(to), Context: context})
}
