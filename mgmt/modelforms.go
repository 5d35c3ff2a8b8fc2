package mgmt

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/mgmt/field"
	"github.com/modelgateway/modelgateway/mgmt/rest"
)

// Fields that the rewriting of a request moves.
const (
	fieldParams  = "gateway_params"
	fieldForeign = "litellm_params"
	fieldPrices  = "prices"

	fieldInfoOfModel = "model_info"
)

// modelForms reads other forms of a deployment: LiteLLM's name of gateway_params and its place of guardrails, and prices
// and settings next to the other fields. A price keeps the digits of the request: it is multiplied exactly,
// so it must not become a float.
func modelForms(members map[string]jsontext.Value) error {
	if foreign, ok := members[fieldForeign]; ok {
		if _, both := members[fieldParams]; both {
			return fault.Field(fieldForeign, "invalid_value", "%s is another name of %s, which is there too. Send one.", fieldForeign, fieldParams)
		}
		members[fieldParams] = foreign
		delete(members, fieldForeign)
	}
	v, given := members[fieldParams]
	if !given || v.Kind() == 'n' {
		return nil
	}
	params, err := rest.ObjectAt(fieldParams, v)
	if err != nil {
		return err
	}
	if err := foreignParams(params); err != nil {
		return err
	}
	if err := gatherPrices(params); err != nil {
		return err
	}
	if err := gatherSettings(params); err != nil {
		return err
	}
	if err := moveGuardrails(members, params); err != nil {
		return err
	}
	members[fieldParams], err = json.Marshal(params)
	return err
}

// moveGuardrails moves the guardrails of a deployment from where LiteLLM has them to model_info.
func moveGuardrails(members, params map[string]jsontext.Value) error {
	v, given := params[tenancy.FieldGuardrails]
	if !given {
		return nil
	}
	info := map[string]jsontext.Value{}
	if old, ok := members[fieldInfoOfModel]; ok && old.Kind() != 'n' {
		entries, err := rest.ObjectAt(fieldInfoOfModel, old)
		if err != nil {
			return err
		}
		info = entries
	}
	if _, twice := info[tenancy.FieldGuardrails]; twice {
		return fault.Field(fieldParams+".guardrails", "invalid_value", "%s.guardrails is another name of %s.guardrails, which is there too. Send one.", fieldParams, fieldInfoOfModel)
	}
	info[tenancy.FieldGuardrails] = v
	delete(params, tenancy.FieldGuardrails)
	text, err := json.Marshal(info)
	members[fieldInfoOfModel] = text
	return err
}

// foreignParams rejects parameters that other gateways have and this one does not. Without
// them, a deployment would fail or, worse, use another provider than its author expects.
func foreignParams(params map[string]jsontext.Value) error {
	for _, name := range field.SortedNames(params) {
		param := fieldParams + "." + field.ShortName(name)
		if _, ok := cloud.Named(name); ok {
			continue
		}
		for _, prefix := range []string{"aws_", "vertex_", "azure_"} {
			if strings.HasPrefix(name, prefix) {
				return fault.Field(param, "unsupported_parameter", "No provider here has the setting %s. The settings are %s.", param, strings.Join(settingNames(), ", "))
			}
		}
	}
	return nil
}

// gatherPrices moves prices next to the other fields to the field prices.
func gatherPrices(params map[string]jsontext.Value) error {
	prices := map[string]jsontext.Value{}
	if v, ok := params[fieldPrices]; ok && v.Kind() != 'n' {
		entries, err := rest.ObjectAt(fieldParams+"."+fieldPrices, v)
		if err != nil {
			return err
		}
		prices = entries
	}
	for _, name := range field.SortedNames(params) {
		v := params[name]
		if !isPrice(name) {
			continue
		}
		param := fieldParams + "." + field.ShortName(name)
		if v.Kind() == 'n' {
			return fault.Field(param, "invalid_value", "%s is null. Leave it out, or clear all prices with an empty object for %s.%s.", param, fieldParams, fieldPrices)
		}
		if _, twice := prices[name]; twice {
			return fault.Field(param, "invalid_value", "%s is given in prices, too. Send it once.", param)
		}
		prices[name] = v
		delete(params, name)
	}
	for _, name := range field.SortedNames(prices) {
		v := prices[name]
		if v.Kind() == '"' {
			continue
		}
		if v.Kind() != '0' {
			return field.WrongType(fieldParams+"."+field.ShortName(name), "a number")
		}
		quoted, err := jsontext.AppendQuote(nil, string(v))
		if err != nil {
			return err
		}
		prices[name] = quoted
	}
	if len(prices) == 0 {
		return nil // an empty object clears them
	}
	text, err := json.Marshal(prices)
	params[fieldPrices] = text
	return err
}

// isPrice reports whether a field is a price. The catalogue rejects prices that it does not
// know.
func isPrice(name string) bool {
	return strings.Contains(name, "cost_per_") || strings.Contains(name, "_cost")
}
