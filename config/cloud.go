package config

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// cloudAliases are other names that LiteLLM has for settings of clouds.
func cloudAliases() map[string]string {
	return map[string]string{
		cloud.VertexProject: "vertex_ai_project", cloud.VertexLocation: "vertex_ai_location", cloud.VertexCredentials: "vertex_ai_credentials",
	}
}

// cloud is the value of a setting of a cloud.
func (p *Params) cloud(s cloud.Setting) custom {
	read := func(o *object, name string) {
		n, ok := o.take(name)
		if alias, has := cloudAliases()[name]; has {
			other, given := o.take(alias)
			switch {
			case ok && given:
				o.d.fail(other, "is another name of %s, which is there too: keep one", name)
			case given:
				n, ok = other, true
			}
		}
		if !ok {
			return
		}
		value := o.d.cloudValue(n, s)
		if value.IsEmpty() {
			return
		}
		if p.Cloud == nil {
			p.Cloud = make(map[string]vault.Secret)
		}
		p.Cloud[name] = value
	}
	write := func(w *writer, name string) {
		switch value, ok := p.Cloud[name]; {
		case !ok:
		case s.Secret:
			w.secret(name, value)
		default:
			w.str(name, value.Reveal())
		}
	}
	return custom{read, write, unset}
}

// cloudValue reads the value of a setting of a cloud. Certificates and the JSON of credentials have several lines; the
// latter may be a mapping.
func (d *decoder) cloudValue(n *node, s cloud.Setting) vault.Secret {
	if n.kind == mapping && s.Name == cloud.VertexCredentials {
		body, ok := d.jsonOf(n)
		if !ok {
			return vault.Secret{}
		}
		return vault.NewSecret(string(body))
	}
	if s.Name != cloud.VertexCredentials && s.Name != cloud.AzureCertificate {
		return d.secret(n)
	}
	text, ok := d.text(n)
	text = strings.TrimSpace(text)
	switch {
	case !ok:
		return vault.Secret{}
	case !strings.Contains(text, "\n"), text == redacted:
		return d.secret(n)
	case strings.ContainsRune(text, 0):
		d.fail(n, "holds a zero byte: copy the credential again")
		return vault.Secret{}
	}
	return vault.NewSecret(text)
}

// jsonOf returns a value of the file as JSON. Its texts may name variables of the environment.
func (d *decoder) jsonOf(n *node) (jsontext.Value, bool) {
	switch n.kind {
	case absent:
		return jsontext.Value("null"), true
	case mapping:
		object := make(map[string]jsontext.Value, len(n.fields))
		for _, f := range n.fields {
			v, ok := d.jsonOf(f.value)
			if !ok {
				return nil, false
			}
			object[f.name] = v
		}
		body, err := json.Marshal(object, json.Deterministic(true))
		return body, err == nil
	case list:
		items := make([]jsontext.Value, 0, len(n.items))
		for _, item := range n.items {
			v, ok := d.jsonOf(item)
			if !ok {
				return nil, false
			}
			items = append(items, v)
		}
		body, err := json.Marshal(items)
		return body, err == nil
	case scalar:
	}
	if v := jsontext.Value(n.text); !n.quoted && v.IsValid() {
		return v, true // a number, true or false
	}
	text, ok := d.text(n)
	return jsonString(text), ok
}

// apiVersion drops the version of an API from deployments of other clouds than Azure, as LiteLLM does.
func (d *decoder) apiVersion(n *node, p *Params) {
	if at := n.field(cloud.AzureAPIVersion); at != nil && !strings.HasPrefix(p.Model, "azure") {
		delete(p.Cloud, cloud.AzureAPIVersion)
		d.warn(at, "has no effect: only Azure's API has versions to choose from")
	}
}
