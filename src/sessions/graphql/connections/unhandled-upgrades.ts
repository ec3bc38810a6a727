import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { respondAndClose } from '../../transport/malformed-http.js';
import { ignoreOptionalUpgrades } from '../../transport/optional-upgrades.js';
import { recordRefusedUpgrade } from '../../transport/upgrade-checks.js';

/** How long other listeners have to take a connection, such as other WebSockets of the app. */
const TAKEN_WITHIN_MS = 3_000;

const UNHANDLED = {
  status: 400,
  code: 'INVALID_INPUT',
  detail: 'There is no such protocol on this path. Send the request without the header Upgrade.',
} as const;

/**
 * Responds to upgrade requests that no listener takes. With a listener for `upgrade`, Node leaves all upgrade requests to the
 * app, and subscriptions ignore other paths. Such a connection would hang forever, and its error would end the process.
 */
@Injectable()
export class UnhandledUpgrades implements OnApplicationBootstrap {
  constructor(@Inject(HttpAdapterHost) private readonly host: HttpAdapterHost) {}

  onApplicationBootstrap(): void {
    const server = this.host.httpAdapter?.getHttpServer() as Server | undefined;
    if (!server) return;
    ignoreOptionalUpgrades(server);
    server.on('upgrade', (request: IncomingMessage, socket: Socket) => {
      const { bytesWritten } = socket;
      socket.on('error', () => socket.destroy());
      const timer = setTimeout(() => {
        if (!socket.writable || socket.bytesWritten !== bytesWritten) return;
        recordRefusedUpgrade(request, UNHANDLED.status);
        respondAndClose(socket, UNHANDLED);
      }, TAKEN_WITHIN_MS);
      socket.once('close', () => clearTimeout(timer));
    });
  }
}
