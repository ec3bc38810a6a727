import { GraphqlApp } from '../../graphql/graphql-app.js';
import { LiveWatch } from '../../graphql/live-watch.js';
import { RestApp, frameworks } from '../../rest/rest-app.js';
import { sentBy } from '../../rest/sent-events.js';
import type { LoggedEvent } from '../../../src/index.js';
import { KEY, ScriptedModel } from '../summarized-sessions.js';
import { PATH, appendTurns } from './append-turns.js';

/** The third turn triggers the summary in the background. */
const AUTOMATIC = { turns: 0, events: 5, contentLength: 0, keepRecentEvents: 2 };
const LOG = ['q1', 'a1', 'q2', 'a2', 'q3', 'a3', 'summary 1', 'q4', 'a4'];

/** The sequence number and the text of an event. */
function shown({ seq, content }: LoggedEvent): string {
  const text = content?.parts?.[0]?.text ?? '';
  return `${seq} ${text.replace(/^Summary of the conversation so far:\n/, '')}`;
}

const numbered = LOG.map((text, index) => `${index + 1} ${text}`);

interface Summarised {
  readonly sessions: RestApp['sessions'];
  readonly summaries: RestApp['summaries'];
}

/** Appends three turns, waits for their summary, and appends another turn. */
async function converse({ sessions, summaries }: Summarised): Promise<void> {
  await appendTurns(sessions, 1, 3);
  await sessions.whenIdle();
  await summaries.whenIdle();
  await appendTurns(sessions, 4, 4);
}

describe.each(frameworks)('a summary on the event stream on %s', (framework) => {
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

  /** The first events that a connection receives. */
  async function seen(count: number, headers: Record<string, string> = {}, query = ''): Promise<LoggedEvent[]> {
    const disconnect = new AbortController();
    const response = await fetch(`${app.url}${PATH}/events/stream${query}`, { headers, signal: disconnect.signal });
    const events: LoggedEvent[] = [];
    for await (const { id, data } of sentBy(response)) {
      expect(id).toBe(String(data.seq));
      events.push(data as LoggedEvent);
      if (events.length >= count) break;
    }
    disconnect.abort();
    return events;
  }

  it('is sent once, at its position in the log', async () => {
    const watching = seen(LOG.length, {}, '?afterSeq=0');
    await converse(app);
    const events = await watching;
    expect(events.map(shown)).toEqual(numbered);
    expect(events[6]).toMatchObject({ author: 'system', actions: { compaction: { fromSeq: 1, toSeq: 4 } } });
    expect(model.requests).toHaveLength(1);
  });

  it.each([1, 2, 3])('is sent once over connections of %d events each', async (size) => {
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

  it('is not sent again after a reconnect, or to later readers', async () => {
    await converse(app);
    expect((await seen(2, { 'last-event-id': '7' })).map(shown)).toEqual(numbered.slice(7));
    expect((await seen(3, { 'last-event-id': '6' })).map(shown)).toEqual(numbered.slice(6));
  });
});

describe('a summary on the GraphQL subscription', () => {
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

  it('is sent once, at its position in the log', async () => {
    const watching = seen(LOG.length, 0);
    await converse(app);
    expect((await watching).map(shown)).toEqual(numbered);
  });

  it.each([1, 2, 3])('is sent once over connections that break after %d events', async (size) => {
    const talking = converse(app);
    const events: LoggedEvent[] = [];
    while (events.length < LOG.length) {
      events.push(...(await seen(Math.min(size, LOG.length - events.length), events.at(-1)?.seq ?? 0)));
    }
    await talking;
    expect(events.map(shown)).toEqual(numbered);
  });

  it('is not sent again after a reconnect', async () => {
    await converse(app);
    expect((await seen(2, 7)).map(shown)).toEqual(numbered.slice(7));
  });
});
