import { Logger } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  InMemorySessionStorage,
  type Session,
  SessionService,
  type SessionServiceOptions,
  SessionsModule,
  type UnsavedStateError,
} from '../../src/index.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 'cart' };
const EVENT = { author: 'agent' };

async function open(options: Partial<SessionServiceOptions> = {}): Promise<[SessionService, Session]> {
  const sessions = new SessionService({ storage: new InMemorySessionStorage(), ...options });
  return [sessions, await sessions.createSession({ ...KEY, state: { step: 1, gone: 1, cart: { items: [] } } })];
}

function refuse(error: UnsavedStateError): never {
  throw error;
}

describe('an append through a session with unsaved state changes', () => {
  it('logs a warning that names the changed keys and updateSession', async () => {
    const warn = jest.spyOn(console, 'warn').mockImplementation();
    try {
      const [sessions, session] = await open();
      session.state.step = 2;
      delete session.state.gone;
      session.state.get<{ items: string[] }>('cart')?.items.push('a');
      await sessions.appendEvent({ session, event: EVENT });
      expect(warn.mock.calls).toEqual([
        [
          'The state of session "cart" has changes that an append does not save ("step", "cart", "gone"). ' +
            'Call updateSession(session), or put them into actions.stateDelta of the event.',
        ],
      ]);
      await sessions.appendEvent({ session, event: EVENT });
      expect(warn).toHaveBeenCalledTimes(1);
      session.state.more = 1;
      await sessions.appendEvent({ session, event: EVENT });
      expect(warn).toHaveBeenCalledTimes(2);
    } finally {
      warn.mockRestore();
    }
  });

  it('is refused before anything is written if onUnsavedState throws', async () => {
    const [sessions, session] = await open({ onUnsavedState: refuse });
    session.state.step = 2;
    const refused = sessions.appendEvent({ session, event: EVENT });
    await expect(refused).rejects.toMatchObject({ code: 'UNSAVED_STATE', sessionId: 'cart', keys: ['step'] });
    expect((await sessions.listEvents(KEY)).events).toEqual([]);
    await sessions.updateSession(session);
    await sessions.appendEvent({ session, event: EVENT });
    expect((await sessions.getSession(KEY))?.state.step).toBe(2);
  });

  it('gives no warning for temp: keys, for saved or pending changes, or if another object has the changes', async () => {
    const onUnsavedState = jest.fn();
    const [sessions, session] = await open({ onUnsavedState });
    session.state['temp:k'] = 1;
    expect(session.state.cart).toEqual({ items: [] });
    await sessions.appendEvent({ session, event: EVENT });
    session.state.step = 2;
    const save = sessions.updateSession(session);
    await sessions.appendEvent({ session, event: EVENT });
    await save;
    await sessions.appendEvent({ session, event: EVENT });
    session.state.step = 3;
    await sessions.appendEvent({ session: { ...KEY, id: KEY.sessionId }, event: EVENT });
    delete session.state.gone;
    const event = { ...EVENT, actions: { stateDelta: { step: 3 }, stateRemovals: ['gone'] } };
    await sessions.appendEvent({ session, event });
    expect(onUnsavedState).not.toHaveBeenCalled();
    await sessions.appendEvent({ session, event: EVENT });
    expect(onUnsavedState).toHaveBeenCalledTimes(1);
  });

  it('gives a warning again after a save has failed', async () => {
    const onUnsavedState = jest.fn();
    const [sessions, session] = await open({ onUnsavedState });
    session.state.step = NaN;
    await expect(sessions.updateSession(session)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await sessions.appendEvent({ session, event: EVENT });
    expect(onUnsavedState).toHaveBeenCalledTimes(1);
  });

  it('logs the warning with the Nest logger', async () => {
    const module = await Test.createTestingModule({
      imports: [SessionsModule.forRoot({ provider: 'memory' })],
    }).compile();
    await module.init();
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    try {
      const sessions = module.get(SessionService);
      const session = await sessions.createSession(KEY);
      session.state.step = 2;
      await sessions.appendEvent({ session, event: EVENT });
      expect(warn.mock.calls).toEqual([[expect.stringContaining('an append does not save ("step")')]]);
    } finally {
      warn.mockRestore();
      await module.close();
    }
  });
});
