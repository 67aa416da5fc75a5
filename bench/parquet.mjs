// Writes an xlam-like JSONL file as Parquet with small row groups, as the files
// of the hub have them: node parquet.mjs IN OUT ROWS. DuckDB takes multiples of
// 2,048 rows. DUCK_BASE is the folder in which @duckdb/node-api is installed.
import { createRequire } from 'node:module';
const require = createRequire(process.env.DUCK_BASE + '/x.js');
const { DuckDBInstance } = require('@duckdb/node-api');
const [, , from, to, rows] = process.argv;
const quote = (s) => "'" + s.replaceAll("'", "''") + "'";
const db = await DuckDBInstance.create(':memory:', { threads: '1' });
const connection = await db.connect();
await connection.run('SET preserve_insertion_order=true');
await connection.run(`COPY (SELECT * FROM read_json(${quote(from)}, format='newline_delimited',
  columns={id:'BIGINT', query:'VARCHAR', answers:'VARCHAR', tools:'VARCHAR'}, maximum_object_size=16777216))
  TO ${quote(to)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${Number(rows)})`);
