package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
)

// Config is what commands stand on. All of it is required.
type Config struct {
	// Document returns the API's OpenAPI document, for the help.
	Document func() []byte
	// Caller returns what reaches the gateway that a command's flags name. It is
	// called when the command is run.
	Caller func(cmd *cobra.Command) (Caller, error)
	// Getenv reads the environment.
	Getenv func(name string) string
}

// Caller sends a request and returns the body of its answer. The error says what is
// wrong and what to do about it. An UnansweredError may or may not have been
// carried out.
type Caller interface {
	Call(ctx context.Context, r Request) ([]byte, error)
}

// UnansweredError is that a request got no answer, or was told to try again.
type UnansweredError struct{ Err error }

// Error is what is wrong.
func (e UnansweredError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e UnansweredError) Unwrap() error { return e.Err }

// retryPause is how long a request waits before it is sent again.
const retryPause = 500 * time.Millisecond

// Commands returns a command for each resource, with one for each of its
// operations. prepare adds to each of those what all of them have, such as where
// the gateway is.
func Commands(cfg Config, prepare func(cmd *cobra.Command)) []*cobra.Command {
	var out []*cobra.Command
	for _, s := range surface.Services() {
		if s.Command.Name == "" {
			continue
		}
		parent := &cobra.Command{Use: s.Command.Name, Aliases: s.Command.Aliases, Short: "Manage " + s.Command.Manages, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
		for _, o := range s.Operations {
			op, ok := operationOf(s.Name, o.Name)
			if !ok {
				continue // a test sees to it that there is none
			}
			c := &command{cfg: cfg, words: o.Command, op: op, values: map[string]*value{}}
			cmd := c.build()
			if cmd.Flags().Lookup("engines") != nil {
				addEngineFlags(cmd)
			}
			prepare(cmd)
			parent.AddCommand(cmd)
		}
		out = append(out, parent)
	}
	return out
}

// command is one operation as a command.
type command struct {
	cfg    Config
	words  surface.Subcommand
	op     operation
	values map[string]*value // by flag
	body   string            // of --body
	output string
}

func (c *command) build() *cobra.Command {
	cmd := &cobra.Command{
		Use: c.words.Name + usage(c.words.Arguments), Aliases: c.words.Aliases, Short: c.op.route.Method + " " + c.op.route.Path,
		Args: c.args, RunE: c.run, DisableFlagsInUseLine: false,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	for _, f := range fieldsOf(c.op.input) {
		v := &value{field: f, read: c.read(cmd)}
		c.values[f.flag] = v
		flag := flags.VarPF(v, f.flag, "", "")
		if v.IsBoolFlag() {
			flag.NoOptDefVal = "true"
		}
	}
	if c.op.route.Body {
		flags.StringVar(&c.body, "body", "", "the whole request as JSON, or @file, or - for standard input; flags change it")
	}
	flags.StringVarP(&c.output, "output", "o", "table", "table, json or yaml")
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) { c.help(cmd) })
	return cmd
}

// usage is how the fields that may stand without flags are shown.
func usage(args []string) string {
	var b strings.Builder
	for _, a := range args {
		b.WriteString(" [" + a + "]")
	}
	return b.String()
}

func (c *command) args(_ *cobra.Command, args []string) error {
	if n := len(c.words.Arguments); len(args) > n && (n == 0 || !strings.HasSuffix(c.words.Arguments[n-1], "...")) {
		return fmt.Errorf("%q is not expected here", args[n])
	}
	return nil
}

// read returns the value that @file, - and os.environ/NAME mean.
func (c *command) read(cmd *cobra.Command) func(string) (string, error) {
	return func(text string) (string, error) {
		switch {
		case text == "-":
			data, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), maxFile))
			return strings.TrimRight(string(data), "\r\n"), err
		case strings.HasPrefix(text, "@"):
			data, err := os.ReadFile(text[1:])
			if err != nil {
				return "", fmt.Errorf("the file cannot be read: %w", err)
			}
			return strings.TrimRight(string(data), "\r\n"), nil
		case strings.HasPrefix(text, "os.environ/"):
			name := strings.TrimPrefix(text, "os.environ/")
			if v := c.cfg.Getenv(name); v != "" {
				return v, nil
			}
			return "", fmt.Errorf("the environment variable %s is not set", name)
		}
		return text, nil
	}
}

