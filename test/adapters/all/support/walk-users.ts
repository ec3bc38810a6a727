import { UnauthorizedException } from '@nestjs/common';

export type Headers = Readonly<Record<string, string>>;

/** A request of Express or Fastify, or one that opened a WebSocket. */
export interface Request {
  readonly headers: Headers;
  readonly connectionParams?: Headers;
}

/** The app and the user of a request, as a controller of the app knows them. */
export function ownerOf({ headers: { 'x-user': userId, 'x-app': appName = 'shop' } }: Request) {
  if (userId === undefined) throw new UnauthorizedException();
  return { appName, userId };
}
