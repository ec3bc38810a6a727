import type { IncomingHttpHeaders } from 'node:http';
import { type CrossSiteOptions, crossSiteProblem } from '../../src/sessions/transport/cross-site.js';

interface Case {
  readonly headers: IncomingHttpHeaders;
  readonly options?: CrossSiteOptions;
}

const HOSTS = { hosts: ['Sessions.example'] };
const ORIGINS = { hosts: ['sessions.example'], origins: ['https://app.example'] };
const host = 'localhost:3000';

const ALLOWED: readonly Case[] = [
  { headers: {} },
  { headers: { host: '' } },
  ...['localhost', 'localhost:3000', 'LOCALHOST:80', 'localhost.', 'app.localhost:3000'].map((name) => ({
    headers: { host: name },
  })),
  ...['127.0.0.1:3000', '10.1.2.3', '[::1]:3000', '[fe80::1]'].map((address) => ({ headers: { host: address } })),
  { headers: { host: 'sessions.example:8080' }, options: HOSTS },
  { headers: { host: 'SESSIONS.EXAMPLE.' }, options: HOSTS },
  { headers: { host: 'anything.example' }, options: { hosts: ['*'] } },
  { headers: { host, origin: 'http://localhost:3000' } },
  { headers: { host: 'sessions.example', origin: 'https://sessions.example' }, options: HOSTS },
  { headers: { host: 'sessions.example:443', origin: 'https://sessions.example' }, options: HOSTS },
  { headers: { host: 'sessions.example', origin: 'https://app.example' }, options: ORIGINS },
  { headers: { host, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' } },
  { headers: { host, 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' } },
  { headers: { host, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' } },
  // Node clients, which are no browsers, send only the mode.
  { headers: { host, 'sec-fetch-mode': 'cors' } },
];

const REFUSED: readonly Case[] = [
  ...['evil.example', 'evil.example:3000', 'localhost.evil.example', 'evillocalhost', '127.0.0.1.evil.example'].map(
    (name) => ({ headers: { host: name } }),
  ),
  ...['localhost@evil.example', 'evil.example/localhost', 'evil.example#localhost', 'a b', '[::1', ':3000'].map(
    (name) => ({ headers: { host: name } }),
  ),
  { headers: { host: 'sub.sessions.example' }, options: HOSTS },
  { headers: { host: 'evil.example', origin: 'http://evil.example' } },
  { headers: { host, origin: 'https://evil.example' } },
  { headers: { host, origin: 'http://localhost:8080' } },
  { headers: { host, origin: 'http://127.0.0.1:3000' } },
  { headers: { host, origin: 'null' } },
  { headers: { host, origin: '' } },
  { headers: { host, origin: 'http://localhost:3000@evil.example' } },
  { headers: { host, origin: 'localhost:3000' } },
  { headers: { host: 'sessions.example', origin: 'https://evil.app.example' }, options: ORIGINS },
  { headers: { host: 'sessions.example', origin: 'http://app.example' }, options: ORIGINS },
  { headers: { host: 'sessions.example', origin: 'https://evil.example' }, options: { hosts: ['*'] } },
  { headers: { host, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' } },
  { headers: { host, 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' } },
  { headers: { host, 'sec-fetch-site': 'cross-site' } },
];

describe('crossSiteProblem', () => {
  it.each(ALLOWED)('accepts %j', ({ headers, options = {} }) => {
    expect(crossSiteProblem(headers, options)).toBeUndefined();
  });

  it.each(REFUSED)('refuses %j', ({ headers, options = {} }) => {
    expect(crossSiteProblem(headers, options)).toMatch(/^(This server is not known|Pages of another origin)/);
  });
});
