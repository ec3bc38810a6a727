import { GraphqlApp } from '../../graphql/graphql-app.js';
import { LiveWatch } from '../../graphql/live-watch.js';
import { RestApp, frameworks } from '../../rest/rest-app.js';
import { sentBy } from '../../rest/sent-events.js';
import type { LoggedEvent } from '../../../src/index.js';
import { KEY, ScriptedModel } from '../summarized-sessions.js';
import { PATH, talk } from './talk.js';

/** Written by itself after the third turn, in the background. */
const AUTOMATIC = { turns: 0, events: 5, contentLength: 0, keepRecentEvents: 2 };
const LOG = ['q1', 'a1', 'q2', 'a2', 'q3', 'a3', 'summary 1', 'q4', 'a4'];

/** The text of an event, and its number, which is its place in the log. */
function shown({ seq, content }: LoggedEvent): string {
  const text = content?.parts?.[0]?.text ?? '';
  return `${seq} ${text.replace(/^Summary of the conversation so far:\n/, '')}`;
}

const numbered = LOG.map((text, index) => `${index + 1} ${text}`);

interface Summarised {
  readonly sessions: RestApp['sessions'];
  readonly summaries: RestApp['summaries'];
}

/** Three turns, their summary, and one more turn. */
async function converse({ sessions, summaries }: Summarised): Promise<void> {
  await talk(sessions, 1, 3);
  await sessions.whenIdle();
  await summaries.whenIdle();
  await talk(sessions, 4, 4);
}

describe.each(frameworks)('a summary on the live stream on %s', (framework) => {
  let app: RestApp;
  let model: ScriptedModel;

  beforeEach(async () => {
    model = new ScriptedModel();
    app = await RestApp.start(framework, { summarizer: { ...AUTOMATIC, model } });
    await app.sessions.createSession(KEY);
  });

  afterEach(async () => {
    await app.close();
  });

  /** What a connection sends, up to so many events. */
  async function seen(count: number, headers: Record<string, string> = {}, query = ''): Promise<LoggedEvent[]> {
    const gone = new AbortController();
    const response = await fetch(`${app.url}${PATH}/events/stream${query}`, { headers, signal: gone.signal });
    const events: LoggedEvent[] = [];
    for await (const { id, data } of sentBy(response)) {
      expect(id).toBe(String(data.seq));
      events.push(data as LoggedEvent);
      if (events.length >= count) break;
    }
    gone.abort();
    return events;
  }

  it('comes once, at its place in the log', async () => {
    const watching = seen(LOG.length, {}, '?afterSeq=0');
    await converse(app);
    const events = await watching;
    expect(events.map(shown)).toEqual(numbered);
    expect(events[6]).toMatchObject({ author: 'system', actions: { compaction: { fromSeq: 1, toSeq: 4 } } });
    expect(model.requests).toHaveLength(1);
  });

  it.each([1, 2, 3])('comes once with connections of %d events', async (size) => {
    const talking = converse(app);
    const events: LoggedEvent[] = [];
    while (events.length < LOG.length) {
      const next = await seen(Math.min(size, LOG.length - events.length), {
        'last-event-id': String(events.at(-1)?.seq ?? 0),
      });
      events.push(...next);
    }
    await talking;
    expect(events.map(shown)).toEqual(numbered);
  });

  it('does not come again after a reconnect, nor to later readers', async () => {
    await converse(app);
    expect((await seen(2, { 'last-event-id': '7' })).map(shown)).toEqual(numbered.slice(7));
    expect((await seen(3, { 'last-event-id': '6' })).map(shown)).toEqual(numbered.slice(6));
  });
});

describe('a summary on the subscription', () => {
  let app: GraphqlApp;
  let model: ScriptedModel;

  beforeEach(async () => {
    model = new ScriptedModel();
    app = await GraphqlApp.start({ summarizer: { ...AUTOMATIC, model } });
    await app.sessions.createSession(KEY);
  });

  afterEach(async () => {
    await app.close();
  });

  async function seen(count: number, afterSeq: number): Promise<LoggedEvent[]> {
    const stream = new LiveWatch({ url: app.webSocketUrl, variables: { ...KEY, afterSeq } });
    const events: LoggedEvent[] = [];
    while (events.length < count) events.push((await stream.next()).value as LoggedEvent);
    stream.cut();
    return events;
  }

  it('comes once, at its place in the log', async () => {
    const watching = seen(LOG.length, 0);
    await converse(app);
    expect((await watching).map(shown)).toEqual(numbered);
  });

  it.each([1, 2, 3])('comes once with connections that break after %d events', async (size) => {
    const talking = converse(app);
    const events: LoggedEvent[] = [];
    while (events.length < LOG.length) {
      events.push(...(await seen(Math.min(size, LOG.length - events.length), events.at(-1)?.seq ?? 0)));
    }
    await talking;
    expect(events.map(shown)).toEqual(numbered);
  });

  it('does not come again after a reconnect', async () => {
    await converse(app);
    expect((await seen(2, 7)).map(shown)).toEqual(numbered.slice(7));
  });
});
