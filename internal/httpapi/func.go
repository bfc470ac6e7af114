package httpapi

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/comity-dev/comity/api"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// A Caller is the process at the other end of the socket, as the operating
// system tells it: nothing that a caller sends can change it.
type Caller struct {
	PID int // 0: not known
}

// A Func is one operation over bytes: body is the request's JSON, the result is
// encoded as the reply.
type Func func(ctx context.Context, c Caller, body []byte) (any, error)

// Handle makes a Func of a typed operation.
//
// The request must be one JSON value without repeated names or broken UTF-8;
// an empty body is the zero request, and fields that this build does not know
// are ignored. Anything else is an [api.ErrUsage] that f never sees.
func Handle[Req, Rep any](f func(context.Context, Caller, Req) (Rep, error)) Func {
	return func(ctx context.Context, c Caller, body []byte) (any, error) {
		var req Req
		if err := decode(body, &req); err != nil {
			return nil, err
		}
		return f(ctx, c, req)
	}
}

// decode reads the one JSON value of body into req, a pointer.
func decode(body []byte, req any) error {
	if len(bytes.TrimLeft(body, " \t\r\n")) == 0 {
		return nil
	}
	if err := shallow(body); err != nil {
		return err
	}
	if err := json.Unmarshal(body, req); err != nil {
		return api.Errorf(api.CodeUsage, "request is not the JSON of this operation: %v", err).
			WithHint("GET /v1/openapi.json describes every request")
	}
	return nil
}

// shallow refuses JSON that nests deeper than a request can need, so that no
// later step recurses at the caller's will. It judges syntax too.
func shallow(body []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(body))
	for {
		if _, err := d.ReadToken(); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return api.Errorf(api.CodeUsage, "request is not JSON: %v", err)
		}
		if d.StackDepth() > MaxDepth {
			return api.Errorf(api.CodeBound, "request nests deeper than %d", MaxDepth)
		}
	}
}

// encode is the JSON of a reply: fields marked omitempty are left out when they
// are zero, and a list without members is [] and never null.
func encode(v any) ([]byte, error) {
	return json.Marshal(v, jsonv1.OmitEmptyWithLegacySemantics(true), json.Deterministic(true))
}
