// The four scopes of state: one session, a user, the app, and this invocation only.
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SessionService, SessionsModule } from 'nestjs-agent-sessions';

@Module({ imports: [SessionsModule.forRoot({ provider: 'memory' })] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
const sessions = app.get(SessionService);
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

// Another session of the same user sees the user's and the app's state, not the step of the first session.
const second = await sessions.createSession({ ...ann, sessionId: 'second' });
console.log('second session', second.state);

// Change state like an object, then save it as one event.
second.state['step'] = 'payment';
second.state['user:theme'] = 'light';
delete second.state['app:currency'];
const saved = await sessions.updateSession(second);
console.log('saved as      ', saved?.author, saved?.actions);

console.log('user state    ', await sessions.getUserState(ann));
console.log('app state     ', await sessions.getAppState({ appName: 'shop' }));
console.log('temp: is gone ', (await sessions.getSession({ ...ann, sessionId: 'first' }))?.state);

await app.close();
