import type { IdempotencyLedger, Position, Reservation } from './ledger.ts';
import { LedgerUnavailable } from './ledger.ts';

/** A connected client: of the package `redis`, or of `ioredis`, which has `call`. */
export type RedisClient =
  | { call(command: string, ...values: string[]): Promise<unknown> }
  | { sendCommand(command: string[]): Promise<unknown> };

export interface RedisLedgerOptions {
  /** What the keys in Redis begin with. Default `sameriver:`. With Redis Cluster it must hold a hash tag. */
  readonly prefix?: string;
  /**
   * Milliseconds that an effect may take. Within them another instance that meets the same event
   * waits; after them the event is in doubt. Default 60,000.
   */
  readonly lease?: number;
  /** Seconds that a confirmed key is remembered, 0 for ever. Default 0. */
  readonly keepSeconds?: number;
  /**
   * Milliseconds to wait for an answer of Redis. Clients keep commands for a Redis that is down, some
   * for ever; the guard would seem to be at work. Default 10,000.
   */
  readonly answerTimeout?: number;
}

// Every step is one script, so that no other instance comes in between. Redis' own clock measures
// the lease. A reservation never expires by itself: that would repeat its effect in silence.
// KEYS: the event, when this ledger was begun. ARGV: token, lease.
const RESERVE = `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local held = redis.call('HMGET', KEYS[1], 'state', 'token', 'until')
if held[1] == 'confirmed' then return {'confirmed', ''} end
if held[1] == 'reserved' then
  if tonumber(held[3]) > now then return {'busy', tostring(tonumber(held[3]) - now)} end
  return {'in_doubt', held[2]}
end
redis.call('SET', KEYS[2], now, 'NX')
redis.call('HSET', KEYS[1], 'state', 'reserved', 'token', ARGV[1], 'until', now + ARGV[2])
return {'reserved', tostring(now - redis.call('GET', KEYS[2]))}
`;
// KEYS: the event. ARGV: token in doubt, own token, lease.
const TAKE_OVER = `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local held = redis.call('HMGET', KEYS[1], 'state', 'token')
if held[1] ~= 'reserved' or held[2] ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'token', ARGV[2], 'until', now + ARGV[3])
return 1
`;
// KEYS: the event, the position. ARGV: own token, seconds to keep, position as JSON or ''.
const CONFIRM = `
local held = redis.call('HMGET', KEYS[1], 'state', 'token')
if held[1] ~= 'reserved' or held[2] ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'state', 'confirmed')
redis.call('HDEL', KEYS[1], 'token', 'until')
if ARGV[2] ~= '0' then redis.call('EXPIRE', KEYS[1], ARGV[2]) end
if ARGV[3] ~= '' then redis.call('SET', KEYS[2], ARGV[3]) end
return 1
`;
// KEYS: the event. ARGV: own token.
const RELEASE = `
local held = redis.call('HMGET', KEYS[1], 'state', 'token')
if held[1] == 'reserved' and held[2] == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
`;
// KEYS: the event. ARGV: own token. Whoever meets it next need not wait for the lease.
const ABANDON = `
local held = redis.call('HMGET', KEYS[1], 'state', 'token')
if held[1] == 'reserved' and held[2] == ARGV[1] then redis.call('HSET', KEYS[1], 'until', 0) end
return 0
`;

/**
 * A ledger that several instances share. It is as durable as the Redis behind it: with
 * `appendonly yes` and `appendfsync always` a confirmed key survives a crash, with the default
 * `everysec` the last second is lost, and a replica that is promoted may lack what its primary had
 * confirmed. A key that is lost so is applied again.
 *
 * @param client Connected; it stays the caller's, who closes it after the ledger.
 */
export function redisLedger(
  client: RedisClient,
  options: RedisLedgerOptions = {},
): IdempotencyLedger {
  return new RedisLedger(client, options);
}

class RedisLedger implements IdempotencyLedger {
  readonly #client: RedisClient;
  readonly #prefix: string;
  readonly #lease: string;
  readonly #keepSeconds: number;
  readonly #answerTimeout: number;
  readonly #owner: string = crypto.randomUUID();
  readonly #tokens = new Map<string, string>();
  #reservations = 0;

