import { checkedClock } from '../../domain/process/checked-clock.js';
import type { Clock } from '../../domain/process/clock.js';
import { type SessionKey, sessionNameOf } from '../../domain/values/ids.js';
import { APP_LABEL, type Engine, engineOf } from './engines.js';
import { googleTokens } from './google-tokens.js';
import { KeyedQueue } from '../../domain/process/keyed-queue.js';
import { ReplicaCache } from './replica-cache.js';
import { SessionsApi } from './sessions-api.js';
import { VertexClient } from './vertex-client.js';
import {
  DEFAULT_OPERATION_LIMIT_MS,
  DEFAULT_TIME_LIMIT_MS,
  type VertexSessionStorageOptions,
} from './vertex-options.js';
import type { VertexSession } from './wire.js';

/** What all operations of one store share. */
export class VertexConnection {
  readonly cache = new ReplicaCache();
  readonly timeLimitMs: number;
  readonly #client: VertexClient;
  readonly #clock: Clock;
  readonly #queue = new KeyedQueue();
  /** Whether the API was found not to know raw events. */
  withoutRawEvents = false;

  constructor(private readonly options: VertexSessionStorageOptions) {
    this.#clock = checkedClock(options.clock);
    const { timeLimitMs = DEFAULT_TIME_LIMIT_MS, accessToken = googleTokens() } = options;
    this.timeLimitMs = timeLimitMs;
    this.#client = new VertexClient({ tokens: accessToken, timeLimitMs });
  }

  /** The time of an operation. Throws after close. */
  now(): number {
    this.#client.assertOpen();
    return this.#clock.now();
  }

  engineOf(appName: string): Engine {
    return engineOf(appName, this.options);
  }

  apiOf(engine: Engine): SessionsApi {
    return new SessionsApi(this.#client, engine, this.options.operationLimitMs ?? DEFAULT_OPERATION_LIMIT_MS);
  }

  /** One operation of a session after the other, in this process. */
  inTurn<Result>(key: SessionKey, work: () => Promise<Result>): Promise<Result> {
    return this.#queue.run(sessionNameOf(key), work);
  }

  /** Asks the configured engine, so that wrong settings are noticed. Without one, asks for nothing. */
  async probe(): Promise<void> {
    this.#client.assertOpen();
    const { reasoningEngine } = this.options;
    if (reasoningEngine !== undefined)
      await this.apiOf(this.engineOf(reasoningEngine)).sessionPage(undefined, undefined, '1');
  }

  close(): void {
    this.#client.close();
    this.cache.clear();
  }
}

/** Whether the session is that of the user and the app. */
export function belongsTo(
  { userId, labels = {} }: VertexSession,
  key: { readonly userId?: string | undefined },
  engine: Engine,
): boolean {
  const isOfUser = key.userId === undefined || key.userId === userId;
  return isOfUser && (engine.appLabel === undefined || labels[APP_LABEL] === engine.appLabel);
}
