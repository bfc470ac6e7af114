package natsstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/comity-dev/comity/storage"
)

const (
	maxRecordBytes  = 8 << 20
	maxBatchRecords = 1 << 14
	maxBatchBytes   = 16 << 20 // in packs, far fewer messages than the server's limit of 1,000
	maxValueBytes   = 1 << 20
	maxHeaderBytes  = 4 << 10  // what a message has besides its data is less
	minPayloadBytes = 65 << 14 // 1 MiB and 16 KiB

	// The server takes 50 atomic batches in flight a stream. One store leaves room
	// for others; when they need it all, the server says so, and the batch is
	// sent again.
	maxBatchesInFlight = 16
)

// Options are the settings of Open. The zero value and nil mean the defaults.
type Options struct {
	// Name is that of the store: letters, digits, "_" and "-". "comity".
	Name string
	// Replicas is that of the streams that Open makes: 1.
	Replicas int
	// MaxBytes bounds the stream of the ledgers, and another one of that size the
	// blobs, if Open makes them. 0: what the account allows.
	MaxBytes int64
	// LeaseTTL is how long a grant lasts that is not renewed: 30 s. Whole
	// seconds, at least one.
	LeaseTTL time.Duration
	// Timeout bounds the wait for the server in each call, besides the call's
	// context: 10 s.
	Timeout time.Duration
	// MustExist makes Open refuse a store that is not there, with a
	// *storage.NotFoundError, and make nothing: for whoever only looks.
	MustExist bool
	// NATS are options of the connection: credentials, TLS, an in-process server.
	NATS []nats.Option
}

