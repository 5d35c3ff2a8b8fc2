package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// reducedFile is what the tests judge by.
const reducedFile = "../../extproc/openai/openaitest/openai.json"

// The file that is committed is what the program writes: nothing of it is left out when it is reduced
// again, and nobody has edited it.
func TestReducedDocumentIsReduced(t *testing.T) {
	var out bytes.Buffer
	if err := run([]string{reducedFile}, &out); err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	file := filepath.Join(t.TempDir(), "again.json")
	write(t, file, out.Bytes())
	if err := run([]string{file}, &again); err != nil || !bytes.Equal(out.Bytes(), again.Bytes()) {
		t.Errorf("the result of a second time differs: %v", err)
	}
	if !bytes.Equal(out.Bytes(), reduced(t)) {
		t.Errorf("%s is not what the program writes", reducedFile)
	}
}

// What is kept is what the operations reach, without what says nothing about values.
func TestReduce(t *testing.T) {
	full := string(reduced(t))
	full = strings.Replace(full, `"Error":{`, `"Error":{"description":"d","x-oaiMeta":{"$ref":"#/components/schemas/Nobody"},`, 1)
	full = strings.Replace(full, `"components": {"schemas": {`, `"components": {"schemas": {"Nobody":{"type":"string"},`, 1)
	full = strings.Replace(full, `"paths": {`, `"paths": {"/assistants":{"get":{"responses":{}}},`, 1)
	out, err := reduce([]byte(full))
	if err != nil || !bytes.Equal(out, reduced(t)) {
		t.Errorf("%v: something is kept that the operations do not need", err)
	}
}

func TestRejectsOtherDocuments(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":              "openapi: 3.1.0",
		"another API":          `{"openapi":"3.1.0","paths":{"/pets":{"get":{}}}}`,
		"a schema that is not": strings.Replace(string(reduced(t)), `"ErrorResponse":`, `"Other":`, 1),
	} {
		if out, err := reduce([]byte(text)); err == nil {
			t.Errorf("%s: %.100s", name, out)
		}
	}
	if run(nil, nil) == nil || run([]string{"there-is-none"}, nil) == nil {
		t.Error("arguments are needed")
	}
}

func reduced(t *testing.T) []byte {
	t.Helper()
	b, err := os.ReadFile(reducedFile)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t *testing.T, file string, b []byte) {
	t.Helper()
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
