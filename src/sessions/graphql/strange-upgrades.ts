import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { answerAndEnd } from '../faces/unanswerable.js';

/** How long others have to take a connection, such as sockets that an app has beside GraphQL. */
const TAKEN_WITHIN_MS = 3_000;

const NOBODYS = {
  status: 400,
  code: 'INVALID_INPUT',
  detail: 'There is no such protocol on this path. Send the request without the header Upgrade.',
} as const;

/**
 * Subscriptions make a server hand over every connection that asks for another protocol, also where that is none of WebSockets, and
 * whoever serves them leaves alone what goes to another path. It would hang for ever, and end the process as soon as it breaks.
 */
@Injectable()
export class StrangeUpgrades implements OnApplicationBootstrap {
  constructor(@Inject(HttpAdapterHost) private readonly host: HttpAdapterHost) {}

  onApplicationBootstrap(): void {
    const server = this.host.httpAdapter?.getHttpServer() as Server | undefined;
    server?.on('upgrade', (_request: IncomingMessage, socket: Socket) => {
      const { bytesWritten } = socket;
      socket.on('error', () => socket.destroy());
      const timer = setTimeout(() => {
        if (socket.writable && socket.bytesWritten === bytesWritten) answerAndEnd(socket, NOBODYS);
      }, TAKEN_WITHIN_MS);
      socket.once('close', () => clearTimeout(timer));
    });
  }
}
