package cli

import (
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"
)

// engineFlags are a short form of --engines, for a guardrail with one engine.
type engineFlags struct {
	Name   string   `json:"engine_name"`
	Hooks  []string `json:"event_hooks,omitempty"`
	Config struct {
		Entities []string `json:"entities,omitempty"`
		Action   string   `json:"action,omitempty"`
	} `json:"config"`
}

// addEngineFlags adds the short form to a command that has --engines.
func addEngineFlags(cmd *cobra.Command) {
	var e engineFlags
	flags := cmd.Flags()
	flags.StringVar(&e.Name, "engine", "", "the only engine, such as presidio; --engines has the long form, with all settings")
	flags.StringSliceVar(&e.Config.Entities, "entities", nil, "of --engine presidio: what to look for, such as PERSON,EMAIL_ADDRESS (default: all)")
	flags.StringVar(&e.Config.Action, "action", "", "of --engine: anonymize, redact, block or flag (default: the engine's)")
	flags.StringSliceVar(&e.Hooks, "hooks", nil, "of --engine: when it looks, such as pre_call,post_call (default: whenever the engine can)")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if e.Name == "" {
			if flags.Changed("entities") || flags.Changed("action") || flags.Changed("hooks") {
				return errors.New("--entities, --action and --hooks are settings of --engine. Give --engine too, or --engines")
			}
			return nil
		}
		if flags.Changed("engines") {
			return errors.New("--engine and --engines say the same thing. Give one of them")
		}
		list, err := json.Marshal([]engineFlags{e})
		if err != nil {
			return err
		}
		return flags.Set("engines", string(list))
	}
}
