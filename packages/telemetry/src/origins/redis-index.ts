import { createHash } from 'node:crypto';
import type { IssuedRecord, KnownIssuer, KnownIssuers, OriginIndex } from './origin-index.ts';
import { ISSUERS_KEPT } from './origin-index.ts';
import { readStored, storedText } from './stored-record.ts';

/** A connected client: of the package `redis`, or of `ioredis`, which has `call`. */
export type RedisClient =
  | { call(command: string, ...values: string[]): Promise<unknown> }
  | { sendCommand(command: string[]): Promise<unknown> };

export interface RedisOriginIndexOptions {
  /**
   * What the keys in Redis begin with: one prefix for each service, since a stream is known by its
   * path. Default `sameriver:origins:`.
   */
  readonly prefix?: string;
  /** Seconds that a stream is remembered after the last of its records. Default 3,600. */
  readonly ttl?: number;
}

interface Script {
  readonly text: string;
  readonly sha: string;
}

const LONGEST_RECORD = 4_096;

// A key of the prefix that holds no records of ours is a mistake of somebody's, and may be large.
// Redis' own clock says when a record was written, so that no two instances need agree on theirs.
// KEYS: the stream. ARGV: issuer, milliseconds since it wrote, record, time to live, most issuers.
const ISSUED = script(`
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local kind = redis.call('TYPE', KEYS[1]).ok
local foreign = kind ~= 'hash' and kind ~= 'none'
if foreign or (kind == 'hash' and redis.call('HLEN', KEYS[1]) > 4 * ARGV[5]) then
  redis.call('UNLINK', KEYS[1])
end
local at = string.format('%.0f', now - ARGV[2])
local isNew = redis.call('HSET', KEYS[1], ARGV[1], at .. ' ' .. ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
if isNew == 0 or redis.call('HLEN', KEYS[1]) <= tonumber(ARGV[5]) then return 0 end
local oldest, name = math.huge, nil
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  local when = tonumber(string.match(redis.call('HGET', KEYS[1], field), '^%d+')) or 0
  if field ~= ARGV[1] and when < oldest then oldest, name = when, field end
end
if name then redis.call('HDEL', KEYS[1], name) end
return 1
`);
// KEYS: the stream. ARGV: most issuers, longest record.
const ISSUERS = script(`
local t = redis.call('TIME')
local answer = {string.format('%.0f', t[1] * 1000 + math.floor(t[2] / 1000)), '0'}
local kind = redis.call('TYPE', KEYS[1]).ok
if kind == 'none' then return answer end
if kind ~= 'hash' or redis.call('HLEN', KEYS[1]) > 4 * ARGV[1] then
  answer[2] = '1'
  return answer
end
local skipped = 0
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  if #field > 128 or redis.call('HSTRLEN', KEYS[1], field) > tonumber(ARGV[2]) then
    skipped = skipped + 1
  else
    answer[#answer + 1] = field
    answer[#answer + 1] = redis.call('HGET', KEYS[1], field)
  end
end
answer[2] = tostring(skipped)
return answer
`);

/**
 * An index that several instances share through Redis: one hash for each logical stream, one field
 * for each issuer. What cannot be read there is passed over.
 *
 * @param client Connected; it stays the caller's. It needs the commands EVAL, EVALSHA, TIME, TYPE,
 *   HSET, HGET, HKEYS, HLEN, HSTRLEN, HDEL, PEXPIRE and UNLINK under the prefix.
 */
export function redisOriginIndex(
  client: RedisClient,
  { prefix = 'sameriver:origins:', ttl = 3_600 }: RedisOriginIndexOptions = {},
): OriginIndex {
  const run = (what: Script, stream: string, values: readonly string[]): Promise<unknown> =>
    runScript(client, what, `${prefix}${stream}`, values);
  const lifetime = String(ttl * 1_000);
  const issued = (record: IssuedRecord): Promise<unknown> => {
    const writtenAgo = String(Math.round(record.writtenAgo));
    const values = [record.issuer, writtenAgo, storedText(record), lifetime, String(ISSUERS_KEPT)];
    return run(ISSUED, record.stream, values);
  };
  return {
    // All in one turn, so that the client sends them as one pipeline.
    issued: async (records) => {
      await Promise.all(records.map(issued));
    },
    issuersOf: async (stream) => {
      const limits = [String(ISSUERS_KEPT), String(LONGEST_RECORD)];
      return readAnswer(await run(ISSUERS, stream, limits));
    },
  };
}

function script(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

async function runScript(
  client: RedisClient,
  { text, sha }: Script,
  key: string,
  values: readonly string[],
): Promise<unknown> {
  try {
    return await send(client, ['EVALSHA', sha, '1', key, ...values]);
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    return send(client, ['EVAL', text, '1', key, ...values]);
  }
}

function send(client: RedisClient, [command = '', ...values]: string[]): Promise<unknown> {
  return 'call' in client
    ? client.call(command, ...values)
    : client.sendCommand([command, ...values]);
}

function readAnswer(answer: unknown): KnownIssuers {
  const parts = Array.isArray(answer) ? answer.map(String) : [];
  const now = Number(parts[0]);
  let unreadable = Number(parts[1]);
  if (!Number.isFinite(now + unreadable)) throw new TypeError('Redis answered with no list');
  const issuers: KnownIssuer[] = [];
  for (let i = 2; i + 1 < parts.length; i += 2) {
    const known = readIssuer(now, parts[i] ?? '', parts[i + 1] ?? '');
    if (known === undefined) unreadable++;
    else issuers.push(known);
  }
  return { issuers, unreadable };
}

function readIssuer(now: number, issuer: string, value: string): KnownIssuer | undefined {
  const [, at, text = ''] = /^(\d{1,15}) (.*)$/s.exec(value) ?? [];
  const stored = readStored(text);
  if (at === undefined || stored === undefined) return undefined;
  return { issuer, writtenAgo: Math.max(0, now - Number(at)), ...stored };
}
