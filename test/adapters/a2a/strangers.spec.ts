import type { TaskPushNotificationConfig } from '@a2a-js/sdk';
import { ServerCallContext } from '@a2a-js/sdk/server';
import { SessionPushNotificationStore, SessionTaskStore } from '../../../src/adapters/a2a/index.js';
import { ComponentSession, InMemoryComponentStore } from '../../../src/components/index.js';
import { InMemorySessionService } from '../../../src/index.js';
import { callOf, listOf, taskOf } from './support/tasks.js';

const sessions = new InMemorySessionService();
afterAll(() => sessions.close());
let apps = 0;

function open(options: { readonly userId?: () => string } = {}) {
  const scope = { appName: `app${++apps}`, ...options };
  const components = new ComponentSession({ store: new InMemoryComponentStore({}) });
  return {
    tasks: new SessionTaskStore({ sessions, ...scope }),
    push: new SessionPushNotificationStore({ components, ...scope }),
  };
}

function config(url: string): TaskPushNotificationConfig {
  return { tenant: '', taskId: 't1', id: 'c1', url, token: 'secret', authentication: undefined };
}

describe('the stores of A2A', () => {
  it.each([
    ['nobody has signed in', callOf({ user: null })],
    ['a user is only called so', new ServerCallContext({ user: { isAuthenticated: false, userName: 'ann' } })],
    ['a user has no name', new ServerCallContext({ user: { isAuthenticated: true, userName: '' } })],
  ])('shares no tasks if %s', async (_why, call) => {
    const { tasks } = open();
    const refused = { name: 'RequestMalformedError', message: expect.stringContaining('Sign in first') };
    await expect(tasks.save(taskOf('t1'), call)).rejects.toMatchObject(refused);
    await expect(tasks.load('t1', call)).rejects.toMatchObject(refused);
    await expect(tasks.list(listOf(), call)).rejects.toMatchObject(refused);
    const everyone = open({ userId: () => 'public' });
    await everyone.tasks.save(taskOf('t1'), call);
    expect(await everyone.tasks.load('t1', callOf({ user: null }))).toBeDefined();
  });

  it.each([
    'http://x.test/hook',
    'https://127.0.0.1/hook',
    'https://localhost:8443/hook',
    'https://169.254.169.254/latest/meta-data',
    'https://192.168.1.1/',
    'https://[::1]/',
    'https://[fec0::1]/',
    'https://[100::1]/',
    'https://[2001:0:7f00:1::]/',
    'https://[::ffff:10.0.0.1]/',
    'https://2130706433/',
    'https://does-not-exist.invalid/',
    'file:///etc/passwd',
    'gopher://x.test',
    'no URL',
    '',
  ])('sends nothing to %s unless the app allows it', async (url) => {
    const { push } = open();
    await expect(push.save('t1', callOf(), config(url))).rejects.toMatchObject({ name: 'RequestMalformedError' });
    expect(await push.load('t1', callOf())).toEqual([]);
  });

  it('sends to public addresses', async () => {
    const { push } = open();
    for (const url of ['https://93.184.216.34/hook', 'https://[2606:2800:220:1::1]/hook'])
      await push.save('t1', callOf(), config(url));
  });

  it('keeps at most 20 configurations of a task, and none that is long', async () => {
    const { push } = open();
    const url = 'https://93.184.216.34/';
    const named = (id: string, fields: Partial<TaskPushNotificationConfig> = {}) => ({ ...config(url), id, ...fields });
    const longUrl = { url: url.padEnd(2_049, 'x') };
    for (const [fields, reason] of [
      [longUrl, 'A URL has at most 2048 characters.'],
      [{ token: 'x'.repeat(16_384) }, 'A configuration has at most 16384 characters.'],
    ] as const) {
      const refused = { name: 'RequestMalformedError', message: reason };
      await expect(push.save('t1', callOf(), named('long', fields))).rejects.toMatchObject(refused);
    }
    for (let number = 0; number < 20; number++) await push.save('t1', callOf(), named(`c${number}`));
    const refused = { name: 'RequestMalformedError', message: 'A task has at most 20 configurations.' };
    await expect(push.save('t1', callOf(), named('one more'))).rejects.toMatchObject(refused);
    const replaced = named('c7', { url: url.padEnd(2_048, 'x') });
    await push.save('t1', callOf(), replaced);
    expect(await push.load('t1', callOf())).toHaveLength(20);
    await push.delete('t1', callOf(), 'c3');
    await push.save('t1', callOf(), named('one more'));
    await push.save('t2', callOf(), named('of another task'));
  });
});
