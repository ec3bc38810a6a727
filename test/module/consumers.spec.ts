import { setImmediate } from 'node:timers/promises';
import { Controller, Inject, Injectable, Scope } from '@nestjs/common';
import { ConsumeSessionEvents, type ConsumedEvent, SessionService, SessionsModule } from '../../src/index.js';
import { until } from '../support/until.js';
import { startApp } from './support/apps.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 'one' };

@Injectable()
class Mail {
  readonly log: string[] = [];
  release: () => void = () => undefined;
  readonly #released = new Promise<void>((resolve) => (this.release = resolve));

  @ConsumeSessionEvents({ name: 'mail', apps: ['shop'], pollMs: 10 })
  async send({ event }: ConsumedEvent): Promise<void> {
    this.log.push(`began ${event.id}`);
    await this.#released;
    this.log.push(`ended ${event.id}`);
  }
}

it('a decorated method of a provider consumes events until the app closes, which waits for it', async () => {
  const app = await startApp([SessionsModule.forRoot({ provider: 'memory' })], { providers: [Mail] });
  const sessions = app.get(SessionService);
  const session = await sessions.createSession(KEY);
  const events = ['e1', 'e2'].map((id) => ({ id, author: 'user' }));
  await sessions.appendEvents({ session, events });
  const { log, release } = app.get(Mail);
  await until(() => log.length === 1);
  const closing = app.close();
  await setImmediate();
  release();
  await closing;
  expect(log).toEqual(['began e1', 'ended e1']);
});

@Injectable({ scope: Scope.REQUEST })
class OfRequest {
  @ConsumeSessionEvents({ name: 'of-request' })
  async send(): Promise<void> {}
}

@Injectable({ scope: Scope.REQUEST })
class Other {}

@Controller()
class BesideRequest {
  constructor(@Inject(Other) readonly other: Other) {}

  @ConsumeSessionEvents({ name: 'beside-request' })
  async send(): Promise<void> {}
}

@Injectable({ scope: Scope.TRANSIENT })
class OfEach {
  @ConsumeSessionEvents({ name: 'of-each' })
  async send(): Promise<void> {}
}

@Injectable()
class One {
  constructor(@Inject(OfEach) readonly own: OfEach) {}
}

it.each([
  ['of-request', 'request-scoped', { providers: [OfRequest] }],
  ['beside-request', 'request-scoped', { providers: [Other], controllers: [BesideRequest] }],
  ['of-each', 'transient', { providers: [OfEach, One] }],
])('a consumer of which the app has no instance stops the start: %s', async (name, scope, parts) => {
  const starting = startApp([SessionsModule.forRoot({ provider: 'memory' })], parts);
  await expect(starting).rejects.toThrow(`The consumer ${name} must not be ${scope}`);
});
