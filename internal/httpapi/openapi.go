package httpapi

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/comity-dev/comity/api"
)

// OpenAPI is the OpenAPI 3.1 description of the local API, made from
// [api.Operations] by reflection: what the structs say is what it says. The same
// build always gives the same bytes.
func OpenAPI() ([]byte, error) {
	d := describer{schemas: make(object)}
	paths := make(object)
	for _, op := range api.Operations() {
		paths[Route(op.Name)] = object{"post": d.operation(op)}
	}
	d.ref(reflect.TypeFor[api.Failure]())
	if d.err != nil {
		return nil, d.err
	}
	return encode(object{
		"openapi": "3.1.0",
		"info": object{
			"title":       "comity local API",
			"description": "HTTP/1.1 over the daemon's Unix socket. Only the user that runs the daemon is served.",
			"version":     fmt.Sprint(api.Version),
		},
		"servers":    []object{{"url": "http://comity"}},
		"paths":      paths,
		"components": object{"schemas": d.schemas},
	})
}

type object map[string]any

// A describer collects the schemas that the operations mention, by type name.
type describer struct {
	schemas object
	err     error
}

func (d *describer) operation(op api.Operation) object {
	media := "application/json"
	if op.Name == api.OpWatch {
		media = "text/event-stream"
	}
	return object{
		"operationId": op.Name,
		"summary":     op.Summary,
		"x-writes":    op.Write,
		"requestBody": object{"content": object{"application/json": object{"schema": d.ref(reflect.TypeOf(op.Request))}}},
		"responses": object{
			"200":     object{"description": "done", "content": object{media: object{"schema": d.ref(reflect.TypeOf(op.Reply))}}},
			"default": object{"description": "refused or failed", "content": object{"application/json": object{"schema": d.ref(reflect.TypeFor[api.Failure]())}}},
		},
	}
}

// ref describes a struct type once and returns a reference to it.
func (d *describer) ref(t reflect.Type) object {
	if _, ok := d.schemas[t.Name()]; !ok {
		d.schemas[t.Name()] = nil // a type may contain itself
		d.schemas[t.Name()] = d.structure(t)
	}
	return object{"$ref": "#/components/schemas/" + t.Name()}
}

func (d *describer) structure(t reflect.Type) object {
	properties := make(object)
	required := d.fields(t, properties, nil)
	s := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// fields adds the JSON fields of t to properties, its own before those of what
// it embeds: of two that have one name, JSON sends the outer one.
func (d *describer) fields(t reflect.Type, properties object, required []string) []string {
	var embedded []reflect.Type
	for i := range t.NumField() {
		f := t.Field(i)
		tag, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && tag == "":
			embedded = append(embedded, f.Type)
			continue
		case !f.IsExported() || tag == "-":
			continue
		case tag == "":
			tag = f.Name
		}
		if _, taken := properties[tag]; taken {
			continue
		}
		properties[tag] = d.schema(f.Type)
		if !strings.Contains(opts, "omitempty") {
			required = append(required, tag)
		}
	}
	for _, e := range embedded {
		required = d.fields(e, properties, required)
	}
	return required
}

func (d *describer) schema(t reflect.Type) object {
	switch t.Kind() {
	case reflect.Pointer:
		return d.schema(t.Elem())
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer", "format": "int64"}
	case reflect.Uint64:
		return object{"type": "integer", "format": "int64", "minimum": 0}
	case reflect.Slice:
		return object{"type": "array", "items": d.schema(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": d.schema(t.Elem())}
	case reflect.Struct:
		return d.ref(t)
	case reflect.Interface:
		return object{} // any JSON
	}
	d.err = fmt.Errorf("no schema for %v", t)
	return object{}
}
