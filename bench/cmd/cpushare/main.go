// Command cpushare divides a CPU profile of the gateway into the parts of its work, and prints
// one JSON line: the CPU time of the whole profile, and the share of each part.
//
// A sample belongs to the innermost function on its stack that belongs to a part. So memory that
// the journal allocates counts for the journal, and the metrics of a request count for metrics.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
)

func main() {
	profile := flag.String("profile", "", "`file` of a CPU profile")
	flag.Parse()
	if err := run(*profile, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run prints the shares of a profile.
func run(profile string, to io.Writer) error {
	cmd := exec.Command("go", "tool", "pprof", "-traces", "-unit=ms", profile)
	var wrong bytes.Buffer
	cmd.Stderr = &wrong
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go tool pprof: %w: %s", err, wrong.Bytes())
	}
	all, err := traces(bytes.NewReader(out))
	if err != nil {
		return err
	}
	return json.NewEncoder(to).Encode(divide(all))
}
