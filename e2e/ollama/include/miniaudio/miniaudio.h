/*
 * Stands in for the audio decoder that Ollama's image-and-audio helper wants.
 *
 * Module archives of the Go proxy leave out directories named "vendor", and
 * with them the header that the helper includes. The tests send no audio, so
 * every function here declares failure: an audio file is refused, all else
 * works. Only the names that the helper uses are declared.
 */
#ifndef ASSAY_E2E_MINIAUDIO_H
#define ASSAY_E2E_MINIAUDIO_H

#include <stddef.h>
#include <stdint.h>

typedef int ma_result;
typedef uint64_t ma_uint64;

enum { MA_SUCCESS = 0, MA_ERROR = -1 };

typedef enum { ma_format_f32 = 5 } ma_format;
typedef struct { ma_format format; uint32_t channels, rate; } ma_decoder_config;
typedef struct { int unused; } ma_decoder;

static inline ma_decoder_config ma_decoder_config_init(ma_format format, uint32_t channels, uint32_t rate) {
	ma_decoder_config c = { format, channels, rate };
	return c;
}

static inline ma_result ma_decoder_init_memory(const void *data, size_t size, const ma_decoder_config *config, ma_decoder *d) {
	(void)data; (void)size; (void)config; (void)d;
	return MA_ERROR;
}

static inline ma_result ma_decoder_get_length_in_pcm_frames(ma_decoder *d, ma_uint64 *frames) {
	(void)d;
	*frames = 0;
	return MA_ERROR;
}

static inline ma_result ma_decoder_read_pcm_frames(ma_decoder *d, void *out, ma_uint64 want, ma_uint64 *got) {
	(void)d; (void)out; (void)want;
	if (got != NULL) *got = 0;
	return MA_ERROR;
}

static inline ma_result ma_decoder_uninit(ma_decoder *d) {
	(void)d;
	return MA_SUCCESS;
}

#endif
