// Command openaischema reduces OpenAI's OpenAPI document, in JSON, to what the tests judge by: the
// operations that the gateway serves too, and the schemas that these reach, without texts, examples
// and extensions. See extproc/openai/openaitest/README.md.
//
//	go run ./tools/openaischema openapi.json > extproc/openai/openaitest/openai.json
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "openaischema:", err)
		os.Exit(1)
	}
}

// run writes the reduced form of the document that the argument names.
func run(args []string, out io.Writer) error {
	if len(args) != 1 {
		return fmt.Errorf("there are %d arguments; usage: openaischema DOCUMENT.json", len(args))
	}
	text, err := os.ReadFile(args[0]) //nolint:gosec // the developer names the file
	if err != nil {
		return err
	}
	reduced, err := reduce(text)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	_, err = out.Write(reduced)
	return err
}
