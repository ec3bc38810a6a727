import { connect } from 'node:net';

/**
 * Sends the same requests over a few connections, each as soon as the answer before is there, for so long. It reads no
 * more of an answer than it has to, so that what is measured is the server.
 *
 * @param {{ port: number, connections: number, milliseconds: number, request: () => string, status: number }} load
 * @returns {Promise<number>} answers a second
 */
export async function answersPerSecond({ port, connections, milliseconds, request, status }) {
  const start = performance.now();
  const end = start + milliseconds;
  const counts = await Promise.all(
    Array.from({ length: connections }, () => oneConnection(port, request, status, end)),
  );
  return (counts.reduce((sum, count) => sum + count, 0) * 1000) / (performance.now() - start);
}

function oneConnection(port, request, status, end) {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const expected = `HTTP/1.1 ${status} `;
    let count = 0;
    let rest = '';
    socket.setEncoding('latin1');
    socket.on('error', reject);
    socket.on('connect', () => socket.write(request()));
    socket.on('data', (data) => {
      rest += data;
      const length = lengthOf(rest);
      if (length === undefined || rest.length < length) return;
      if (!rest.startsWith(expected)) {
        socket.destroy();
        reject(new Error(`The answer was ${rest.slice(0, 400)}`));
        return;
      }
      rest = '';
      count++;
      if (performance.now() < end) socket.write(request());
      else socket.end(() => resolve(count));
    });
  });
}

/** How long the answer is that begins here, as soon as that can be seen. */
function lengthOf(text) {
  const head = text.indexOf('\r\n\r\n');
  if (head === -1) return undefined;
  const [, length] = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, head + 2)) ?? [];
  return head + 4 + Number(length);
}

/** A request as it goes over the wire. */
export function requestOf(method, path, body) {
  const text = body === undefined ? '' : JSON.stringify(body);
  const about =
    body === undefined ? '' : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${about}\r\n${text}`;
}
