// Writes tokenizer/testdata/vectors.json: the ids that Hugging Face's tokenizers
// give for the texts beside it.
//
//   NODE_BASE=FOLDER node vectors.mjs TESTDATA CACHE PATTERNS.JSON
//
// Variants of tiny.json are made as the test makes them. CACHE is the folder
// that get.sh fills, PATTERNS.JSON maps names of patterns to regular
// expressions.
import { createRequire } from 'node:module';
import fs from 'node:fs';
const require = createRequire(process.env.NODE_BASE + '/x.js');
const { Tokenizer } = require('@anush008/tokenizers');
const [, , testdata, cache, patternFile] = process.argv;
const read = (path) => JSON.parse(fs.readFileSync(path, 'utf8'));
const texts = read(testdata + '/texts.json');
const patterns = read(patternFile);
const out = { oracle: '@anush008/tokenizers ' + require('@anush008/tokenizers/package.json').version, ids: {} };

async function encode(tokenizer) {
  const rows = [];
  for (const text of texts) rows.push((await tokenizer.encode(text, null, { addSpecialTokens: false })).getIds());
  return rows;
}

for (const [name, v] of Object.entries(read(testdata + '/variants.json'))) {
  const doc = read(testdata + '/tiny.json');
  const level = { type: 'ByteLevel', add_prefix_space: !!v.prefix_space, trim_offsets: false, use_regex: v.pattern === 'gpt2' };
  doc.pre_tokenizer = v.pattern === 'gpt2' ? level
    : { type: 'Sequence', pretokenizers: [{ type: 'Split', pattern: { Regex: patterns[v.pattern] }, behavior: 'Isolated', invert: false }, level] };
  doc.normalizer = v.nfc ? { type: 'NFC' } : null;
  doc.model.ignore_merges = !!v.ignore_merges;
  if (v.string_merges) doc.model.merges = doc.model.merges.map((m) => m.join(' '));
  out.ids[name] = await encode(Tokenizer.fromString(JSON.stringify(doc)));
}
for (const name of ['qwen3', 'llama3_1']) {
  out.ids[name] = await encode(Tokenizer.fromFile(cache + '/' + name + '/tokenizer.json'));
}
const rows = Object.entries(out.ids).map(([name, ids]) => JSON.stringify(name) + ': [\n' + ids.map((r) => JSON.stringify(r)).join(',\n') + '\n]');
fs.writeFileSync(testdata + '/vectors.json', '{"oracle": ' + JSON.stringify(out.oracle) + ',\n"ids": {\n' + rows.join(',\n') + '\n}}\n');
