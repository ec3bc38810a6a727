import { Logger } from '@nestjs/common';
import { SessionsInspectorModule } from '../../src/inspector/index.js';
import { type Answer, type Framework, RestApp, frameworks } from '../rest/rest-app.js';

const ANN = '/apps/shop/users/ann/sessions';
const PAGE = 'https://example.com/inspector';
const LINK = `${PAGE}#app=shop&userId=ann&sessionId=a%2Fb`;

describe.each(frameworks)('Links to the inspector on %s', (framework: Framework) => {
  let app: RestApp;
  let logged: jest.SpyInstance;

  beforeEach(() => {
    logged = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
  });
  afterEach(async () => {
    logged.mockRestore();
    await app?.close();
  });

  const start = async (publicUrl?: string): Promise<void> => {
    const useFactory = () => ({ publicUrl });
    const imports = [SessionsInspectorModule.forRootAsync({ useFactory })];
    app = await RestApp.start(framework, { agents: true, imports });
    await app.request('POST', ANN, { sessionId: 'a/b' });
  };
  const ask = (path: string, body: object): Promise<Answer> => app.request('POST', `${ANN}/a%2Fb/${path}`, body);
  const log = (): string => logged.mock.calls.map(([message]) => String(message)).join('\n');

  it('are in problem bodies about a session, unless there is nothing to see', async () => {
    await start(PAGE);
    expect((await ask('rewind', { toSeq: 7 })).body).toMatchObject({ status: 400, inspector: LINK });
    const missing = await app.request('GET', `${ANN}/none`);
    expect([missing.status, Object.keys(missing.body)]).toEqual([404, expect.not.arrayContaining(['inspector'])]);
    expect((await app.request('GET', `${ANN}?limit=x`)).body).not.toHaveProperty('inspector');
  });

  it('are in the log of a run that failed', async () => {
    await start(PAGE);
    await ask('run', { newMessage: { parts: [{ text: 'fail once' }] } });
    expect(log()).toContain(`\n${LINK}`);
  });

  it('are in the log of a request that failed', async () => {
    await start(PAGE);
    jest.spyOn(app.sessions, 'rewindSession').mockRejectedValue(new Error('a fault'));
    expect((await ask('rewind', { toSeq: 1 })).body).toMatchObject({ status: 500, inspector: LINK });
    expect(log()).toContain(`\n${LINK}`);
  });

  it('are nowhere if the page does not know its address', async () => {
    await start();
    expect((await ask('rewind', { toSeq: 7 })).body).not.toHaveProperty('inspector');
    await ask('run', { newMessage: { parts: [{ text: 'fail once' }] } });
    expect(log()).not.toContain('sessionId=');
  });
});
