// server.mjs serves a GGUF file by llama.cpp, through the library node-llama-cpp,
// over the paths that llama.cpp's own server has: OpenAI's protocol below /v1,
// and /apply-template, /tokenize, /detokenize and /health beside it.
//
//   node server.mjs FILE.gguf [PORT]
//
// It prints "Listening on 127.0.0.1:PORT" when it is ready. The file is offered
// under several names, which differ in the token that begins an answer (see
// e2e/tinygguf) and in the length of their context. It is test equipment for one
// machine: no streaming, no keys, loopback only. Numbers pass through JavaScript,
// so 1.0 in a schema or in arguments becomes 1, which llama.cpp's own server keeps;
// a test relies on that being noticed.
import http from 'node:http'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { getLlama } from 'node-llama-cpp'
import { Template } from '@huggingface/jinja'

const CONTEXT = 16384
const SLOTS = 4
const MOST_BODY = 64 << 20

// What each name begins an answer with, and how long its context is.
const MODELS = {
  'tiny': { context: CONTEXT },
  'tiny-short': { context: 2048 },
  'tiny-again': { again: true, context: CONTEXT },
  'tiny-dice': { fresh: '<|dice|>', context: CONTEXT },
  'tiny-broken': { fresh: '<|broken|>', context: CONTEXT },
  'tiny-endless': { fresh: '<|endless|>', context: CONTEXT },
}

const llama = await getLlama({ gpu: false, build: 'never', skipDownload: true, logLevel: 'error', maxThreads: 1 })
const model = await llama.loadModel({ modelPath: process.argv[2] })
const template = new Template(model.fileInfo.metadata.tokenizer.chat_template)
const embedding = await model.createEmbeddingContext({ contextSize: MODELS['tiny'].context, threads: 1 })

// A request waits for one of the slots. Each has a context of its own: sequences
// of one context are computed together, and now and then two that run at the
// same time are given each other's next token.
const slots = []
for (let i = 0; i < SLOTS; i++) {
  const context = await model.createContext({ contextSize: CONTEXT, sequences: 1, threads: 1 })
  slots.push(context.getSequence())
}
const waiting = []
const enter = () => slots.length ? Promise.resolve(slots.pop()) : new Promise(go => waiting.push(go))
const leave = slot => waiting.length ? waiting.shift()(slot) : slots.push(slot)

class Refusal extends Error {
  constructor(status, type, message, more = {}) {
    super(message)
    this.status = status
    this.body = { error: { code: status, type, message, ...more } }
  }
}

// modelOf returns what a request asks; the paths beside the protocol know no
// names and mean the first.
function modelOf(req, optional) {
  if (optional && req.model === undefined) return MODELS['tiny']
  const known = Object.hasOwn(MODELS, req.model ?? '') ? MODELS[req.model] : undefined
  if (!known) throw new Refusal(404, 'not_found_error', `model '${req.model}' not found`)
  return known
}

// The template takes arguments as objects, the protocol has them as texts.
function render(req, asked) {
  if (!Array.isArray(req.messages)) throw new Refusal(400, 'invalid_request_error', "'messages' is required")
  const messages = req.messages.map(m => m.tool_calls === undefined ? m : {
    ...m,
    tool_calls: m.tool_calls.map(c => ({ ...c, function: { ...c.function, arguments: JSON.parse(c.function.arguments) } })),
  })
  return template.render({
    messages,
    tools: req.tools?.length ? req.tools : undefined,
    add_generation_prompt: req.add_generation_prompt ?? true,
    fresh: asked.fresh ?? '\n',
    again: asked.again ?? false,
    ...req.chat_template_kwargs,
  })
}

function tooLong(n, limit) {
  return new Refusal(400, 'exceed_context_size_error',
    `request (${n} tokens) exceeds the available context size (${limit} tokens)`, { n_prompt_tokens: n, n_ctx: limit })
}

async function generate(req, prompt, asked) {
  const tokens = model.tokenize(prompt, true)
  if (tokens.length >= asked.context) throw tooLong(tokens.length, asked.context)
  const room = asked.context - tokens.length
  const most = Math.min(req.max_completion_tokens ?? req.max_tokens ?? room, room)
  const slot = await enter()
  try {
    await slot.clearHistory()
    const out = []
    let finish = 'stop'
    for await (const token of slot.evaluate(tokens, { temperature: req.temperature ?? 0.8, topP: req.top_p ?? 1, topK: 0, seed: req.seed })) {
      out.push(token)
      if (out.length >= most) {
        finish = 'length'
        break
      }
    }
    return {
      text: model.detokenize(out, true),
      finish,
      usage: { prompt_tokens: tokens.length, completion_tokens: out.length, total_tokens: tokens.length + out.length },
    }
  } finally {
    leave(slot)
  }
}

