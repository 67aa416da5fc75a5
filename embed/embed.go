package embed

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"assay/model/ollama"
	"assay/model/openai"
	"assay/model/transport"
	"assay/vector"
)

// Lexical is the name of the source that needs no model.
const Lexical = "lexical"

// A Source turns texts into vectors. It is safe for concurrent use.
type Source interface {
	// Name is the word that names the source: "lexical", "ollama:bge-m3".
	Name() string
	// Vectors returns a row for each text, in order, scaled to length 1, so
	// that inner products are cosines. Equal texts have equal rows and are
	// asked once. A blank text has a row of zeros: it is similar to nothing,
	// and no model is asked about it.
	Vectors(ctx context.Context, texts []string) (*vector.Matrix, error)
}

// The values of [Options] that are zero.
const (
	DefaultBatch      = 64
	DefaultWorkers    = 4
	DefaultDimensions = 1024 // of lexical
	DefaultRetries    = 5
	DefaultTimeout    = 5 * time.Minute
	DefaultKeyEnv     = "OPENAI_API_KEY"
)

// MaxReply is the longest answer that is read, in bytes: a batch of 64 vectors
// of 8,192 numbers, each written out at length, has a quarter of it.
const MaxReply = 64 << 20

// Options say how vectors are made. The zero value is usable.
type Options struct {
	// BaseURL is the address of the server; "" is OLLAMA_HOST for ollama, and
	// OPENAI_BASE_URL or else OpenAI itself for openai.
	BaseURL string
	// KeyEnv names the environment variable that holds the key for openai; ""
	// is [DefaultKeyEnv]. The key itself is in no option, so that no option
	// can be printed with it.
	KeyEnv string
	// CacheFile keeps the vectors of one model between calls; "" is none. It
	// is made if it does not exist. A file with vectors of another model,
	// digest or dimension is refused with a message that names both; so is one
	// that another process is using. What was received is in the file even if
	// the rest fails or the process is killed, so a second call goes on where
	// the first one ended. If all texts are in the file, the server need not
	// run. Vectors are kept as received, to the bit. The server's address is
	// no part of the key: two servers may serve one model. Lexical needs none.
	CacheFile string
	// Batch is how many texts a request holds at most; 0 is [DefaultBatch].
	// A list that a server refuses is halved.
	Batch int
	// Workers is how many requests are in flight; 0 is [DefaultWorkers]. For
	// lexical it is how many texts are worked on, and 0 is one per CPU.
	Workers int
	// Dimensions is the length of the vectors to ask for; 0 is the model's
	// own, and [DefaultDimensions] for lexical.
	Dimensions int
	// NumCtx (context length), NumThread and KeepAlive are for ollama; see
	// [ollama.Config] and [ollama.EmbedConfig].
	NumCtx, NumThread int
	KeepAlive         string
	// Timeout is for one request; 0 is [DefaultTimeout]. Retries is how often
	// a failed one is sent again; 0 is [DefaultRetries], below 0 is never.
	Timeout time.Duration
	Retries int
	// HTTP holds the rest of what the transport can be told.
	HTTP transport.Options
	// Getenv reads the environment; nil is [os.Getenv].
	Getenv func(string) string
	// Progress is told after each batch how many of the texts that the cache
	// did not have are done; nil is nobody.
	Progress func(done, total int)
}

// Open returns the source that spec names: "lexical", "ollama:MODEL" or
// "openai:MODEL". It sends nothing and opens no file.
func Open(spec string, opt Options) (Source, error) {
	if opt.Batch < 0 || opt.Workers < 0 || opt.Dimensions < 0 || opt.Dimensions > maxDim {
		return nil, fmt.Errorf("embed: want batch, workers and dimensions of 0 or more, and at most %d dimensions; have %d, %d and %d", maxDim, opt.Batch, opt.Workers, opt.Dimensions)
	}
	if spec == Lexical || spec == "" {
		return newLexical(opt), nil
	}
	kind, name, _ := strings.Cut(spec, ":")
	if name == "" || kind != "ollama" && kind != "openai" {
		return nil, fmt.Errorf("embed: source of vectors %q: want lexical, ollama:MODEL or openai:MODEL", spec)
	}
	setDefault(&opt.Batch, DefaultBatch)
	setDefault(&opt.Workers, DefaultWorkers)
	getenv := opt.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	http := opt.http()
	r := &remote{name: spec, label: kind + "/" + name, opt: opt}
	if kind == "ollama" {
		if opt.BaseURL == "" {
			opt.BaseURL = getenv("OLLAMA_HOST")
		}
		e, err := ollama.NewEmbedder(ollama.EmbedConfig{
			Config:     ollama.Config{Host: opt.BaseURL, Model: name, KeepAlive: opt.KeepAlive, NumThread: opt.NumThread, HTTP: http},
			Dimensions: opt.Dimensions, NumCtx: opt.NumCtx,
		})
		if err != nil {
			return nil, err
		}
		r.model, r.digest = e, e.Digest
		return r, nil
	}
	if opt.BaseURL == "" {
		opt.BaseURL = getenv("OPENAI_BASE_URL")
	}
	if opt.KeyEnv == "" {
		opt.KeyEnv = DefaultKeyEnv
	}
	e, err := openai.NewEmbedder(openai.EmbedConfig{
		Config:     openai.Config{BaseURL: opt.BaseURL, Key: getenv(opt.KeyEnv), Model: name, HTTP: http},
		Dimensions: opt.Dimensions,
	})
	if err != nil {
		return nil, err
	}
	r.model = e
	return r, nil
}

func setDefault(n *int, def int) {
	if *n == 0 {
		*n = def
	}
}

// http returns the options of the transport.
func (o Options) http() transport.Options {
	h := o.HTTP
	h.Timeout, h.Retries, h.Concurrency = o.Timeout, max(o.Retries, 0), o.Workers
	if h.Timeout == 0 {
		h.Timeout = DefaultTimeout
	}
	if o.Retries == 0 {
		h.Retries = DefaultRetries
	}
	if h.MaxBody == 0 {
		h.MaxBody = MaxReply
	}
	return h
}