  constructor(client: RedisClient, options: RedisLedgerOptions) {
    this.#client = client;
    this.#prefix = options.prefix ?? 'sameriver:';
    this.#lease = String(options.lease ?? 60_000);
    this.#keepSeconds = options.keepSeconds ?? 0;
    this.#answerTimeout = options.answerTimeout ?? 10_000;
  }

  /** Redis forgets by itself and does not count. */
  get forgotten(): number {
    return 0;
  }

  async reserve(key: string): Promise<Reservation> {
    const token = this.#token();
    const names = [this.#event(key), `${this.#prefix}begun`];
    const [state, value] = pairOf(await this.#run(RESERVE, names, [token, this.#lease]));
    switch (state) {
      case 'confirmed':
        return { state };
      case 'in_doubt':
        return { state, token: value };
      case 'busy':
        return { state, retryAfter: Number(value) };
      case 'reserved':
        this.#tokens.set(key, token);
        return { state, complete: this.#remembersAll(Number(value)) };
      default:
        throw new TypeError(`Redis answered ${state} to a reservation: is the prefix used twice?`);
    }
  }

  async takeOver(key: string, token: string): Promise<boolean> {
    const own = this.#token();
    const taken = await this.#run(TAKE_OVER, [this.#event(key)], [token, own, this.#lease]);
    if (taken !== 1) return false;
    this.#tokens.set(key, own);
    return true;
  }

  async confirm(key: string, position: Position | undefined): Promise<boolean> {
    const token = this.#tokens.get(key);
    if (token === undefined) return false;
    const names = [this.#event(key), this.#place(position?.stream ?? '')];
    const told = position === undefined ? '' : JSON.stringify(position);
    const done = await this.#run(CONFIRM, names, [token, String(this.#keepSeconds), told]);
    this.#tokens.delete(key);
    return done === 1;
  }

  release(key: string): Promise<void> {
    return this.#letGo(RELEASE, key);
  }

  abandon(key: string): Promise<void> {
    return this.#letGo(ABANDON, key);
  }

  async advance(position: Position): Promise<void> {
    await this.#send('SET', this.#place(position.stream), JSON.stringify(position));
  }

  async position(stream: string): Promise<Position | undefined> {
    const text = await this.#send('GET', this.#place(stream));
    if (typeof text !== 'string') return undefined;
    const { cursor, epoch, run = '' }: Partial<Position> = JSON.parse(text);
    return { stream, cursor, epoch, run };
  }

  async forget(stream: string): Promise<void> {
    await this.#send('DEL', this.#place(stream));
  }

  async close(): Promise<void> {
    this.#tokens.clear();
  }

  async #letGo(script: string, key: string): Promise<void> {
    const token = this.#tokens.get(key);
    if (token === undefined) return;
    this.#tokens.delete(key);
    await this.#run(script, [this.#event(key)], [token]);
  }

  #remembersAll(ageInMilliseconds: number): boolean {
    return this.#keepSeconds === 0 || ageInMilliseconds < this.#keepSeconds * 1_000;
  }

  #event(key: string): string {
    return `${this.#prefix}event:${key}`;
  }

  #place(stream: string): string {
    return `${this.#prefix}position:${stream}`;
  }

  #token(): string {
    this.#reservations += 1;
    return `${this.#owner} ${this.#reservations}`;
  }

  #run(script: string, names: readonly string[], values: readonly string[]): Promise<unknown> {
    return this.#send('EVAL', script, String(names.length), ...names, ...values);
  }

  /** @throws LedgerUnavailable with what the client said as its cause. */
  async #send(command: string, ...values: string[]): Promise<unknown> {
    const client = this.#client;
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => late.reject(new Error(`no answer within ${this.#answerTimeout} ms`)),
      this.#answerTimeout,
    );
    try {
      const answer =
        'call' in client
          ? client.call(command, ...values)
          : client.sendCommand([command, ...values]);
      return await Promise.race([answer, late.promise]);
    } catch (cause) {
      throw new LedgerUnavailable('Redis', cause);
    } finally {
      clearTimeout(timer);
    }
  }
}

function pairOf(answer: unknown): [string, string] {
  if (!Array.isArray(answer)) throw new TypeError('Redis answered a reservation with no array');
  return [String(answer[0]), String(answer[1])];
}
