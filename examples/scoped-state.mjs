// Where state lives: in one session, with a user, with the app, or just in this invocation.
import { InMemorySessionService } from 'nestjs-agent-sessions';

const sessions = new InMemorySessionService();
const ann = { appName: 'shop', userId: 'ann' };

const first = await sessions.createSession({
  ...ann,
  sessionId: 'first',
  state: { step: 1, 'user:theme': 'dark', 'app:currency': 'EUR' },
});
await sessions.appendEvent({
  session: first,
  event: { author: 'agent', actions: { stateDelta: { step: 2, 'temp:draft': 'not kept' } } },
});
console.log('first session ', first.state);

// Another session of the same user sees what is hers and the app's, not the other session's step.
const second = await sessions.createSession({ ...ann, sessionId: 'second' });
console.log('second session', second.state);

// State is changed like an object, and saved as an event.
second.state.step = 'payment';
second.state['user:theme'] = 'light';
delete second.state['app:currency'];
const saved = await sessions.updateSession(second);
console.log('saved as      ', saved.author, saved.actions);

console.log('user state    ', await sessions.getUserState(ann));
console.log('app state     ', await sessions.getAppState({ appName: 'shop' }));
console.log('temp: is gone ', (await sessions.getSession({ ...ann, sessionId: 'first' })).state);

await sessions.close();
