// Package openapi makes tools of the operations of an OpenAPI 3 document, in
// JSON or YAML: one tool for each operation, with one JSON Schema object that
// holds its parameters and the members of its request body.
//
// # Names and descriptions
//
// The name is the operationId as it stands there, or else the method and the
// path: GET /pets/{petId} is get_pets_petId. A name that is taken gets _2, _3,
// and so on. The description is the summary, then the description on a line of
// its own; what one of the two says already is not said twice.
//
// # Parameters
//
// The properties come in the order of the document: the parameters of the path,
// those of the operation (one of the same name and place takes the place of the
// path's), and the members of the body. The first to come keeps its name; one
// from another place that has the same is called after its place: query_id,
// header_id, cookie_id, body_id.
//
// Left out are the headers Accept, Content-Type and Authorization, which the
// norm says are no parameters, what a security scheme names as the place of its
// key, and members of a body that are read-only.
//
// The body is that of application/json, else of another JSON type, a form, or
// the first there is. If it is an object, its members become properties, and
// are required if the body is required and they are in it. Any other body is
// one property, body.
//
// # Schemas
//
// References within the document are put in place. A schema that contains
// itself is cut where it occurs again: what stands there keeps type, title and
// description, and is reported. So is every reference to another document,
// which is never fetched: nothing is known about such a value. allOf is merged
// into one schema unless its parts contradict each other. What only OpenAPI
// knows (xml, discriminator, externalDocs, extensions) is left out; nullable
// becomes a list of types, and boolean exclusive bounds become numbers. All
// else stays as it is, in the order of the document.
//
// A document is a stranger's: its size, the depth and size of each schema and
// what YAML aliases bring are bounded.
package openapi
