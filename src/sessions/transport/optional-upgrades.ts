import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';

const OF_UPGRADES = new Set(['upgrade', 'http2-settings']);

/**
 * Serves requests that offer another protocol than WebSocket, which a server may ignore. Java's client and `curl --http2` offer HTTP/2 with each
 * request over plain HTTP, and once a server has a listener for `upgrade`, Node parses none of them.
 */
export function ignoreOptionalUpgrades(server: Server): void {
  const emit = server.emit.bind(server) as (event: string | symbol, ...values: unknown[]) => boolean;
  server.emit = (event: string | symbol, ...values: unknown[]): boolean => {
    if (event !== 'upgrade') return emit(event, ...values);
    const [request, socket, head] = values as [IncomingMessage, Duplex, Buffer];
    if (request.method === 'CONNECT' || offersWebSocket(request)) return emit(event, ...values);
    // The server parses the request again, and then its body, as that of a new connection.
    socket.unshift(Buffer.concat([headWithoutUpgrade(request), head]));
    return emit(socket instanceof TLSSocket ? 'secureConnection' : 'connection', socket);
  };
}

function offersWebSocket({ headers: { upgrade = '' } }: IncomingMessage): boolean {
  return upgrade.split(',').some((protocol) => protocol.trim().toLowerCase() === 'websocket');
}

function headWithoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    const kept = name.toLowerCase() === 'connection' ? withoutUpgrade(value) : value;
    if (!OF_UPGRADES.has(name.toLowerCase())) lines.push(`${name}: ${kept}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

/** `keep-alive, Upgrade, HTTP2-Settings` becomes `keep-alive`. */
function withoutUpgrade(connection: string): string {
  const options = connection.split(',').map((option) => option.trim());
  return options.filter((option) => !OF_UPGRADES.has(option.toLowerCase())).join(', ');
}
