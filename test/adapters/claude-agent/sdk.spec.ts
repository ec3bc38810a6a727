import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  deleteSession,
  forkSession,
  getSessionInfo,
  getSessionMessages,
  getSubagentMessages,
  importSessionToStore,
  listSessions,
  listSubagents,
  query,
  renameSession,
} from '@anthropic-ai/claude-agent-sdk';
import { toMessages } from '../../../src/agents/index.js';
import { CHAT, KEY, USER, answer, openTranscripts, prompt, text } from './support/transcripts.js';

const EXECUTABLE = join(__dirname, 'support/fake-claude.mjs');

describe('The functions of the Claude Agent SDK', () => {
  let dir: string;
  let projectKey: string;

  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'claude-'));
    projectKey = dir.replaceAll(/[^a-zA-Z0-9]/g, '-');
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  it('run, mirror and resume a conversation', async () => {
    const { sessions, store } = openTranscripts();
    const ask = async (words: string, options: object = {}): Promise<{ said: unknown; sessionId: string }> => {
      const env = { ...process.env, CLAUDE_CONFIG_DIR: join(dir, 'config') };
      const run = query({
        prompt: words,
        options: { sessionStore: store, pathToClaudeCodeExecutable: EXECUTABLE, cwd: dir, env, ...options },
      });
      for await (const message of run) {
        if (message.type === 'system' && message.subtype === 'mirror_error') throw new Error(message.error);
        if (message.type === 'result' && message.subtype === 'success') {
          return { said: message.result, sessionId: message.session_id };
        }
      }
      throw new Error('There is no result');
    };
    const { said, sessionId } = await ask('Hello');
    expect(said).toBe('I know 0 entries');
    expect(await ask('Again', { resume: sessionId })).toEqual({ said: 'I know 2 entries', sessionId });
    expect(await ask('And again', { continue: true })).toEqual({ said: 'I know 4 entries', sessionId });

    const session = await sessions.getSession({ ...USER, sessionId });
    expect(toMessages(session?.events ?? [], { format: 'openai' })).toEqual([
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'I know 0 entries' },
      { role: 'user', content: 'Again' },
      { role: 'assistant', content: 'I know 2 entries' },
      { role: 'user', content: 'And again' },
      { role: 'assistant', content: 'I know 4 entries' },
    ]);
  });

  it('list, read, rename, fork and delete sessions', async () => {
    const { sessions, store } = openTranscripts();
    const options = { dir, sessionStore: store };
    const key = { projectKey, sessionId: CHAT };
    await store.append(key, [prompt('Hello'), answer([text('Hi')])]);
    await store.append({ ...key, subpath: 'subagents/agent-a1' }, [{ ...prompt('Search'), isSidechain: true }]);

    expect(await listSessions(options)).toEqual([expect.objectContaining({ sessionId: CHAT, summary: 'Hello' })]);
    expect((await getSessionMessages(CHAT, options)).map(({ type }) => type)).toEqual(['user', 'assistant']);
    expect(await listSubagents(CHAT, options)).toEqual(['a1']);
    expect(await getSubagentMessages(CHAT, 'a1', options)).toHaveLength(1);

    await renameSession(CHAT, 'Greetings', options);
    expect(await getSessionInfo(CHAT, options)).toMatchObject({ customTitle: 'Greetings' });
    expect((await sessions.getSession({ ...USER, sessionId: CHAT }))?.metadata.title).toBe('Greetings');

    const fork = await forkSession(CHAT, options);
    expect(await getSessionMessages(fork.sessionId, options)).toHaveLength(2);
    await deleteSession(CHAT, options);
    expect((await listSessions(options)).map(({ sessionId }) => sessionId)).toEqual([fork.sessionId]);
    expect(await listSubagents(CHAT, options)).toEqual([]);
  });

  it('list without a function that folds summaries, from the transcripts', async () => {
    const { store } = openTranscripts({ foldSessionSummary: undefined });
    await store.append({ projectKey, sessionId: CHAT }, [prompt('Hello'), answer([text('Hi')])]);
    expect(store.listSessionSummaries).toBeUndefined();
    expect(await listSessions({ dir, sessionStore: store })).toEqual([expect.objectContaining({ summary: 'Hello' })]);
  });

  it('import a session from disk, and import it again', async () => {
    const { store } = openTranscripts();
    const config = join(dir, 'imported');
    const folder = join(config, 'projects', projectKey);
    mkdirSync(folder, { recursive: true });
    const entries = Array.from({ length: 25 }, (_, index) => prompt(`${index}`));
    writeFileSync(join(folder, `${CHAT}.jsonl`), entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
    const before = process.env.CLAUDE_CONFIG_DIR;
    process.env.CLAUDE_CONFIG_DIR = config;
    try {
      for (const batchSize of [10, 4]) await importSessionToStore(CHAT, store, { dir, batchSize });
    } finally {
      if (before === undefined) delete process.env.CLAUDE_CONFIG_DIR;
      else process.env.CLAUDE_CONFIG_DIR = before;
    }
    expect(await store.load({ ...KEY, projectKey })).toEqual(entries);
  });
});
