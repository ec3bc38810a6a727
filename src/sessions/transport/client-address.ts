import type { IncomingMessage } from 'node:http';

/** The part of a request that is used here, on Express and Fastify. */
export type AddressedRequest = Pick<IncomingMessage, 'headers'> & {
  readonly socket: { readonly remoteAddress?: string | undefined };
};

/**
 * Returns the client address. Each proxy appends an address to `X-Forwarded-For`, and the client controls the beginning. So
 * only the last `trustedProxies` entries are trusted.
 */
export function findClientAddress({ headers, socket }: AddressedRequest, trustedProxies: number): string {
  const added = String(headers['x-forwarded-for'] ?? '').split(',');
  const seen = [...added.map((address) => address.trim()).filter(Boolean), socket.remoteAddress ?? ''];
  return withoutPort(seen[Math.max(0, seen.length - 1 - trustedProxies)] ?? '');
}

/** Some proxies append the port, which differs per connection. */
function withoutPort(address: string): string {
  return /^\[(.*)\](?::\d+)?$/.exec(address)?.[1] ?? /^([^:]*):\d+$/.exec(address)?.[1] ?? address;
}

/** Whoever is signed in. */
interface NotedUser {
  readonly id: string;
}

/** The users of requests, as the access rule has found them. */
const users = new WeakMap<object, NotedUser>();

/** Remembers who is signed in. */
export function noteUser(request: unknown, user: NotedUser): void {
  if (typeof request === 'object' && request !== null) users.set(request, user);
}

/** Who was remembered. */
export function userNoted(request: unknown): NotedUser | undefined {
  return typeof request === 'object' && request !== null ? users.get(request) : undefined;
}

/**
 * Returns who is behind a request, for limits per client: the signed-in user, or else an address.
 *
 * @param address of the request
 */
export function clientOf(request: object, address: string): string {
  const user = users.get(request);
  return user === undefined ? `address ${address}` : `user ${user.id}`;
}
