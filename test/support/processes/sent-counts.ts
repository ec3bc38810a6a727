import { Redis } from 'ioredis';
import pg from 'pg';

/** What this process sent to Redis and PostgreSQL. */
export interface SentCounts {
  /** Scripts that Redis ran. */
  readonly scripts: number;
  /** Messages with statements for PostgreSQL. */
  readonly messages: number;
  /** Connections that were opened. */
  readonly connections: number;
}

const counts = { scripts: 0, messages: 0, connections: 0 };
let isObserving = false;

/** Counts in the drivers, from now on. Returns a function that returns the counts. */
export function countSent(): () => SentCounts {
  if (!isObserving) observe();
  isObserving = true;
  const before = { ...counts };
  return () => ({
    scripts: counts.scripts - before.scripts,
    messages: counts.messages - before.messages,
    connections: counts.connections - before.connections,
  });
}

function observe(): void {
  onCall(Redis.prototype, 'sendCommand', ([command]) => {
    if (/^eval(sha)?$/.test((command as { readonly name: string }).name)) counts.scripts += 1;
  });
  onCall(Redis.prototype, 'connect', () => (counts.connections += 1));
  onCall(pg.Client.prototype, 'query', () => (counts.messages += 1));
  onCall(pg.Client.prototype, 'connect', () => (counts.connections += 1));
}

function onCall(owner: object, name: string, note: (args: readonly unknown[]) => void): void {
  const method = Reflect.get(owner, name) as (...args: unknown[]) => unknown;
  Reflect.set(owner, name, function (this: unknown, ...args: unknown[]) {
    note(args);
    return method.apply(this, args);
  });
}
