import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Test } from '@nestjs/testing';
import { sessionsFromEnvironment } from '../../src/config/index.js';
import {
  type EncryptionOptions,
  InMemorySessionStorage,
  SessionService,
  SessionsModule,
  encryptedStorage,
} from '../../src/index.js';
import { VertexSessionStorage } from '../../src/vertex.js';
import { KEY_A, KEY_B } from './support.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const SECRET = KEY_A.split(':')[1] ?? '';

async function started(options: object): Promise<SessionService> {
  const module = await Test.createTestingModule({ imports: [SessionsModule.forRoot(options as never)] }).compile();
  await module.init();
  return module.get(SessionService);
}

describe('The settings of encryption', () => {
  it('encrypt what a module stores, in a store of this package and in one of the app', async () => {
    const storage = new InMemorySessionStorage();
    const sessions = await started({ storage, encryption: { keys: KEY_A } });
    await sessions.createSession({ ...KEY, state: { word: 'canary' } });
    expect(storage.snapshot().text).not.toContain('canary');
    expect((await sessions.getSession(KEY))?.state.get('word')).toBe('canary');
    const ours = await started({ provider: 'memory', encryption: { keys: KEY_A } });
    await ours.createSession({ ...KEY, state: { word: 'canary' } });
    expect((await ours.getSession(KEY))?.state.get('word')).toBe('canary');
  });

  it('come from variables, and a key is never shown', () => {
    const env = { SESSIONS_PROVIDER: 'memory', SESSIONS_ENCRYPTION_KEYS: `${KEY_A},${KEY_B}` };
    expect(sessionsFromEnvironment({ ...env, SESSIONS_ENCRYPTION_ALLOW_PLAIN: 'true' }).encryption).toEqual({
      keys: `${KEY_A},${KEY_B}`,
      allowPlain: true,
    });
    expect(sessionsFromEnvironment({ SESSIONS_PROVIDER: 'memory' }).encryption).toBeUndefined();
    for (const keys of [`${KEY_A}AAAA`, SECRET, `${KEY_A},b:short`]) {
      expect(() => sessionsFromEnvironment({ ...env, SESSIONS_ENCRYPTION_KEYS: keys })).toThrow(
        expect.objectContaining({
          code: 'CONFIGURATION_INVALID',
          problems: [expect.stringMatching(/^SESSIONS_ENCRYPTION_KEYS cannot be read \(its value is not shown\)/)],
          message: expect.not.stringContaining(SECRET) as unknown,
        }),
      );
    }
    expect(() =>
      sessionsFromEnvironment({ SESSIONS_PROVIDER: 'memory', SESSIONS_ENCRYPTION_METADATA: 'sealed' }),
    ).toThrow('encryption has no keys; set SESSIONS_ENCRYPTION_KEYS or SESSIONS_ENCRYPTION_KEY_FILE.');
  });

  it('may name a file of keys', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'agent-sessions-'));
    const keyFile = join(folder, 'keys');
    writeFileSync(keyFile, `# of November\n${KEY_B}\n${KEY_A}\n`);
    const storage = new InMemorySessionStorage();
    await new SessionService({ storage: encryptedStorage(storage, { keyFile }) }).createSession({
      ...KEY,
      state: { a: 1 },
    });
    const session = await new SessionService({ storage: encryptedStorage(storage, { keys: KEY_B }) }).getSession(KEY);
    expect(session?.state.get('a')).toBe(1);
    writeFileSync(keyFile, SECRET);
    expect(() => encryptedStorage(storage, { keyFile })).toThrow(/has no keys; it must have one in each line/);
    expect(() => encryptedStorage(storage, { keyFile: join(folder, 'none') })).toThrow(/cannot be read: ENOENT/);
    rmSync(folder, { recursive: true });
  });

  it.each<[string, object, string]>([
    ['no key', {}, 'encryption has no keys'],
    ['two sources', { keys: KEY_A, keyFile: 'keys' }, 'are keys of the same data; leave one'],
    [
      'two keys of one id',
      { keys: `${KEY_A},${KEY_B.replace('b:', 'a:')}` },
      'Two keys of encryption have the same id',
    ],
    ['a misspelled option', { keys: KEY_A, allowplain: true }, 'did you mean encryption.allowPlain'],
    ['a wrapper that cannot unwrap', { wrapper: { wrap: () => '', current: () => '' } }, 'an object with wrap()'],
  ])('that have %s stop the start', async (_name, encryption, problem) => {
    await expect(started({ provider: 'memory', encryption })).rejects.toThrow(problem);
    expect(() => encryptedStorage(new InMemorySessionStorage(), encryption as EncryptionOptions)).toThrow(problem);
  });

  it('whose keys cannot be used stop the start', async () => {
    const wrapper = { current: () => 'k', wrap: () => 'wrapped', unwrap: () => Buffer.from('short') };
    const start = started({ provider: 'memory', retryAttempts: 0, encryption: { wrapper } });
    await expect(start).rejects.toThrow('its unwrap() did not return');
  });

  it('are refused for a store that has to read what it stores', async () => {
    const vertex = { project: 'p', location: 'l', reasoningEngine: '1' };
    await expect(started({ provider: 'vertex', vertex, encryption: { keys: KEY_A } })).rejects.toThrow(
      'encryption is not possible with the provider vertex',
    );
    const storage = new VertexSessionStorage({ ...vertex, accessToken: () => 'token' } as never);
    expect(() => encryptedStorage(storage, { keys: KEY_A })).toThrow('encryption is not possible with this store');
    await storage.close();
  });
});
