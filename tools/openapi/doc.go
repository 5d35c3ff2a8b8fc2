// Command openapi writes the description of the whole HTTP API: one OpenAPI 3.1 document,
// generated from these sources. buf runs it as a plugin.
//
//	*.proto          methods with their routes, messages, their comments and their
//	                 validation rules
//	dataplane        the operations that models answer: their paths and the forms of their
//	                 bodies
//	openapi-v1.yaml  everything without protobuf: the title, more of the operations that
//	                 models answer, the lists of models, the probes, the schemas of errors,
//	                 and hand-written examples
//
// Names, formats and limits in the document are those that the server enforces: names as in the
// .proto files, numbers as JSON numbers, and no undescribed members. The same input gives the
// same bytes.
package main
