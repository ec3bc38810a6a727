import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Refusal, respondAndClose } from './malformed-http.js';

const refusedStatuses = new WeakMap<IncomingMessage, number>();

/** Records the status of an upgrade that was refused after the checks, for a log. */
export function recordRefusedUpgrade(request: IncomingMessage, status: number): void {
  refusedStatuses.set(request, status);
}

/** The status of an upgrade request: 101 unless it was refused. */
export function upgradeStatusOf(request: IncomingMessage): number {
  return refusedStatuses.get(request) ?? 101;
}

/** Returns the refusal of an upgrade, or `undefined`. */
export type UpgradeCheck = (request: IncomingMessage) => Refusal | undefined | Promise<Refusal | undefined>;

/**
 * Checks upgrade requests before a connection becomes a WebSocket. `upgrade` listeners cannot stop each other, so the event is
 * held back until the check is done. This also covers listeners that are added later.
 *
 * @param onRefusal called for each refusal, for a log
 */
export function checkUpgrades(
  server: Server,
  check: UpgradeCheck,
  onRefusal: (request: IncomingMessage, refusal: Refusal) => void = () => undefined,
): void {
  const emit = server.emit.bind(server) as (event: string | symbol, ...values: unknown[]) => boolean;
  const decide = async (request: IncomingMessage, socket: Duplex, rest: unknown[]): Promise<void> => {
    const onError = (): unknown => socket.destroy();
    socket.on('error', onError);
    const refusal = await check(request);
    socket.off('error', onError);
    if (refusal === undefined) {
      emit('upgrade', request, socket, ...rest);
      return;
    }
    socket.on('error', onError);
    onRefusal(request, refusal);
    respondAndClose(socket, refusal);
  };
  server.emit = (event: string | symbol, ...values: unknown[]): boolean => {
    if (event !== 'upgrade') return emit(event, ...values);
    const [request, socket, ...rest] = values as [IncomingMessage, Duplex, ...unknown[]];
    decide(request, socket, rest).catch(() => socket.destroy());
    return true;
  };
}
