// A consumer that is killed: node consumer.ts URL LEDGER EFFECTS ANSWER STEP
// LEDGER is a file of SQLite or redis://…/PREFIX. ANSWER: throw, look (for an effect in doubt), lie (about it), confirm
// (an unverifiable reconnect) or forget (the position). At the STEPth step of its work it ends itself
// with SIGKILL; 0: never.
import { appendFileSync, closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import process from 'node:process';
import type { GuardOptions, IdempotencyLedger } from '@sameriver/guard';
import { createGuard, jsonKey, StreamResumptionViolation } from '@sameriver/guard';
import { redisLedger } from '@sameriver/guard/redis';
import { sqliteLedger } from '@sameriver/guard/sqlite';

const [url = '', where = '', effects = '', answer = '', step = '0'] = process.argv.slice(2);
const STREAM = 'soak';
/** Milliseconds: whoever comes after a kill waits for so long before it may doubt. */
const LEASE = 50;

let steps = 0;

/** A point at which the process may die. */
function mayDie(): void {
  steps += 1;
  if (steps === Number(step)) process.kill(process.pid, 'SIGKILL');
}

async function openLedger(): Promise<IdempotencyLedger> {
  if (!where.startsWith('redis:')) return sqliteLedger(where);
  // Half of the processes need none, and most live for some milliseconds only.
  const { Redis } = await import('ioredis');
  const { pathname, host } = new URL(where);
  return redisLedger(new Redis(`redis://${host}`), { prefix: pathname, lease: LEASE });
}

/** The ledger, with a point to die at before and after each of its writes. */
function mortal(ledger: IdempotencyLedger): IdempotencyLedger {
  return new Proxy(ledger, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return async (...args: unknown[]) => {
        mayDie();
        const result: unknown = await Reflect.apply(member, target, args);
        mayDie();
        return result;
      };
    },
  });
}

/** Looks where the effects are: the check out of band that an application would have. */
const lookUp: GuardOptions['onInDoubt'] = ({ event }) => {
  const wanted = String(JSON.parse(event.data).number);
  const isThere = readFileSync(effects, 'utf8').split('\n').includes(wanted);
  return isThere === (answer !== 'lie') ? 'applied' : 'not_applied';
};

const ledger = mortal(await openLedger());
if (answer === 'forget') await ledger.forget(STREAM);
const guard = createGuard({
  ledger,
  key: jsonKey('/key'),
  // On the disk before the stream goes on, so that no kill can take back what was said.
  onReorigination: ({ reason }) =>
    void appendFileSync(`${effects}.told`, `${reason}\n`, { flush: true }),
  ...(answer !== 'throw' && { onInDoubt: lookUp }),
  // Who asked knows that this server replays its whole log to those who have no cursor.
  ...(answer === 'confirm' && { onUnverifiable: () => 'resumed' }),
});
const file = openSync(effects, 'a');
try {
  for await (const { data } of guard.events(url, { stream: STREAM, retry: 1 })) {
    const { number, isLast } = JSON.parse(data);
    mayDie();
    writeSync(file, `${number}\n`);
    mayDie();
    fsyncSync(file);
    mayDie();
    process.send?.({ applied: number });
    if (isLast) break;
  }
} catch (error) {
  if (!(error instanceof StreamResumptionViolation)) throw error;
  process.send?.({ violation: error.reason, standing: error.standing });
} finally {
  closeSync(file);
}
process.disconnect();
process.exit();
