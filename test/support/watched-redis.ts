import type { RedisClient } from '../../src/redis.js';
import * as appWrites from '../../src/sessions/storage/redis/app-scope/cluster-app-scope.js';
import type { Script } from '../../src/sessions/storage/redis/script/script.js';

/** Watches each script that goes to Redis, and may stand in its way by throwing. */
export interface RedisObserver {
  beforeScript?(sha: string): void;
  afterScript?(sha: string): unknown;
}

/** A client with somebody watching its round trips; a pipeline would go unseen. */
export function watchedRedis(client: RedisClient, observer: RedisObserver): RedisClient {
  return new Proxy(client, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      const method = value.bind(target) as (...args: unknown[]) => unknown;
      if (name !== 'call') return method;
      return async (command: string, args: readonly unknown[]) => {
        const [sha] = args;
        if (command !== 'evalsha' || typeof sha !== 'string') return method(command, args);
        observer.beforeScript?.(sha);
        const reply = await method(command, args);
        await observer.afterScript?.(sha);
        return reply;
      };
    },
  });
}

/** The scripts that a cluster needs besides those of a session. */
export const { APPLY_APP_WRITES, CLEAR_PENDING }: Record<'APPLY_APP_WRITES' | 'CLEAR_PENDING', Script> = appWrites;