// maxFile bounds what is read from standard input: the API takes no more.
const maxFile = 1 << 20

func (c *command) run(cmd *cobra.Command, args []string) error {
	if c.output != "table" && c.output != "json" && c.output != "yaml" {
		return fmt.Errorf("--output is table, json or yaml, not %q", c.output)
	}
	values, err := c.gather(cmd, args)
	if err != nil {
		return err
	}
	r, err := c.op.request(values, rand.Text())
	if err != nil {
		return err
	}
	caller, err := c.cfg.Caller(cmd)
	if err != nil {
		return err
	}
	answer, err := callAgain(cmd.Context(), caller, r)
	if err != nil {
		return err
	}
	if !jsontext.Value(answer).IsValid() { // of another format that the request has asked for
		_, err := cmd.OutOrStdout().Write(answer)
		return err
	}
	if c.output == "json" {
		v := jsontext.Value(answer)
		if err := v.Indent(); err == nil {
			answer = v
		}
		_, err := fmt.Fprintln(cmd.OutOrStdout(), strings.TrimRight(string(answer), "\n"))
		return err
	}
	if c.output == "yaml" {
		text, err := yaml.JSONToYAML(answer)
		if err != nil {
			return fmt.Errorf("the response cannot be shown as YAML; use --output json: %w", err)
		}
		_, err = cmd.OutOrStdout().Write(text)
		return err
	}
	return c.print(cmd, answer)
}

// callAgain sends a request, and a change that got no answer once more: under the same key it is
// made once.
func callAgain(ctx context.Context, caller Caller, r Request) ([]byte, error) {
	answer, err := caller.Call(ctx, r)
	if lost := (UnansweredError{}); errors.As(err, &lost) && r.IdempotencyKey != "" {
		select {
		case <-time.After(retryPause):
			return caller.Call(ctx, r)
		case <-ctx.Done():
		}
	}
	return answer, err
}

// gather puts together what the request has: of --body, of arguments, of flags.
func (c *command) gather(cmd *cobra.Command, args []string) (map[string]any, error) {
	values := map[string]any{}
	if c.body != "" {
		text, err := c.read(cmd)(c.body)
		if err != nil {
			return nil, fmt.Errorf("--body: %w", err)
		}
		if err := json.Unmarshal([]byte(text), &values, json.WithUnmarshalers(exactNumbers())); err != nil {
			return nil, fmt.Errorf("--body is no JSON object: %w", err)
		}
	}
	for i, text := range args {
		at := min(i, len(c.words.Arguments)-1)
		name := strings.TrimSuffix(c.words.Arguments[at], "...")
		if err := cmd.Flags().Set(kebab(protoreflect.Name(name)), text); err != nil {
			return nil, err
		}
	}
	var failed error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		v, ok := c.values[f.Name]
		if !ok || failed != nil {
			return
		}
		one, err := v.json()
		if err != nil {
			failed = err
			return
		}
		put(values, v.field.path, one)
	})
	if c.op.input.Fields().ByName(wholeRecords) != nil && c.output == "table" && !cmd.Flags().Changed(kebab(wholeRecords)) {
		values[wholeRecords] = true
	}
	return values, failed
}

// wholeRecords is the field by which a list is one of records and not of bare names: a
// table has columns for what is in them.
const wholeRecords = "return_full_object"

// exactNumbers keeps the digits of numbers: money is exact.
func exactNumbers() *json.Unmarshalers {
	return json.UnmarshalFromFunc(func(d *jsontext.Decoder, v *any) error {
		if d.PeekKind() != '0' {
			return errors.ErrUnsupported
		}
		n, err := d.ReadValue()
		*v = n.Clone()
		return err
	})
}

// put sets a value, within an object where the path has two names.
func put(values map[string]any, path []protoreflect.Name, v any) {
	name := string(path[0])
	if len(path) == 1 {
		values[name] = v
		return
	}
	inner, ok := values[name].(map[string]any)
	if !ok {
		inner = map[string]any{}
		values[name] = inner
	}
	inner[string(path[1])] = v
}
