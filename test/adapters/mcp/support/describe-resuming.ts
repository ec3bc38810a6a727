import { SessionEventStore } from '../../../../src/adapters/mcp/index.js';
import { SessionService } from '../../../../src/index.js';
import type { OpenStorage } from '../../../../src/testing/open-storage.js';
import { describeSuite } from '../../support/describe-suite.js';
import { type Fetch, Instance, type Pause, type Sdk, USER } from './instances.js';

const SUITE = "the SDK's client and server, cut and resumed";

/** Judges the store with a version of the SDK. */
export function describeResuming(peer: string, sdk: Sdk): void {
  describeSuite({ framework: 'MCP', peer, suite: SUITE }, ({ open }) => {
    let opened: OpenStorage;
    let sessions: SessionService;
    let closing: (() => Promise<unknown>)[] = [];

    beforeEach(async () => {
      opened = await open({});
      sessions = new SessionService({ storage: opened.storage });
    });
    afterEach(async () => {
      for (const close of closing.toReversed()) await close();
      closing = [];
      await sessions.finish();
      await opened.destroy();
    });

    /** Calls go to the first instance until it is cut, then to `next`. */
    async function connect(pause: Pause, isMoving: boolean) {
      const instances = [new Instance(sdk, sessions, pause), new Instance(sdk, sessions)];
      const urls: URL[] = [];
      for (const instance of instances) {
        urls.push(await instance.start());
        closing.push(() => instance.stop());
      }
      const [first] = instances;
      const [url, other] = urls;
      if (!first || !url || !other) throw new Error('There are two');
      let now = url;
      const resumedWith: string[] = [];
      const heard: unknown[] = [];
      const viaInstance: Fetch = (_to, init) => {
        const resumed = new Headers(init?.headers).get('last-event-id');
        if (resumed) resumedWith.push(resumed);
        return fetch(now, init);
      };
      const client = await sdk.connect(url, viaInstance, (said) => heard.push(said));
      closing.push(() => client.close());
      const cut = (): void => {
        if (isMoving) now = other;
        first.cut();
      };
      return { client, heard, cut, resumedWith, url };
    }

    it.each([
      ['the same', false],
      ['another', true],
    ])('resumes on %s instance what was said after the connection broke', async (_which, isMoving) => {
      const paused = gate();
      const { client, heard, cut, resumedWith } = await connect(paused.wait, isMoving);
      const answer = client.callTool('count', { name: 'a' });
      await paused.reached;
      await until(() => heard.length === 2);
      cut();
      await until(() => resumedWith.length > 0);
      paused.open();
      expect(await answer).toMatchObject({ content: [{ type: 'text', text: 'counted a' }] });
      expect(heard).toEqual(['a1', 'a2', 'a3', 'a4', 'a5']);
    });

    it('keeps streams apart, each in its order', async () => {
      const paused = gate(2);
      const { client, heard, cut } = await connect(paused.wait, true);
      const answers = ['a', 'b'].map((name) => client.callTool('count', { name }));
      await paused.reached;
      await until(() => heard.length === 4);
      cut();
      paused.open();
      expect(await Promise.all(answers)).toMatchObject(
        ['a', 'b'].map((name) => ({ content: [{ text: `counted ${name}` }] })),
      );
      for (const name of ['a', 'b']) {
        const own = heard.filter((said) => String(said).startsWith(name));
        expect(own).toEqual([1, 2, 3, 4, 5].map((number) => `${name}${number}`));
      }
    });

    it('refuses events of other clients and unknown ones', async () => {
      const paused = gate();
      const { client, url, resumedWith, cut, heard } = await connect(paused.wait, true);
      const answer = client.callTool('count', { name: 'a' });
      await until(() => heard.length === 2);
      cut();
      await until(() => resumedWith.length > 0);
      paused.open();
      await answer;
      expect(heard).toHaveLength(5);
      const [known = ''] = resumedWith;
      const statusOf = async (session: string | undefined, eventId: string): Promise<number> => {
        const headers = { accept: 'text/event-stream', 'mcp-session-id': session ?? '', 'last-event-id': eventId };
        const response = await fetch(url, { headers });
        await response.body?.cancel();
        return response.status;
      };
      const { sessionId } = client;
      expect(await statusOf(sessionId, known)).toBe(200);
      for (const eventId of [
        '0-1',
        'x',
        known.replace(/.$/, (end) => (end === '0' ? '1' : '0')),
        known.replace(/^0/, '1'),
      ]) {
        expect(await statusOf(sessionId, eventId)).toBe(400);
      }
      const stranger = new SessionEventStore({ sessions, ...USER, mcpSessionId: 'other' });
      await stranger.storeEvent('_GET_stream', { jsonrpc: '2.0', method: 'ping' });
      expect(await stranger.getStreamIdForEventId(known)).toBeUndefined();
      await expect(stranger.replayEventsAfter(known, { send: async () => undefined })).rejects.toMatchObject({
        code: 'INVALID_INPUT',
      });
    });
  });
}

/** Lets calls pause until it is opened. */
function gate(calls = 1) {
  let [open, reach]: (() => void)[] = [];
  let left = calls;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const wait = (): Promise<void> => {
    if (--left === 0) reach?.();
    return opened;
  };
  return { open: () => open?.(), reached, wait };
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 5));
}
