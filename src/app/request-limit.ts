import type { IncomingMessage } from 'node:http';
import type { ThrottlerModuleOptions } from '@nestjs/throttler';
import type { AppConfig } from '../config/app.config.js';

/** One count for all routes, for each address; what was asked for long enough ago counts no more. */
export function requestLimit({ throttle: { limit, ttlSeconds }, trustedProxies }: AppConfig): ThrottlerModuleOptions {
  return {
    throttlers: [{ limit, ttl: ttlSeconds * 1000, blockDuration: 0 }],
    skipIf: () => limit === 0,
    getTracker: (request) => addressOf(request as unknown as IncomingMessage, trustedProxies),
    generateKey: (_context, tracker) => tracker,
    errorMessage: (_context, { timeToBlockExpire }) =>
      `There were ${limit} requests from this address within ${ttlSeconds} seconds already. ` +
      `Try again in ${timeToBlockExpire} seconds.`,
  };
}

/**
 * Where a request comes from. Each proxy adds the address that it sees at the end of a header, which begins with whatever the
 * client claims; so only as many as there are proxies may be believed.
 */
export function addressOf({ headers, socket }: IncomingMessage, trustedProxies: number): string {
  const added = String(headers['x-forwarded-for'] ?? '').split(',');
  const seen = [...added.map((address) => address.trim()).filter(Boolean), socket.remoteAddress ?? ''];
  return withoutPort(seen[Math.max(0, seen.length - 1 - trustedProxies)] ?? '');
}

/** Some proxies add the port as well, which is another one for each connection. */
function withoutPort(address: string): string {
  return /^\[(.*)\](?::\d+)?$/.exec(address)?.[1] ?? /^([^:]*):\d+$/.exec(address)?.[1] ?? address;
}
