package cache

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"modernc.org/sqlite"
)

// The marks of our files: SQLite keeps both numbers in its header.
const (
	applicationID = 0x41535359 // "ASSY"
	userVersion   = 1
)

// The result codes of SQLite that say that a file is damaged.
const (
	codeCorrupt     = 11
	codeNotDatabase = 26
)

// schema makes an empty file a cache. AUTOINCREMENT never uses a number again,
// so that a larger one was always stored later.
const schema = `
CREATE TABLE replies (
	n     INTEGER PRIMARY KEY AUTOINCREMENT,
	key   BLOB NOT NULL UNIQUE,
	sum   INTEGER NOT NULL,
	reply BLOB NOT NULL
);
PRAGMA application_id = %d;
PRAGMA user_version = %d;`

// How often the size is looked at, and which part of the oldest replies goes
// when the file is full.
const (
	sizeEvery   = 64
	evictedPart = 10
)

// A Store is an open cache file. It is safe for concurrent use.
type Store struct {
	path     string
	maxBytes int64
	db       *sql.DB
	read     *sql.Stmt
	until    int64 // number of the last reply that was there at Open

	write sync.Mutex // SQLite has one writer at a time

	mu    sync.Mutex // guards the rest
	stats Stats
	off   bool  // the file turned out to be damaged
	fault error // the first one
}

// Stats count what a store did since [Open].
type Stats struct {
	Hits   int
	Misses int
	Stored int
	Failed int // replies that could not be stored or read
	Bad    int // stored replies whose checksum does not hold: asked again
}

// Open opens or makes a cache file. MaxBytes bounds its size: when it is
// reached, the oldest replies go; 0 is no bound. A file that is damaged, or
// that is no cache of ours, is refused and not changed.
func Open(path string, maxBytes int64) (*Store, error) {
	if maxBytes < 0 {
		return nil, fmt.Errorf("response cache: bound of %d bytes: want no negative number; 0 is none", maxBytes)
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := usable(full); err != nil {
		return nil, fmt.Errorf("response cache %s: %w", path, err)
	}
	dsn := (&url.URL{Scheme: "file", Path: filepath.ToSlash(full)}).String() +
		"?_pragma=busy_timeout(20000)&_pragma=synchronous(NORMAL)&_pragma=journal_size_limit(16777216)&_txlock=immediate"
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	const readers = 8
	db.SetMaxOpenConns(readers)
	db.SetMaxIdleConns(readers)
	s := &Store{path: path, maxBytes: maxBytes, db: db}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(s.explain(err), db.Close())
	}
	return s, nil
}

// usable looks at the file before SQLite does, whose messages are shorter.
func usable(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Dir(path)); err != nil {
			return fmt.Errorf("want a file in an existing folder: %w", err)
		}
		return nil
	}
	if err == nil && !info.Mode().IsRegular() {
		return errors.New("want a regular file, have a folder or a device")
	}
	return err
}

// errForeign says that a file is a database of somebody else.
var errForeign = errors.New("it is an SQLite database, but no response cache of this program; give another --cache FILE")

// prepare checks the file, and makes it a cache if it is empty.
func (s *Store) prepare() error {
	ctx := context.Background()
	tx, err := s.db.BeginTx(ctx, nil) // the write lock: nobody else prepares
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	var app, version, tables int
	for _, q := range []struct {
		query string
		to    *int
	}{{"PRAGMA application_id", &app}, {"PRAGMA user_version", &version}, {"SELECT count(*) FROM sqlite_schema", &tables}} {
		if err := tx.QueryRowContext(ctx, q.query).Scan(q.to); err != nil {
			return err
		}
	}
	switch {
	case app == 0 && version == 0 && tables == 0:
		if _, err := tx.ExecContext(ctx, fmt.Sprintf(schema, applicationID, userVersion)); err != nil {
			return err
		}
	case app != applicationID:
		return errForeign
	case version != userVersion:
		return fmt.Errorf("it has format %d, and this program knows format %d; delete it, or give another --cache FILE", version, userVersion)
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	if _, err := s.db.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
		return err
	}
	if err := s.db.QueryRowContext(ctx, "SELECT coalesce(max(n), 0) FROM replies").Scan(&s.until); err != nil {
		return err
	}
	s.read, err = s.db.PrepareContext(ctx, "SELECT n, sum, reply FROM replies WHERE key = ?")
	return err
}

// damaged reports whether err says that the file is.
func damaged(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && (e.Code()&0xff == codeCorrupt || e.Code()&0xff == codeNotDatabase)
}

// explain adds the file to an error, and what to do.
func (s *Store) explain(err error) error {
	if damaged(err) {
		return fmt.Errorf("response cache %s: the file is damaged or no SQLite database (%w); delete it with its -wal and -shm files, or give another --cache FILE", s.path, err)
	}
	return fmt.Errorf("response cache %s: %w", s.path, err)
}

// get returns the stored reply, nil if there is none that was there at Open:
// what a run stores is for later runs, so that the order in which requests
// end does not decide which reply is a stored one.
func (s *Store) get(ctx context.Context, key [32]byte) ([]byte, error) {
	if s.isOff() {
		return nil, nil
	}
	var n, sum int64
	var reply []byte
	err := s.read.QueryRowContext(ctx, key[:]).Scan(&n, &sum, &reply)
	switch {
	case errors.Is(err, sql.ErrNoRows) || err == nil && n > s.until:
		return nil, nil
	case err != nil:
		return nil, err
	case checksum(reply) != sum:
		s.count(func(st *Stats) { st.Bad++ })
		return nil, nil
	}
	return reply, nil
}

// put stores a reply, in place of one with the same key that is not good.
func (s *Store) put(key [32]byte, reply []byte) error {
	if s.isOff() || s.maxBytes > 0 && int64(len(reply)) > s.maxBytes/evictedPart {
		return nil
	}
	s.write.Lock()
	defer s.write.Unlock()
	sum := checksum(reply)
	// Another process may have stored the same by now: its reply stays.
	_, err := s.db.Exec(`INSERT INTO replies (key, sum, reply) VALUES (?, ?, ?)
		ON CONFLICT (key) DO UPDATE SET sum = excluded.sum, reply = excluded.reply WHERE n <= ?`, key[:], sum, reply, s.until)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.stats.Stored++
	look := s.maxBytes > 0 && s.stats.Stored%sizeEvery == 0
	s.mu.Unlock()
	if look {
		return s.evict()
	}
	return nil
}

// evict drops the oldest replies while the file is over its bound.
func (s *Store) evict() error {
	for {
		var pages, free, size, count int64
		err := s.db.QueryRow("SELECT p.page_count, f.freelist_count, s.page_size, (SELECT count(*) FROM replies) FROM pragma_page_count p, pragma_freelist_count f, pragma_page_size s").
			Scan(&pages, &free, &size, &count)
		if err != nil || count == 0 || (pages-free)*size <= s.maxBytes {
			return err
		}
		if _, err := s.db.Exec("DELETE FROM replies WHERE n IN (SELECT n FROM replies ORDER BY n LIMIT ?)", count/evictedPart+1); err != nil {
			return err
		}
	}
}

func (s *Store) isOff() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.off
}

func (s *Store) count(f func(*Stats)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.stats)
}

// failed takes in an error of the file. A run goes on without its cache.
func (s *Store) failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Failed++
	s.off = s.off || damaged(err)
	if s.fault == nil {
		s.fault = s.explain(err)
	}
}

// Stats returns the counts since [Open].
func (s *Store) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

// Close closes the file.
func (s *Store) Close() error {
	return errors.Join(s.read.Close(), s.db.Close())
}
