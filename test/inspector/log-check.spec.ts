import { LogCheck } from '../../inspector/src/log-check.js';
import type { Progress } from '../../inspector/src/progress.js';
import { InMemorySessionService, type LoggedEvent, type SessionService } from '../../src/index.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const EVENTS = 450;

describe('The check of a log in the inspector', () => {
  let sessions: SessionService;

  beforeEach(async () => {
    sessions = new InMemorySessionService({ limits: { maxBatchEvents: EVENTS } });
    const session = await sessions.createSession({ ...KEY, state: { step: 0, kept: true, 'user:name': 'Ann' } });
    const events = Array.from({ length: EVENTS }, (_, index) => ({
      author: 'user',
      actions: { stateDelta: { step: index, 'user:name': 'Bob' } },
    }));
    await sessions.appendEvents({ session, events });
    await sessions.rewindSession({ ...KEY, toSeq: 300 });
  });
  afterEach(() => sessions.close());

  /** What a client reads of the session, with what is done to its events. */
  const codesOf = async (damaged: (event: LoggedEvent) => LoggedEvent | undefined = (event) => event) => {
    const steps: (readonly [number, number])[] = [];
    const client = {
      getSession: (of: never) => sessions.getSession(of),
      stateAt: (of: never) => sessions.stateAt(of),
      listEvents: async (of: never) => {
        const page = await sessions.listEvents(of);
        return { ...page, events: page.events.flatMap((event) => damaged(event) ?? []) };
      },
    } as unknown as ConstructorParameters<typeof LogCheck>[0];
    const onProgress = ({ read, total }: Progress): void => void steps.push([read, total]);
    const { events, notes } = await new LogCheck(client, KEY, onProgress, new AbortController().signal).run();
    return { events, codes: notes.map(({ code, detail }) => `${code} ${detail}`), steps };
  };

  it('finds nothing in a log that is right, and says how far it is', async () => {
    const { events, codes, steps } = await codesOf();
    expect([events, codes]).toEqual([EVENTS + 1, []]);
    expect(steps).toEqual([0, 200, 400].map((read) => [read, EVENTS + 1]));
  });

  it('finds events that are missing', async () => {
    const { codes } = await codesOf((event) => ([7, 8, 451].includes(event.seq) ? undefined : event));
    expect(codes).toEqual(['EVENT_MISSING the log has no event 7 to 8', 'EVENT_MISSING the log has no event 451']);
  });

  it('finds state that is not what the events say', async () => {
    const { codes } = await codesOf((event) =>
      event.seq === EVENTS ? { ...event, actions: { ...event.actions, stateDelta: { other: 1 } } } : event,
    );
    expect(codes).toEqual(['STATE_DIFFERS 1 keys are not what the events say']);
  });

  it('reads what others append meanwhile', async () => {
    let isAppended = false;
    const { events, codes } = await codesOf((event) => {
      if (event.seq === 300 && !isAppended) {
        isAppended = true;
        void sessions.append({ session: { ...KEY, id: KEY.sessionId }, event: { author: 'user' } });
      }
      return event;
    });
    expect([events, codes]).toEqual([EVENTS + 2, []]);
  });
});
