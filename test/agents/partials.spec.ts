import type { EventInput, LoggedEvent, SessionService, WatchedEvent } from '../../src/index.js';
import type { RunHandler } from '../../src/agents/index.js';
import { SessionsClient } from '../../src/client/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { GraphqlApp } from '../graphql/graphql-app.js';
import { LiveWatch } from '../graphql/live-watch.js';
import { randomNumbers, seed } from '../support/random.js';
import { RestApp } from '../rest/rest-app.js';
import { rounds } from '../support/rounds.js';
import { firstStore, storeOfEachKind } from '../support/stores.js';
import { savedPieces } from '../support/saved-pieces.js';
import { until } from '../support/until.js';
import { AgentApp, KEY } from './support/agent-app.js';
import { Screen } from './support/screen.js';

const REFRESHES = rounds(200);
/** How far the agent speaks ahead of its reader. */
const AHEAD = 8;
const WORDS = ['one ', 'zwei ', 'три ', '四 ', '🎉 ', 'a longer piece of text, ', 'é'];

/** An agent that speaks until its reader has refreshed often enough. Two speakers take turns in the middle of their messages. */
class Talk {
  said = 0;
  isEnough = false;
  /** Whether `messages` are all of them. */
  isComplete = false;
  /** The messages, in the order of the log. */
  readonly messages: string[] = [];
  #next: () => void = () => undefined;
  #read = 0;
  readonly #random = randomNumbers(seed);

  /** Lets the agent go on, since the reader has read. */
  noteRead(): void {
    this.#read = this.said;
    this.#next();
  }

  enough(): void {
    this.isEnough = true;
    this.#next();
  }

  readonly handler: RunHandler = () => this.#speak();

  async *#speak(): AsyncGenerator<EventInput, void, void> {
    const texts = new Map<string, string>();
    while (!this.isEnough) {
      const author = this.#random() < 0.7 ? 'one' : 'two';
      const word = WORDS[Math.floor(this.#random() * WORDS.length)] ?? '';
      const text = (texts.get(author) ?? '') + word;
      texts.set(author, text);
      yield { author, partial: true, content: { role: 'model', parts: [{ text: word }] } };
      this.said += 1;
      if (this.#random() < 0.05) {
        yield this.#whole(author, text);
        texts.delete(author);
      }
      while (this.said - this.#read >= AHEAD && !this.isEnough) {
        await new Promise<void>((resolve) => (this.#next = resolve));
      }
    }
    // At least one message follows, so that a reader who has read all others does not wait for nothing.
    texts.set('one', texts.get('one') ?? 'the end');
    const last = [...texts].map(([author, text]) => this.#whole(author, text));
    this.isComplete = true;
    yield* last;
  }

  #whole(author: string, text: string): EventInput {
    this.messages.push(`${author} ${text}`);
    return { author, content: { role: 'model', parts: [{ text }] } };
  }
}

interface Reader {
  load(): Promise<Parameters<Screen['load']>[0]>;
  watch(from: { afterSeq?: number; afterPosition?: string }): AsyncIterableIterator<WatchedEvent>;
}

/** Reads like a page that is refreshed at random moments, or whose connection breaks there. */
async function refreshing(talk: Talk, reader: Reader): Promise<Screen> {
  const random = randomNumbers(seed + 1);
  const screen = new Screen();
  let position: string | undefined;
  for (let count = 0; ; count++) {
    if (count === REFRESHES) talk.enough();
    const isLast = count >= REFRESHES;
    if (position === undefined || random() < 0.5) {
      screen.load(await reader.load());
      position = undefined;
      // Nothing follows for a watch when the agent waits and all it said is in the log.
      talk.noteRead();
    }
    const watch = reader.watch(position === undefined ? { afterSeq: screen.seq } : { afterPosition: position });
    const most = 1 + Math.floor(random() * 4);
    for (let read = 0; isLast ? !isOver(screen, talk) : read < most; read++) {
      const { value } = (await watch.next()) as IteratorYieldResult<WatchedEvent>;
      screen.apply(value);
      position = value.position;
      talk.noteRead();
    }
    await watch.return?.();
    if (isLast) return screen;
  }
}

function isOver({ stored }: Screen, { messages, isComplete }: Talk): boolean {
  return isComplete && stored.length === 1 + messages.length;
}

describe.each(storeOfEachKind)(`An answer that streams, on $name (SEED=${seed})`, ({ open }) => {
  let opened: OpenStorage;
  let app: AgentApp;

  beforeEach(async () => {
    opened = await open({});
    app = new AgentApp(opened.storage, { partials: { flushMs: 1 } });
    await app.sessions.createSession(KEY);
  });

  afterEach(async () => {
    await app.close();
    expect(app.errors).toEqual([]);
    await opened.destroy();
  });

  it(`is whole for a reader who refreshes at ${REFRESHES} random moments`, async () => {
    const talk = new Talk();
    const run = app.agents.run({ ...KEY, newMessage: 'hi' }, talk.handler);
    await until(async () => (await app.log()).length > 0);
    const screen = await refreshing(talk, {
      load: async () => (await app.sessions.getSession(KEY))?.events ?? [],
      watch: (from) => app.sessions.watch({ ...KEY, ...from, partials: true }),
    });
    await run.result;
    expect(screen.stored).toEqual(['user hi', ...talk.messages]);
    expect(screen.live.size).toBe(0);
    expect(talk.messages.length).toBeGreaterThan(3);
    expect(await savedPieces(opened.storage, KEY)).toEqual([]);
  });
});

/** An app that serves the sessions of another one, as a client reaches it. */
interface Served extends Reader {
  close(): Promise<void>;
}

const transports: Readonly<Record<string, (sessions: SessionService) => Promise<Served>>> = {
  'server-sent events': async (sessions) => {
    const server = await RestApp.start('Express', { services: { sessions } });
    const client = new SessionsClient({ url: server.url });
    return {
      load: async () => (await client.getSession(KEY))?.events ?? [],
      watch: (from) => client.watch({ ...KEY, ...from, partials: true }),
      close: () => server.close(),
    };
  },
  'a subscription of GraphQL': async (sessions) => {
    const server = await GraphqlApp.start({ services: { sessions } });
    const events = '{ session(appName: "shop", userId: "ann", sessionId: "s-1") { events { body } } }';
    return {
      load: async () => {
        const { session } = (await server.ask(events)).data as { session: { events: { body: LoggedEvent }[] } };
        return session.events.map(({ body }) => body);
      },
      watch: (from) => new LiveWatch({ url: server.webSocketUrl, variables: { ...KEY, ...from, partials: true } }),
      close: () => server.close(),
    };
  },
};

describe.each(Object.entries(transports))(`An answer that streams over %s (SEED=${seed})`, (_transport, serve) => {
  it(`is whole for a client that refreshes at ${REFRESHES} random moments`, async () => {
    const opened = await firstStore[0]?.open({});
    if (!opened) throw new Error('There is no store');
    const app = new AgentApp(opened.storage, { partials: { flushMs: 1 } });
    const served = await serve(app.sessions);
    try {
      await app.sessions.createSession(KEY);
      const talk = new Talk();
      const run = app.agents.run({ ...KEY, newMessage: 'hi' }, talk.handler);
      await until(async () => (await app.log()).length > 0);
      const screen = await refreshing(talk, served);
      await run.result;
      expect(screen.stored).toEqual(['user hi', ...talk.messages]);
      expect(screen.live.size).toBe(0);
    } finally {
      await app.close();
      await served.close();
      await opened.destroy();
    }
  });
});
