package natsstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/comity-dev/comity/storage"
)

// format is the version of the layout that doc.go describes, kept in the
// metadata of the streams.
const (
	formatKey = "comity-format"
	format    = 1
)

// prepare checks the server and makes the streams that are missing.
func (s *Store) prepare(ctx context.Context) (err error) {
	if s.nc.MaxPayload() < minPayloadBytes {
		return fmt.Errorf("max_payload of the server is %d, want at least %d: raise it in its configuration (8MB serves well)", s.nc.MaxPayload(), minPayloadBytes)
	}
	s.record = int(min(maxRecordBytes, s.nc.MaxPayload()-maxHeaderBytes))
	if s.js, err = jetstream.New(s.nc, jetstream.WithDefaultTimeout(s.timeout())); err != nil {
		return err
	}
	ctx, cancel := s.limit(ctx)
	defer cancel()
	for _, want := range s.configs() {
		if err := s.prepareStream(ctx, want); err != nil {
			return fmt.Errorf("stream %s: %w", want.Name, translate(ctx, err))
		}
	}
	return nil
}

// translate gives errors of the client the names that callers of storage know.
func translate(ctx context.Context, err error) error {
	var api *jetstream.APIError
	switch {
	case errors.Is(err, storage.ErrUnavailable):
		return err
	case errors.As(err, &api) && isFull(api.ErrorCode, api.Description):
		return fmt.Errorf("%w: %w", storage.ErrNoSpace, err)
	case ctx.Err() != nil && !errors.Is(context.Cause(ctx), errNoAnswer):
		return context.Cause(ctx)
	case ctx.Err() != nil, errors.Is(err, nats.ErrNoResponders), errors.Is(err, nats.ErrTimeout), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, nats.ErrReconnectBufExceeded), errors.Is(err, nats.ErrConnectionClosed), errors.As(err, &api) && api.Code == 503:
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	return err
}

// configs returns the streams of a store. All of them refuse what is too much
// and drop nothing.
func (s *Store) configs() []jetstream.StreamConfig {
	base := jetstream.StreamConfig{
		Storage:           jetstream.FileStorage,
		Replicas:          s.o.Replicas,
		Discard:           jetstream.DiscardNew,
		AllowRollup:       true,
		AllowDirect:       true,
		DenyDelete:        true,
		MaxMsgs:           -1,
		MaxBytes:          -1,
		MaxMsgsPerSubject: -1,
		MaxMsgSize:        -1,
		MaxConsumers:      -1,
		Duplicates:        2 * time.Minute,
		Metadata:          map[string]string{formatKey: strconv.Itoa(format)},
	}
	ledgers, rows, leases, blobs := base, base, base, base
	ledgers.Name, ledgers.Subjects = s.names.ledgers, []string{s.names.ledger + "*"}
	ledgers.AllowAtomicPublish = true
	rows.Name, rows.Subjects = s.names.rows, []string{s.names.row + ">"}
	rows.MaxMsgsPerSubject, rows.AllowMsgTTL = 1, true
	leases.Name, leases.Subjects = s.names.leases, []string{s.names.lease + ">"}
	leases.MaxMsgsPerSubject, leases.AllowMsgTTL = 1, true
	blobs.Name, blobs.Subjects = s.names.blobs, []string{s.names.blob + "*.*", s.names.chunk + "*"}
	blobs.AllowMsgTTL = true
	if s.o.MaxBytes > 0 {
		ledgers.MaxBytes, blobs.MaxBytes = s.o.MaxBytes, s.o.MaxBytes
	}
	return []jetstream.StreamConfig{ledgers, rows, leases, blobs}
}

// prepareStream makes a stream or checks the one that is there. Others may be
// doing the same.
func (s *Store) prepareStream(ctx context.Context, want jetstream.StreamConfig) error {
	var got jetstream.StreamConfig
	err := s.retry(ctx, func(ctx context.Context) error {
		stream, err := s.js.Stream(ctx, want.Name)
		if errors.Is(err, jetstream.ErrStreamNotFound) && s.o.MustExist {
			return &permanent{&storage.NotFoundError{What: "store", Name: s.o.Name}}
		}
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			stream, err = s.js.CreateStream(ctx, want)
		}
		var api *jetstream.APIError
		switch {
		case err == nil:
			got = stream.CachedInfo().Config
		case errors.Is(err, jetstream.ErrStreamNameAlreadyInUse), errors.As(err, &api) && api.ErrorCode == codeNoPeers:
			return fmt.Errorf("%v", err) // somebody was quicker, or the cluster is on its way: once more
		}
		return err
	})
	if err != nil {
		return err
	}
	return check(got, want)
}

// check returns why a stream cannot hold a part of a store.
func check(got, want jetstream.StreamConfig) error {
	if v, err := strconv.Atoi(got.Metadata[formatKey]); err != nil {
		return errors.New("it was not made by comity: choose another name for the store")
	} else if v > format {
		return storage.ErrNewerFormat
	}
	for _, must := range []struct {
		what string
		ok   bool
	}{
		{"subjects " + fmt.Sprint(want.Subjects), fmt.Sprint(got.Subjects) == fmt.Sprint(want.Subjects)},
		{"discard new", got.Discard == want.Discard},
		{"no max_age", got.MaxAge == 0},
		{"limits retention", got.Retention == jetstream.LimitsPolicy},
		{"roll-ups", got.AllowRollup && !got.DenyPurge},
		{"direct access", got.AllowDirect},
		{"no more messages a subject than it needs", got.MaxMsgsPerSubject == want.MaxMsgsPerSubject},
		{"atomic batches (a server of version 2.12 or later)", got.AllowAtomicPublish || !want.AllowAtomicPublish},
		{"times to live (a server of version 2.12 or later)", got.AllowMsgTTL || !want.AllowMsgTTL},
		{"acknowledgements", !got.NoAck},
		{"no transform of subjects", got.SubjectTransform == nil},
	} {
		if !must.ok {
			return fmt.Errorf("it must have %s", must.what)
		}
	}
	return nil
}
