import type { IncomingMessage, ServerResponse } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import { ThrottlerStorageService } from '@nestjs/throttler';
import { type AppConfig, appConfig } from '../config/app.config.js';
import { type Refusal, refuse } from '../sessions/transport/malformed-http.js';
import { findClientAddress } from '../sessions/transport/client-address.js';

interface TooMany extends Refusal {
  readonly retryAfterSeconds: number;
}

/** Probes must be answered especially under load. */
const UNLIMITED = /^\/health(?:[/?]|$)/;

const MINUTE_MS = 60_000;

/** Limits the requests of each address in a minute. */
@Injectable()
export class RequestLimit {
  /** Requests that were counted on arrival. */
  readonly #countedOnArrival = new WeakSet<object>();

  constructor(
    @Inject(appConfig.KEY) private readonly config: AppConfig,
    @Inject(ThrottlerStorageService) private readonly storage: ThrottlerStorageService,
  ) {}

  /** Counts a request before routing, so unknown paths and malformed bodies count too. */
  async arrive(request: IncomingMessage): Promise<TooMany | undefined> {
    if (UNLIMITED.test(request.url ?? '')) return undefined;
    this.#countedOnArrival.add(request);
    return this.#count(request);
  }

  /** Counts a field of a request. The first one was counted on arrival. */
  async spend(request: IncomingMessage): Promise<TooMany | undefined> {
    return this.#countedOnArrival.delete(request) ? undefined : this.#count(request);
  }

  async #count(request: IncomingMessage): Promise<TooMany | undefined> {
    const { requestsPerMinute: limit, trustedProxies } = this.config;
    if (limit === 0) return undefined;
    const address = findClientAddress(request, trustedProxies);
    const counted = await this.storage.increment(address, MINUTE_MS, limit, 0, 'requests');
    if (!counted.isBlocked) return undefined;
    const retryAfterSeconds = counted.timeToBlockExpire;
    const detail =
      `There were ${limit} requests from this address within 60 seconds already. ` +
      `Try again in ${retryAfterSeconds} seconds.`;
    return { status: 429, code: 'TOO_MANY_REQUESTS', detail, retryAfterSeconds };
  }
}

/** The limit as a middleware. */
export function limitMiddleware(limit: RequestLimit) {
  return (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void): void => {
    limit.arrive(request).then((refusal) => {
      if (refusal === undefined) {
        next();
        return;
      }
      response.setHeader('Retry-After', String(refusal.retryAfterSeconds));
      refuse(response, refusal);
    }, next);
  };
}