func (o *Options) withDefaults() (Options, error) {
	var d Options
	if o != nil {
		d = *o
	}
	if d.Name == "" {
		d.Name = "comity"
	}
	if !regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`).MatchString(d.Name) {
		return d, fmt.Errorf("store name %.80q: want 1 to 64 letters, digits, _ and -", d.Name)
	}
	if d.Replicas == 0 {
		d.Replicas = 1
	}
	if d.LeaseTTL == 0 {
		d.LeaseTTL = 30 * time.Second
	}
	if d.LeaseTTL < time.Second || d.LeaseTTL%time.Second != 0 {
		return d, fmt.Errorf("time to live of a lease is %v: want whole seconds", d.LeaseTTL)
	}
	if d.Timeout <= 0 {
		d.Timeout = 10 * time.Second
	}
	return d, nil
}

// A Store is a storage.Backend over a NATS server or a cluster.
type Store struct {
	o       Options
	nc      *nats.Conn
	js      jetstream.JetStream
	names   names
	record  int // the longest record
	batches chan struct{}

	testingBefore, testingAfter func()       // around the first attempt of a write
	testingTimeout              atomic.Int64 // instead of Options.Timeout

	ctx  context.Context // ends with the store
	end  context.CancelCauseFunc
	wg   sync.WaitGroup // watches and renewals
	once sync.Once

	mu      sync.Mutex
	closed  bool
	writes  sync.WaitGroup // in flight; none begins once closed is set
	ledgers map[string]*ledger
	leases  map[*lease]bool
	clock   clock
	line    context.Context // ends when the connection is made again
	cut     context.CancelFunc
}

// names are those of the streams, and what their subjects begin with.
type names struct {
	ledgers, rows, leases, blobs string // streams

	ledger, row, lease, blob, chunk string // subjects, with the "." at their end
}

func namesOf(n string) names {
	return names{
		ledgers: n + "_ledgers", rows: "KV_" + n + "_rows", leases: "KV_" + n + "_leases", blobs: n + "_blobs",
		ledger: n + ".l.", row: "$KV." + n + "_rows.", lease: "$KV." + n + "_leases.", blob: n + ".b.", chunk: n + ".c.",
	}
}

// Open connects to the servers at a URL (more than one are separated by commas),
// and opens the store there, making its streams if they are missing and may be
// made. ctx bounds the opening.
//
// The error wraps storage.ErrUnavailable when no server answers, and
// storage.ErrNewerFormat; it has no credentials. A stream that is there and cannot
// hold a store is refused and not changed.
func Open(ctx context.Context, servers string, o *Options) (*Store, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Store{
		o:       opts,
		names:   namesOf(opts.Name),
		batches: make(chan struct{}, maxBatchesInFlight),
		ledgers: make(map[string]*ledger),
		leases:  make(map[*lease]bool),
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if s.nc, err = s.connect(ctx, servers); errors.As(err, new(*url.Error)) {
		return nil, fmt.Errorf("open store %s: the URL of a server cannot be parsed; it is not shown, since it may have a password", opts.Name)
	} else if err != nil {
		return nil, fmt.Errorf("open store %s: %w: %w", opts.Name, storage.ErrUnavailable, err)
	}
	if err := s.prepare(ctx); err != nil {
		s.nc.Close()
		return nil, fmt.Errorf("open store %s: %w", opts.Name, err)
	}
	s.ctx, s.end = context.WithCancelCause(context.Background())
	s.line, s.cut = context.WithCancel(s.ctx)
	own := s.nc.Opts.ReconnectedCB
	s.nc.SetReconnectHandler(func(nc *nats.Conn) {
		s.reconnected()
		if own != nil {
			own(nc)
		}
	})
	return s, nil
}

// reconnected tells the watches that what the server had for them may be gone.
func (s *Store) reconnected() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut()
	s.line, s.cut = context.WithCancel(s.ctx)
}

// connect makes a connection that never holds a message back: what is published
// while there is no server fails at once, and is not sent later.
func (s *Store) connect(ctx context.Context, servers string) (*nats.Conn, error) {
	timeout := s.timeout()
	if d, ok := ctx.Deadline(); ok {
		timeout = min(timeout, time.Until(d))
	}
	opts := []nats.Option{
		nats.Name("comity " + s.o.Name), nats.Timeout(max(timeout, time.Millisecond)),
		nats.ReconnectWait(100 * time.Millisecond), nats.ReconnectJitter(100*time.Millisecond, 100*time.Millisecond),
	}
	opts = append(opts, s.o.NATS...)
	opts = append(opts, nats.MaxReconnects(-1), nats.ReconnectBufSize(-1))
	return nats.Connect(servers, opts...)
}

func (s *Store) Ledger() storage.Ledger { return ledgers{s} }
func (s *Store) Leaser() storage.Leaser { return leases{s} }
func (s *Store) KV() storage.KV         { return rows{s} }
func (s *Store) Blobs() storage.Blobs   { return blobs{s} }

func (s *Store) Traits() storage.Traits {
	return storage.Traits{
		Durable:         storage.Replicas,
		Expiry:          s.o.LeaseTTL + expiryLag,
		Ambiguous:       true,
		MaxRecordBytes:  s.record,
		MaxBatchRecords: maxBatchRecords,
		MaxBatchBytes:   maxBatchBytes,
		MaxValueBytes:   maxValueBytes,
	}
}

// Close waits for the writes in flight, which takes no longer than
// Options.Timeout but for a Put, which ends when its reader has returned what it
// is asked for; it ends all grants and followers, and closes the connection.
// A grant that the server cannot be told of ends by its expiry. Close always
// returns nil.
func (s *Store) Close() error {
	s.once.Do(s.shut)
	return nil
}

func (s *Store) shut() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end(storage.ErrClosed)
	s.writes.Wait()
	s.mu.Lock()
	held := slices.Collect(maps.Keys(s.leases))
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), min(s.timeout(), 2*time.Second))
	defer cancel()
	var ends sync.WaitGroup
	for _, l := range held {
		ends.Go(func() { l.release(ctx) })
	}
	ends.Wait()
	s.wg.Wait()
	s.nc.Close()
	s.mu.Lock()
	s.cut()
	s.mu.Unlock()
}

// enter checks what every method checks.
func (s *Store) enter(ctx context.Context, name string) error {
	if err := storage.CheckName(name); err != nil {
		return err
	}
	return s.over(ctx)
}

// over returns why a call must end.
func (s *Store) over(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if s.ctx.Err() != nil {
		return storage.ErrClosed
	}
	return nil
}

// begin is enter for a write, which Close waits for. The caller calls done.
func (s *Store) begin(ctx context.Context, name string) (done func(), err error) {
	if err := s.enter(ctx, name); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, storage.ErrClosed
	}
	s.writes.Add(1)
	return s.writes.Done, nil
}

func (s *Store) timeout() time.Duration {
	if d := s.testingTimeout.Load(); d != 0 {
		return time.Duration(d)
	}
	return s.o.Timeout
}

// errNoAnswer is the cause of a context that Options.Timeout has ended.
var errNoAnswer = errors.New("no answer in time")

// limit returns a context that ends with ctx, and after Options.Timeout.
func (s *Store) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, s.timeout(), errNoAnswer)
}

// reading returns the context of what Close interrupts.
func (s *Store) reading(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.ctx, func() { cancel(storage.ErrClosed) })
	return ctx, func() { stop(); cancel(nil) }
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
