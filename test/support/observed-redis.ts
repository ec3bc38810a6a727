import type { RedisClient } from '../../src/redis.js';
import * as appWrites from '../../src/sessions/storage/redis/app-scope/cluster-app-scope.js';
import type { Script } from '../../src/sessions/storage/redis/script/script.js';

/** Observes each script that is sent to Redis. It can throw to simulate failures. */
export interface RedisObserver {
  beforeScript?(sha: string): void;
  afterScript?(sha: string): unknown;
}

/** A client with an observer of its scripts. Pipelines are not observed. */
export function observedRedis(client: RedisClient, observer: RedisObserver): RedisClient {
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

/** The additional scripts of a cluster. */
export const { APPLY_APP_WRITES, CLEAR_PENDING }: Record<'APPLY_APP_WRITES' | 'CLEAR_PENDING', Script> = appWrites;