// calls takes <tool_call> blocks out of a text. One that does not parse stays.
function calls(text) {
  const found = []
  const rest = text.replace(/<tool_call>\s*([\s\S]*?)\s*<\/tool_call>/g, (block, body) => {
    try {
      const call = JSON.parse(body)
      const args = JSON.stringify(call.arguments ?? {})
      found.push({ id: `call${String(found.length).padStart(5, '0')}`, type: 'function', function: { name: call.name, arguments: args } })
      return ''
    } catch {
      return block
    }
  })
  return [rest.trim(), found]
}

async function chat(req) {
  const asked = modelOf(req)
  const { text, finish, usage } = await generate(req, render(req, asked), asked)
  const message = { role: 'assistant', content: text }
  let reason = finish
  if (req.tools?.length && req.tool_choice !== 'none') {
    const [rest, found] = calls(text)
    if (found.length) {
      message.content = rest || null
      message.tool_calls = found
      reason = 'tool_calls'
    }
  }
  return { id: 'chatcmpl-0', object: 'chat.completion', created: 0, model: req.model, choices: [{ index: 0, finish_reason: reason, message }], usage }
}

async function embed(req) {
  modelOf(req)
  const texts = [req.input].flat()
  const data = []
  let n = 0
  for (const [index, text] of texts.entries()) {
    const tokens = model.tokenize(text, true)
    n += tokens.length
    if (tokens.length >= CONTEXT) throw tooLong(tokens.length, CONTEXT)
    const { vector } = await embedding.getEmbeddingFor(tokens)
    const packed = () => Buffer.from(Float32Array.from(vector).buffer).toString('base64')
    data.push({ object: 'embedding', index, embedding: req.encoding_format === 'base64' ? packed() : [...vector] })
  }
  return { object: 'list', model: req.model, data, usage: { prompt_tokens: n, total_tokens: n } }
}

const listed = () => ({
  object: 'list',
  data: Object.entries(MODELS).map(([id, m]) => ({ id, object: 'model', created: 0, owned_by: 'llamacpp', meta: { n_ctx_train: m.context } })),
})

const paths = {
  'GET /health': () => ({ status: 'ok' }),
  'GET /v1/models': listed,
  'POST /v1/chat/completions': chat,
  'POST /v1/embeddings': embed,
  'POST /apply-template': req => ({ prompt: render(req, modelOf(req, true)) }),
  'POST /tokenize': req => ({ tokens: model.tokenize(req.content ?? '', req.parse_special ?? true) }),
  'POST /detokenize': req => ({ content: model.detokenize(req.tokens ?? [], true) }),
}

async function body(incoming) {
  const parts = []
  let size = 0
  for await (const part of incoming) {
    size += part.length
    if (size > MOST_BODY) throw new Refusal(413, 'invalid_request_error', 'the request is too large')
    parts.push(part)
  }
  try {
    return parts.length ? JSON.parse(Buffer.concat(parts).toString('utf8')) : {}
  } catch (e) {
    throw new Refusal(400, 'invalid_request_error', `the request is not JSON: ${e.message}`)
  }
}

const server = http.createServer(async (incoming, out) => {
  let status = 200
  let answer
  try {
    const req = await body(incoming)
    const serve = paths[`${incoming.method} ${incoming.url}`]
    if (!serve) throw new Refusal(404, 'not_found_error', 'File Not Found')
    answer = await serve(req)
  } catch (e) {
    status = e.status ?? 500
    answer = e.body ?? { error: { code: 500, type: 'server_error', message: e.message } }
    if (status === 500) console.error(e)
  }
  out.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' })
  out.end(JSON.stringify(answer))
})
server.listen(Number(process.argv[3] ?? 0), '127.0.0.1', () => {
  console.log(`${path.basename(fileURLToPath(import.meta.url))}: Listening on 127.0.0.1:${server.address().port}`)
})
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => process.exit(0))
