import { readFileSync } from 'node:fs';
import { RunningApp } from './running-app.js';

const KEY = '/apps/shop/users/ann/sessions';
const METRIC = /\b(agent_sessions|process|nodejs)_[a-z0-9_]+/g;

async function post(url: string, body: unknown): Promise<number> {
  const headers = { 'content-type': 'application/json' };
  const { status } = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  return status;
}

describe('GET /metrics of the app', () => {
  let app: RunningApp | undefined;
  afterEach(() => app?.remove());

  it('counts operations by name and outcome, without ids, and has all that the dashboard shows', async () => {
    app = await RunningApp.start({ SESSIONS_PROVIDER: 'memory', METRICS: 'true' });
    expect(await post(app.url + KEY, { sessionId: 'cart' })).toBe(201);
    expect(await post(app.url + KEY, { sessionId: 'cart' })).toBe(409);
    expect(await post(`${app.url}${KEY}/cart/events`, { id: 'said', author: 'user' })).toBe(201);
    const response = await fetch(`${app.url}/metrics`);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    const scraped = await response.text();
    const of = 'operation="create"';
    expect(scraped).toContain(`agent_sessions_operations_total{${of},code="ok",store="memory"} 1\n`);
    expect(scraped).toContain(`agent_sessions_operations_total{${of},code="SESSION_EXISTS",store="memory"} 1\n`);
    expect(scraped).toContain(`agent_sessions_operation_duration_seconds_count{${of},store="memory"} 2\n`);
    expect(scraped).toContain('agent_sessions_events_stored_total{store="memory"} 1\n');
    for (const id of ['shop', 'ann', 'cart', 'said']) expect(scraped).not.toContain(`"${id}"`);

    const names = new Set(scraped.match(METRIC));
    const shown = new Set(readFileSync('docs/grafana/sessions.json', 'utf8').match(METRIC));
    expect(shown.size).toBeGreaterThan(5);
    expect([...shown].filter((name) => !names.has(name))).toEqual([]);
  });

  it('is not there unless it is wanted', async () => {
    app = await RunningApp.start({ SESSIONS_PROVIDER: 'memory' });
    expect((await fetch(`${app.url}/metrics`)).status).toBe(404);
  });
});
