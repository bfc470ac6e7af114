package httpapi_test

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/httpapi"
)

// fields are the names that encoding/json gives a value of t, found without the
// package under test: by filling a value and encoding it.
func fields(t *testing.T, v any) map[string]bool {
	t.Helper()
	p := reflect.New(reflect.TypeOf(v))
	fill(p.Elem(), 0)
	b, err := json.Marshal(p.Interface())
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	names := make(map[string]bool)
	for name := range m {
		names[name] = true
	}
	return names
}

func fill(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint64:
		v.SetUint(1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]any{"x": 1}))
	case reflect.Interface:
		v.Set(reflect.ValueOf("x"))
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), depth+1)
		}
	}
}

func TestOpenAPIDescribesEveryOperationAndField(t *testing.T) {
	c := serve(t, nil, quiet, nil)
	resp, err := c.Get("http://comity/v1/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%d, %v", resp.StatusCode, err)
	}
	type ref struct {
		Ref string `json:"$ref"`
	}
	var doc struct {
		OpenAPI string
		Paths   map[string]map[string]struct {
			OperationID string `json:"operationId"`
			Summary     string
			Writes      bool `json:"x-writes"`
			RequestBody struct {
				Content map[string]struct{ Schema ref }
			}
			Responses map[string]struct {
				Content map[string]struct{ Schema ref }
			}
		}
		Components struct {
			Schemas map[string]struct {
				Properties map[string]any
				Required   []string
			}
		}
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	holds := func(op string, r ref, v any) {
		s, ok := doc.Components.Schemas[strings.TrimPrefix(r.Ref, "#/components/schemas/")]
		if !ok {
			t.Errorf("%s: no schema %q", op, r.Ref)
		}
		want := fields(t, v)
		for name := range want {
			if s.Properties[name] == nil {
				t.Errorf("%s: %s has no field %q", op, r.Ref, name)
			}
		}
		for name := range s.Properties {
			if !want[name] {
				t.Errorf("%s: %s has a field %q that is never sent", op, r.Ref, name)
			}
		}
	}
	for _, op := range api.Operations() {
		got, ok := doc.Paths[httpapi.Route(op.Name)]["post"]
		if !ok || got.OperationID != op.Name || got.Summary != op.Summary || got.Writes != op.Write {
			t.Errorf("%s is described as %+v", op.Name, got)
		}
		holds(op.Name, got.RequestBody.Content["application/json"].Schema, op.Request)
		media := "application/json"
		if op.Name == api.OpWatch {
			media = "text/event-stream"
		}
		holds(op.Name, got.Responses["200"].Content[media].Schema, op.Reply)
		holds(op.Name, got.Responses["default"].Content["application/json"].Schema, api.Failure{})
	}
	if len(doc.Paths) != len(api.Operations()) {
		t.Errorf("%d paths for %d operations", len(doc.Paths), len(api.Operations()))
	}
	if want := fields(t, api.Conflict{}); len(doc.Components.Schemas["Conflict"].Properties) != len(want) {
		t.Errorf("Conflict has %v, want %v", doc.Components.Schemas["Conflict"].Properties, want)
	}
}

func TestOpenAPIIsTheSameEveryTime(t *testing.T) {
	a, err := httpapi.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if b, err := httpapi.OpenAPI(); err != nil || !bytes.Equal(a, b) {
			t.Fatalf("another document, %v", err)
		}
	}
}
