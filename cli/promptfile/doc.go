// Package promptfile reads and writes prompts as files: YAML front matter with the parameters, the
// variables and the labels, and then the messages.
//
//	---
//	config:
//	  model: gpt-4o
//	  temperature: 0.2
//	labels:
//	  production: latest
//	---
//	[system]
//	You help {{ name }}.
//	[placeholder history]
//	[user]
//	Hello?
//
// A message begins with its role in brackets. Its text is the lines up to the next one. A line of a
// text that looks like such a role has a backslash before it, which is not part of the text. A
// content that is no text, such as parts with pictures, is JSON after a role such as [user json].
//
// Files of LiteLLM (.prompt, after Google's Dotprompt) are read too: parameters at the top of the
// front matter, input.schema, and messages that begin with System:, User: or Assistant:.
package promptfile
