import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SessionStoreEntry, query } from '@anthropic-ai/claude-agent-sdk';
import { openTranscripts } from './support/transcripts.js';

const EXECUTABLE = join(__dirname, 'support/fake-claude.mjs');
const PROMPT = 'Answer as a pirate.';

type Documented = keyof { [Name in keyof SessionStoreEntry as string extends Name ? never : Name]: unknown };

/** The type check fails if the SDK documents another field of entries: it could be what a model was given. */
const DOCUMENTED: Record<Documented, true> = { type: true, uuid: true, timestamp: true };

/** The reasons why docs/explain.md says that no fact is written. */
describe('A store of transcripts', () => {
  const dir = mkdtempSync(join(tmpdir(), 'claude-'));
  afterAll(() => rmSync(dir, { recursive: true }));

  it('is given what the program says, and not what the SDK tells the program that asks the model', async () => {
    const { sessions, store } = openTranscripts();
    const append = jest.spyOn(store, 'append');
    const told = join(dir, 'told.json');
    const run = query({
      prompt: 'Hello',
      options: {
        sessionStore: store,
        systemPrompt: PROMPT,
        pathToClaudeCodeExecutable: EXECUTABLE,
        cwd: dir,
        env: { ...process.env, CLAUDE_CONFIG_DIR: join(dir, 'config'), TOLD: told },
      },
    });
    for await (const message of run) if (message.type === 'result') break;
    expect(readFileSync(told, 'utf8')).toContain(PROMPT);
    const entries = append.mock.calls.flatMap(([, given]) => given);
    expect(entries.map(({ type }) => type)).toEqual(['user', 'assistant']);
    expect(JSON.stringify(entries)).not.toContain(PROMPT);
    expect(Object.keys(DOCUMENTED)).toHaveLength(3);
    await sessions.close();
  });
});
