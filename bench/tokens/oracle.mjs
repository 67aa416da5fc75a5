// What Hugging Face's tokenizers (Rust, called through Node) make of texts:
//
//   NODE_BASE=FOLDER node oracle.mjs TOKENIZER.JSON TEXTS.JSONL IDS
//
// TEXTS.JSONL has a JSON string a line; IDS gets a line of ids for each. Bytes,
// tokens and the CPU seconds of encoding alone go to stdout as one JSON object.
// NODE_BASE is the folder in which @anush008/tokenizers is installed.
import { createRequire } from 'node:module';
import fs from 'node:fs';
const require = createRequire(process.env.NODE_BASE + '/x.js');
const { Tokenizer } = require('@anush008/tokenizers');
const [, , file, from, to] = process.argv;
const tokenizer = Tokenizer.fromFile(file);
const texts = fs.readFileSync(from, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
const out = new Array(texts.length);
const start = process.cpuUsage();
for (let i = 0; i < texts.length; i++) {
  out[i] = (await tokenizer.encode(texts[i], null, { addSpecialTokens: false })).getIds();
}
const used = process.cpuUsage(start);
let tokens = 0;
let bytes = 0;
for (let i = 0; i < texts.length; i++) {
  tokens += out[i].length;
  bytes += Buffer.byteLength(texts[i]);
}
fs.writeFileSync(to, out.map((ids) => ids.join(' ') + '\n').join(''));
console.log(JSON.stringify({ bytes, tokens, cpu: (used.user + used.system) / 1e6 }));
